"""A characterisation as tables, on a console and on the page: operators, instances, and the three families."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from rich.table import Table
from rich.text import Text

from streamgauge.model.units import size
from streamgauge.report.markup import Column, Markup, bullets, element, joined, table
from streamgauge.report.words import NOTHING, count

Document = Mapping[str, Any]
Operator = Mapping[str, Any]
Rows = list[list[str]]


def microseconds(value: float | None) -> str:
    """A time per event."""
    if value is None:
        return NOTHING
    return f"{value:.2f} µs" if value < 10 else f"{value:,.1f} µs"


def ratio(value: float | None) -> str:
    """A selectivity."""
    return NOTHING if value is None else f"{value:.3g}"


def state_words(state: Mapping[str, Any] | None) -> str:
    """The state that an operator held, or n/a where it holds none."""
    return "n/a" if state is None else size(state["bytes"])


_OPERATORS: dict[str, Callable[[Operator], str]] = {
    "operator": lambda o: o["name"],
    "type": lambda o: ", ".join(o["operator"]),
    "communication": lambda o: ", ".join(o["pattern"]),
    "rows in": lambda o: count(o["rows_in"]),
    "selectivity": lambda o: ratio(o["selectivity"]),
    "record in": lambda o: size(o["bytes_in"]),
    "record out": lambda o: size(o["bytes_out"]),
    "time p50": lambda o: microseconds(o["time_us"]["p50"]),
    "time p99": lambda o: microseconds(o["time_us"]["p99"]),
    "state": lambda o: state_words(o["state"]),
    "score": lambda o: microseconds(o["score_us"]),
    "instances": lambda o: str(o["instances"]),
}
_WORDS = frozenset({"operator", "type", "communication", "published operator"})


def operator_rows(document: Document) -> tuple[list[str], Rows]:
    """Headings and cells of the table of operators."""
    return list(_OPERATORS), [[say(each) for say in _OPERATORS.values()] for each in document["operators"]]


def instance_rows(document: Document) -> tuple[list[str], Rows]:
    """The computed instances beside the published ones, in line where a part has as many operators here as there."""
    headings = ["operator", "instances", "published operator", "published instances"]
    ours = {
        role: [(o["name"], str(o["instances"])) for o in document["operators"] if _part(o) == role] for role in _PARTS
    }
    published = document["published"] or {"instances": {}}
    theirs: dict[str, list[tuple[str, str]]] = {role: [] for role in _PARTS}
    for name, number in published["instances"].items():
        role = "source" if name.startswith("source") else "sink" if name.startswith("sink") else "stage"
        theirs[role].append((name, str(number)))
    pairs = [pair for role in _PARTS for pair in _beside(ours[role], theirs[role])]
    return headings, [[*here, *there] for here, there in pairs]


Named = tuple[str, str]


def _beside(ours: list[Named], theirs: list[Named]) -> list[tuple[Named, Named]]:
    """One line for two that stand for each other; otherwise nothing is said to be alike."""
    if len(ours) == len(theirs):
        return list(zip(ours, theirs, strict=True))
    return [*((each, ("", "")) for each in ours), *((("", ""), each) for each in theirs)]


_PARTS = ("source", "stage", "sink")


def _part(operator: Operator) -> str:
    """Where it stands: the two sides of a topic between queries are in the middle."""
    inner = (operator["role"] == "source" and operator["reads"]) or operator["name"].startswith("to-")
    return "stage" if inner else str(operator["role"])


def configuration_rows(document: Document) -> tuple[list[str], Rows]:
    """The three families: a row per operator, a column per family and multiplier."""
    found = document["configurations"]
    headings = ["operator", *(f"{c['family']} ×{c['multiplier']}" for c in found)]
    names = [each["name"] for each in document["operators"]]
    return headings, [[name, *(str(c["instances"][name]) for c in found)] for name in names]


def answer(document: Document) -> str:
    """The characterisation in one sentence."""
    dearest = max(document["operators"], key=lambda o: o["score_us"])
    whole = sum(o["score_us"] for o in document["operators"])
    share = f" and {dearest['score_us'] / whole:.0%} of the pipeline's score" if whole else ""
    return (
        f"{document['application']}: '{dearest['name']}' costs most, {microseconds(dearest['time_us']['p99'])} per "
        f"event at p99{share}, so it gets {dearest['instances']} of "
        f"{sum(o['instances'] for o in document['operators'])} instances."
    )


def conditions(document: Document) -> str:
    """Over what it was measured."""
    return (
        f"{count(document['events'])} events in {document['batches']} batches on {document['engine']}, "
        f"seed {document['seed']}, {document['partitions']} partitions; an empty batch takes "
        f"{document['overhead_ms']:.0f} ms, which no operator is charged with"
    )


def print_characterisation(document: Document, stream: TextIO | None = None) -> None:
    """The tables on a console, the remarks, and the one-sentence answer."""
    from streamgauge.report.tables import console

    out = console(stream)
    out.print(Text(conditions(document), "dim"))
    out.print(_console_table("Operators", *operator_rows(document)))
    title = "Instances by Equation 3.4"
    if document["published"]:
        title += f", beside {document['published']['application']} in Table 3.4 of the thesis"
        out.print(_console_table(title, *instance_rows(document)))
    out.print(_console_table("Configurations: instances per operator", *configuration_rows(document)))
    for line in document["remarks"]:
        out.print(Text.assemble(("! ", "yellow"), line))
    out.print(Text(answer(document), "bold"))


def characterisation_section(document: Document) -> Markup:
    """The same as a part of the page."""
    parts = [
        element("p", conditions(document), class_="soft"),
        element("p", _HOW, class_="soft"),
        _page_table(*operator_rows(document)),
    ]
    if document["published"]:
        parts += [
            element("h3", f"Instances beside {document['published']['application']} as published"),
            element("p", document["published"]["source"], class_="soft"),
            _page_table(*instance_rows(document)),
        ]
    parts += [element("h3", "Configurations: instances per operator"), _page_table(*configuration_rows(document))]
    if document["remarks"]:
        parts.append(bullets(document["remarks"]))
    return joined(parts)


_HOW = (
    "Time per event: the pipeline is cut after each operator, its rows are dropped, and the time of the cut before is "
    "taken off, batch by batch, over the rows that came in. Score: time at p99 times the selectivity of what sends the "
    "rows. Instances: ten shared out by score, each share rounded up."
)


def _console_table(title: str, headings: Sequence[str], rows: Rows) -> Table:
    from streamgauge.report.tables import plain_table

    made = plain_table(title)
    for heading in headings:
        made.add_column(heading, justify="left" if heading in _WORDS else "right", overflow="fold")
    for cells in rows:
        made.add_row(*map(Text, cells))
    return made


def _page_table(headings: Sequence[str], rows: Rows) -> Markup:
    columns = [Column(h, ("title" if i == 0 else "") if h in _WORDS else "number") for i, h in enumerate(headings)]
    return table(columns, [("", cells) for cells in rows], cards=True)
