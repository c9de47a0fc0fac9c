"""`streamgauge list`: what there is to run, and how it is spelled."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

import typer

from streamgauge.cli.options import AsJson
from streamgauge.cli.verb import Verb
from streamgauge.model.errors import unknown

Row = dict[str, Any]
Say = Callable[[Row], str]

_WIDE_ENOUGH = 150
_WORDS = ("name", "title", "papers")
_SUITES_WIDTH = {"title": 110, "papers": 130, "paper time": 95}
"""Columns of suites that only a console of that width has."""


def list_(
    kind: Annotated[
        str, typer.Argument(metavar="applications|engines|suites|streams|tables|loads|faults", help="What to list.")
    ],
    as_json: AsJson = False,
) -> None:
    """List applications, engines, suites, streams, stored tables, loads or faults with everything that can be set."""
    from streamgauge.cli.stdout import reserved_stdout

    if kind not in LISTINGS:
        raise unknown("thing to list", kind, list(LISTINGS))
    with reserved_stdout():
        rows = LISTINGS[kind]()
    if as_json:
        print(json.dumps({"schema": 1, kind: rows}))
        return
    if kind == "suites":
        _print_suites(rows)
        return
    _print_table(kind, rows)


def applications() -> list[Row]:
    """Every application with its papers, inputs, stages, parameters and the engines that run it."""
    from streamgauge.applications import all_applications
    from streamgauge.lab.application_facts import application_facts

    return [application_facts(application) for application in all_applications().values()]


def engines() -> list[Row]:
    """Every engine with its guarantee, its settings and what it cannot run."""
    from streamgauge.applications import all_applications
    from streamgauge.engines import all_engines

    rows = []
    for name, engine in all_engines().items():
        gaps = {n: engine.gap(a) for n, a in all_applications().items()}
        rows.append(
            {
                "name": name,
                "about": engine.about,
                "guarantee": {"values": engine.guarantee.values, "outputs": engine.guarantee.outputs},
                "settings": {k: {"default": s.default, "about": s.about} for k, s in engine.settings.items()},
                "gaps": {n: {"kind": gap.kind, "reason": gap.reason} for n, gap in gaps.items() if gap is not None},
            }
        )
    return rows


def suites() -> list[Row]:
    """Every suite with its papers' rows, its trials, and the time that they are expected to take at each scale."""
    from streamgauge.lab.suite_facts import suite_facts
    from streamgauge.lab.suite_file import all_suites

    return [suite_facts(suite) for suite in all_suites().values()]


def streams() -> list[Row]:
    """Every stream with its fields."""
    from streamgauge.streams import all_streams

    return [
        {
            "name": name,
            "about": stream.about,
            "fields": [{"name": f.name, "type": f.type.value, "about": f.about} for f in stream.fields],
            "wire": type(stream.wire).__name__.lower(),
            "recorded": stream.recorded is not None,
            "key": stream.key,
            "papers": list(stream.papers),
        }
        for name, stream in all_streams().items()
    ]


def tables() -> list[Row]:
    """Every stored table with its fields and the applications that read it."""
    from streamgauge.applications import all_applications
    from streamgauge.streams.tables import all_tables

    readers: dict[str, list[str]] = {}
    for application in all_applications().values():
        for table in application.tables.values():
            readers.setdefault(table.name, []).append(application.name)
    return [
        {
            "name": name,
            "about": table.about,
            "fields": [{"name": f.name, "type": f.type.value, "about": f.about} for f in table.fields],
            "recorded": table.recorded is not None,
            "applications": readers.get(name, []),
        }
        for name, table in all_tables().items()
    ]


def loads() -> list[Row]:
    """Every kind of load with its spelling."""
    from streamgauge.load import load_kinds

    return [
        {"name": name, "spelling": kind.spelling, "about": kind.about, "papers": list(kind.papers)}
        for name, kind in load_kinds().items()
    ]


