"""`streamgauge serve`: the page over the stored runs."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from streamgauge.cli.options import RunsFolder
from streamgauge.cli.verb import Verb


def serve(
    out: RunsFolder = Path("runs"),
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; another than loopback is for reading only.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port to listen at (default: any that is free).")
    ] = 0,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    allow_control: Annotated[
        bool, typer.Option("--allow-control", help="Let the token change things at another address than loopback too.")
    ] = False,
) -> None:
    """Serve the page over the stored runs until Ctrl-C; its address, with the token, is the first line."""
    from streamgauge.dashboard.guard import Control
    from streamgauge.dashboard.serving import bind, end, server

    bound = bind(host, port)
    control = Control.at(host, bound.port, allow_control=allow_control)
    address = bound.address_with_token(control)
    print(address, flush=True)
    if control.refused:
        print(f"reading only: {control.refused}", file=sys.stderr)
    if open_page:
        _open(address)
    # The server ends what is under way when it is interrupted, and then hands the interrupt on: an end like any other.
    found = server(bound, out, control)
    with contextlib.closing(bound.socket), contextlib.suppress(KeyboardInterrupt):
        try:
            found.run(sockets=[bound.socket])
        finally:
            # What the page started ends with it.
            end(found)


def _open(address: str) -> None:
    import webbrowser

    if not webbrowser.open(address):
        print("no browser could be started: open the address above", file=sys.stderr)


VERB = Verb(
    name="serve",
    function=serve,
    examples=("streamgauge serve --open", "streamgauge serve --port 8321 --out nightly/runs"),
)
