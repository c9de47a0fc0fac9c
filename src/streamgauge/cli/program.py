"""The top of the command: its help, its version, and its verbs in the order in which a person meets them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from streamgauge import __version__
from streamgauge.cli.verb import Verb

_ORDER = (
    "run",
    "search",
    "characterize",
    "list",
    "engines",
    "report",
    "compare",
    "history",
    "serve",
    "calibrate",
    "whatif",
    "publish",
    "doctor",
)
_SETTINGS = {"help_option_names": ["--help", "-h"]}
_EXIT_CODES = (
    "Exit codes: 0 all well; 2 a mistake in the command or something missing; 3 a wrong answer; 4 a trial that is not "
    "valid; 5 an engine or the log failed; 99 a threshold or change limit breached; 130 interrupted."
)


def program(verbs: Mapping[str, Verb]) -> typer.Typer:
    """An app with the given verbs."""
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_SETTINGS,
        epilog=_EXIT_CODES,
        help="Drive streaming applications with controlled load, measure them, and check their answers.",
    )
    app.callback()(_top)
    known = [name for name in _ORDER if name in verbs]
    for name in [*known, *sorted(set(verbs) - set(known))]:
        verb = verbs[name]
        app.command(name, epilog=verb.epilog, no_args_is_help=False)(verb.function)
    return app


def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=lambda v: _show_version(v))
    ] = False,
) -> None:
    """Take the options that come before a verb."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"streamgauge {__version__}")
        raise typer.Exit