def faults() -> list[Row]:
    """Every verb of a fault with its targets and spelling, and the random one."""
    from streamgauge.faults import fault_verbs
    from streamgauge.faults.grammar import RANDOM_SPELLING, SPELLING
    from streamgauge.model.fault import RANDOM

    verbs = fault_verbs().values()
    drawn = sorted({target for verb in verbs for target in verb.at_random or {}})
    return [
        *(
            {
                "name": verb.name,
                "spelling": _spelling(SPELLING, verb),
                "targets": list(verb.targets),
                "about": verb.about,
                "papers": list(verb.papers),
            }
            for verb in verbs
        ),
        {
            "name": RANDOM,
            "spelling": RANDOM_SPELLING,
            "targets": drawn,
            "about": "verb, target and time away are drawn from the seed; nothing is broken for good",
            "papers": ["MA2"],
        },
    ]


def _spelling(spelling: str, verb: Any) -> str:
    shown = spelling if verb.bring_back is not None else spelling.replace(" [for TIME]", "")
    return shown.replace("VERB", verb.name)


LISTINGS: dict[str, Callable[[], list[Row]]] = {
    "applications": applications,
    "engines": engines,
    "suites": suites,
    "streams": streams,
    "tables": tables,
    "loads": loads,
    "faults": faults,
}


def _print_table(kind: str, rows: list[Row]) -> None:
    from streamgauge.report.tables import console

    out = console()
    shown = {heading: say for heading, say in _COLUMNS[kind].items() if any(say(row) for row in rows)}
    if out.width >= _WIDE_ENOUGH or len(shown) <= 3:
        out.print(_table(kind, rows, shown))
        return
    for row in rows:
        out.print(_block(row, shown))
        out.print()


def _table(kind: str, rows: list[Row], shown: dict[str, Say]) -> Any:
    from rich.text import Text

    from streamgauge.report.tables import plain_table

    table = plain_table()
    for heading in shown:
        table.add_column(heading, no_wrap=heading in ("name", "spelling"), overflow="fold")
    for row in rows:
        table.add_row(*(Text(say(row)) for say in shown.values()), end_section=kind != "loads")
    return table


def _block(row: Row, shown: dict[str, Say]) -> Any:
    """One thing with its facts below each other, for a console that is too narrow for a table."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    facts = Table.grid(padding=(0, 2))
    name, *others = shown.items()
    for heading, say in others:
        if say(row):
            facts.add_row(Text(f"  {heading}", "dim"), Text(say(row)))
    return Group(Text(name[1](row), "bold"), facts)


def _lines(texts: Any) -> str:
    return "\n".join(texts)


def _settable(settings: dict[str, Row]) -> str:
    return _lines(f"{name}={each['default']}  {each['about']}" for name, each in settings.items())


def _engines(row: Row) -> str:
    """Every engine with ✓, and the variants that it chooses; or with ✗ and what it lacks, without the long reason."""
    able = []
    for name in row["engines"]:
        chosen = [f"{stage}: {variant}" for stage, variant in row["variants"][name].items() if variant != "default"]
        able.append(f"✓ {name} ({', '.join(chosen)})" if chosen else f"✓ {name}")
    return _lines([*able, *(f"✗ {name}: {gap['reason'].partition(':')[0]}" for name, gap in row["gaps"].items())])


def _stages(row: Row) -> str:
    """A chain as it runs; of a graph, every stage with what it reads. A ‖ is a topic between two queries."""
    before = [None, *row["stages"]]
    flows = [[read for read in each["reads"] if read not in row["tables"]] for each in row["graph"]]
    if all(reads == [name] for reads, name in zip(flows[1:], before[1:], strict=False)):
        return "".join(
            name + ("" if name == row["stages"][-1] else " ‖ " if name in row["cuts"] else " → ")
            for name in row["stages"]
        )
    return _lines(f"{each['name']} ← {', '.join(reads)}" for each, reads in zip(row["graph"], flows, strict=True))


def _inputs(row: Row) -> str:
    both = {**row["inputs"], **row["tables"]}
    return _lines(name if name == source else f"{name} ← {source}" for name, source in both.items())


def _trials(row: Row, scale: str) -> str:
    found = row["scales"][scale]
    return f"{found['trials']} ({found['gaps']} gaps)" if found["gaps"] else str(found["trials"])


def _budget(row: Row, scale: str) -> str:
    """The time that it should take."""
    from streamgauge.model.units import duration

    return duration(row["scales"][scale]["expected_s"])


def _print_suites(rows: list[Row]) -> None:
    """A line for each suite; a narrow console does without the papers' rows, then without the titles."""
    from rich.text import Text

    from streamgauge.report.tables import console, plain_table

    out = console()
    shown = {name: say for name, say in _COLUMNS["suites"].items() if out.width >= _SUITES_WIDTH.get(name, 0)}
    table = plain_table()
    for heading in shown:
        table.add_column(heading, justify="left" if heading in _WORDS else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(say(row)) for say in shown.values()))
    out.print(table)
    out.print(
        "Times are for two cores; gaps are trials that cannot be run here. streamgauge run NAME --dry-run shows all."
    )


