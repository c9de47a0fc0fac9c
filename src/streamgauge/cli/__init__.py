"""The command `streamgauge`: one file per verb, found by walking this folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

PROGRAM = "streamgauge"


def build_app() -> typer.Typer:
    """The command with every verb of this folder."""
    from streamgauge.cli.program import program
    from streamgauge.model.registry import discover

    return program(discover(sys.modules[__name__], "VERB"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code; a mistake is one line on stderr."""
    from streamgauge.cli.ending import ended_orderly

    given = list(sys.argv[1:] if arguments is None else arguments)
    return ended_orderly(lambda: _invoke(given))


def _invoke(arguments: list[str]) -> int:
    import typer.main

    command = typer.main.get_command(build_app())
    code = command.main(args=arguments, prog_name=PROGRAM, standalone_mode=False, obj=arguments)
    return code if isinstance(code, int) else 0
