"""Published values as a table: marked as theirs, and as taken on other machines."""

from __future__ import annotations

from streamgauge.measure.facets import get_facet
from streamgauge.measure.published import PublishedValue, get_published
from streamgauge.report.markup import Column, Markup, element, joined, table
from streamgauge.report.points import facet_words
from streamgauge.report.words import NOTHING, figure_words

_FOLDED_FROM = 8
"""More values than this are folded behind a line."""


def published_table(name: str) -> Markup:
    """The group of that id with what it is, whose, on which machines, and where each value stands."""
    group = get_published(name)
    columns = [Column("theirs", "title"), Column("at"), Column("value", "wider"), Column("where", "short")]
    rows = [("", [v.who, _where(v), _value(v), v.source]) for v in group.values]
    words = f"Published by others, on other machines: {group.about}. {group.paper}; {group.machines}."
    inside = table(columns, rows, cards=True)
    folded = {} if len(rows) > _FOLDED_FROM else {"open": "open"}
    return element("details", joined([element("summary", words), inside]), class_="theirs", **folded)


def _where(value: PublishedValue) -> str:
    return (
        ", ".join(
            f"{get_facet(k).label} {facet_words(v if isinstance(v, str) else float(v))}" for k, v in value.at.items()
        )
        or NOTHING
    )


def _value(value: PublishedValue) -> str:
    if value.value is None or value.figure is None:
        return value.text
    words = figure_words(value.figure)
    return f"{value.text} ({words[0].lower() + words[1:]})"