def _gaps(row: Row) -> str:
    return _lines(f"{name} ({gap['kind']}): {gap['reason']}" for name, gap in row["gaps"].items())


_COLUMNS: dict[str, dict[str, Say]] = {
    "applications": {
        "name": lambda r: r["name"],
        "question": lambda r: r["question"],
        "papers": lambda r: " ".join(r["papers"]),
        "inputs ← streams, tables": _inputs,
        "stages": _stages,
        "parameters (--param)": lambda r: _settable(r["parameters"]),
        "engines": _engines,
    },
    "engines": {
        "name": lambda r: r["name"],
        "about": lambda r: r["about"],
        "guarantee": lambda r: f"values {r['guarantee']['values']}\noutputs {r['guarantee']['outputs']}",
        "settings (--set)": lambda r: _settable(r["settings"]),
        "cannot run": _gaps,
    },
    "suites": {
        "name": lambda r: r["name"],
        "title": lambda r: r["title"],
        "papers": lambda r: " ".join(r["papers"]),
        "trials": lambda r: _trials(r, "laptop"),
        "time": lambda r: _budget(r, "laptop"),
        "quick trials": lambda r: _trials(r, "quick"),
        "quick time": lambda r: _budget(r, "quick"),
        "paper time": lambda r: _budget(r, "paper"),
    },
    "streams": {
        "name": lambda r: r["name"],
        "about": lambda r: r["about"],
        "fields": lambda r: _lines(f"{f['name']} {f['type']}" for f in r["fields"]),
        "key": lambda r: r["key"] or "",
        "real data (--data)": lambda r: "yes" if r["recorded"] else "no",
        "papers": lambda r: " ".join(r["papers"]),
    },
    "tables": {
        "name": lambda r: r["name"],
        "about": lambda r: r["about"],
        "fields": lambda r: _lines(f"{f['name']} {f['type']}" for f in r["fields"]),
        "real data (--data)": lambda r: "yes" if r["recorded"] else "no",
        "read by": lambda r: _lines(r["applications"]),
    },
    "loads": {
        "name": lambda r: r["name"],
        "spelling": lambda r: r["spelling"],
        "about": lambda r: r["about"],
        "papers": lambda r: " ".join(r["papers"]),
    },
    "faults": {
        "name": lambda r: r["name"],
        "spelling": lambda r: "\n".join(r["spelling"].split(", or ")),
        "targets": lambda r: ", ".join(r["targets"]),
        "about": lambda r: r["about"],
        "papers": lambda r: " ".join(r["papers"]),
    },
}

VERB = Verb(
    name="list",
    function=list_,
    examples=(
        "streamgauge list applications",
        "streamgauge list engines",
        "streamgauge list suites",
        "streamgauge list faults",
        "streamgauge list loads --json",
    ),
)
