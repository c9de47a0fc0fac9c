"""A server that this process owns: bound before it starts, so that its address is known and a taken port is told."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from streamgauge.dashboard.guard import Control
from streamgauge.dashboard.server import application
from streamgauge.model.errors import UserError

_ENDING_S = 2
"""How long answers that are under way may still take when the server is ended."""


@dataclass(frozen=True)
class Bound:
    """A socket that listens, and where it is reached."""

    socket: socket.socket
    host: str
    port: int

    @property
    def address(self) -> str:
        """The address of the page as a browser takes it."""
        name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}/"

    def address_with_token(self, control: Control) -> str:
        """The address with the token in its fragment, which a browser never sends; without where it is of no use."""
        return self.address if control.refused else f"{self.address}#token={control.token}"


def bind(host: str, port: int) -> Bound:
    """Listen at that address; port 0 is any that is free."""
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise UserError(f"'{host}' is no address of this machine ({error.strerror})", "Give one with --host") from None
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise _explained(error, host, port) from None
    return Bound(listening, host, int(listening.getsockname()[1]))


def _explained(error: OSError, host: str, port: int) -> UserError:
    if error.errno == errno.EADDRINUSE:
        return UserError(f"port {port} of {host} is in use", "Give another with --port, or none for one that is free")
    if error.errno == errno.EACCES:
        return UserError(f"port {port} of {host} may not be used by you", "Give one above 1023 with --port")
    return UserError(f"{host} cannot be served at ({error.strerror or error})", "Give another address with --host")


def server(bound: Bound, store_root: Path, control: Control) -> uvicorn.Server:
    """The server of the page over those runs; `serve(sockets=[bound.socket])` of it runs until it is told to end."""
    settings = uvicorn.Config(
        application(store_root, control),
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_ENDING_S,
    )
    return uvicorn.Server(settings)


def end(found: uvicorn.Server) -> None:
    """End what the page of a server has started, and wait for it."""
    app: Any = found.config.app
    app.state.commands.close()
