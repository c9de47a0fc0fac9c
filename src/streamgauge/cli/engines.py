"""`streamgauge engines`: add, list and remove the environments of engines that need one of their own."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.cli.options import AsJson
from streamgauge.cli.verb import Verb
from streamgauge.model.errors import UserError, unknown

if TYPE_CHECKING:
    from streamgauge.provision.engine_environment import EngineEnvironment

ACTIONS = ("add", "list", "remove")


def engines(
    action: Annotated[str, typer.Argument(metavar="add|list|remove", help="What to do.")],
    name: Annotated[str | None, typer.Argument(metavar="ENGINE", help="The engine, for add and remove.")] = None,
    as_json: AsJson = False,
) -> None:
    """Add an engine that lives in an environment of its own, list such engines, or remove one."""
    if action not in ACTIONS:
        raise unknown("action", action, list(ACTIONS))
    if action == "list":
        _list(as_json)
        return
    environment = _environment(name, action)
    if action == "remove":
        print(f"removed {environment.engine}" if environment.remove() else f"{environment.engine} was not installed")
        return
    _add(environment)


def _environments() -> dict[str, EngineEnvironment]:
    from streamgauge.engines import all_engines

    found = {name: engine.environment for name, engine in all_engines().items()}
    return {name: environment for name, environment in found.items() if environment is not None}


def _environment(name: str | None, action: str) -> EngineEnvironment:
    known = _environments()
    if name is None:
        raise UserError(f"no engine to {action} was named", f"Known: {', '.join(known)}")
    if name not in known:
        from streamgauge.engines import get_engine

        get_engine(name)
        raise UserError(f"{name} needs no environment of its own", f"Known: {', '.join(known)}")
    return known[name]


def _add(environment: EngineEnvironment) -> None:
    from rich.console import Console

    out = Console(stderr=True)
    if environment.problem() is None:
        print(f"{environment.engine} {environment.version()} is installed in {environment.folder}")
        return
    with out.status("") as shown:

        def note(words: str) -> None:
            if out.is_terminal:
                shown.update(words)
            else:
                print(words, file=sys.stderr, flush=True)

        environment.add(note)
    print(f"{environment.engine} {environment.version()} is installed in {environment.folder}")


def _rows() -> list[dict[str, Any]]:
    rows = []
    for name, environment in _environments().items():
        found, problem = environment.installed() or {}, environment.problem()
        rows.append(
            {
                "name": name,
                "installed": problem is None,
                "version": found.get("version", environment.version()),
                "python": found.get("python"),
                "folder": str(environment.folder),
                "way_out": f"{problem}: streamgauge engines add {name}" if problem else "",
            }
        )
    return rows


def _list(as_json: bool) -> None:
    rows = _rows()
    if as_json:
        print(json.dumps({"schema": 1, "engines": rows}))
        return
    from rich.text import Text

    from streamgauge.report.tables import console, plain_table

    table = plain_table()
    for heading in ("engine", "version", "python", "state"):
        table.add_column(heading)
    for row in rows:
        state = "installed" if row["installed"] else row["way_out"]
        table.add_row(Text(row["name"]), Text(row["version"]), Text(row["python"] or ""), Text(state))
    out = console()
    out.print(table)
    out.print("The other engines run in this program's own environment: streamgauge list engines shows all.")


VERB = Verb(
    name="engines",
    function=engines,
    examples=("streamgauge engines add flink", "streamgauge engines list", "streamgauge engines remove flink"),
)
