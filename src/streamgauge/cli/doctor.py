"""`streamgauge doctor`: whether this machine has what a run needs, and what to do where it has not."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from streamgauge.cli.verb import Verb
from streamgauge.model.errors import EXIT_OK, EXIT_USER

NOT_NEEDED = frozenset({"leftovers"})
"""Points that are worth saying and keep no run from starting."""


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print nothing but JSON on stdout.")] = False) -> None:
    """Check what a run needs: Java, jars, memory, disk, ports. Nothing is fetched or changed."""
    from streamgauge.cli.stdout import reserved_stdout

    with reserved_stdout():
        from streamgauge.provision.doctor import check_all

        checks = check_all()
    missing = [c for c in checks if not c.ok and c.name not in NOT_NEEDED]
    if as_json:
        shown = [{"name": c.name, "ok": c.ok, "detail": c.detail, "way_out": "" if c.ok else c.way_out} for c in checks]
        print(json.dumps({"schema": 1, "ok": not missing, "checks": shown}))
    else:
        _print_table(checks, len(missing))
    raise typer.Exit(EXIT_USER if missing else EXIT_OK)


def _print_table(checks: list, missing: int) -> None:  # type: ignore[type-arg]
    from rich.text import Text

    from streamgauge.report.tables import console, plain_table
    from streamgauge.report.words import NO, YES

    table = plain_table()
    for heading in ("", "what", "found", "what to do"):
        table.add_column(heading)
    for check in checks:
        sign = (
            Text(YES, "green") if check.ok else (Text("!", "yellow") if check.name in NOT_NEEDED else Text(NO, "red"))
        )
        table.add_row(sign, Text(check.name), Text(check.detail), Text("" if check.ok else check.way_out))
    out = console()
    out.print(table)
    out.print("ready to run" if not missing else f"{missing} thing{'' if missing == 1 else 's'} to put right first")


VERB = Verb(name="doctor", function=doctor, examples=("streamgauge doctor", "streamgauge doctor --json"))
