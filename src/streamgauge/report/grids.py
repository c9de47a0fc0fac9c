"""A table that the console and the page show alike: headings and rows of words, some of them good or bad."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from streamgauge.report.markup import Column, Markup, element, joined, table, yes_or_no
from streamgauge.report.sections import engine_name
from streamgauge.report.tables import PLAIN_WIDTH, plain_table
from streamgauge.report.words import mark

SPARE = "spare"
"""In the kind of a column: a narrow console does without it."""


@dataclass(frozen=True)
class Said:
    """A cell that is good, bad, or neither."""

    good: bool | None
    words: str = ""


Cell = str | Said


@dataclass(frozen=True)
class Grid:
    """A table with its heading and a sentence on how to read it."""

    heading: str
    about: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


def console_grid(grid: Grid, width: int = PLAIN_WIDTH) -> Table:
    """The grid as the console shows it; where it is too wide, without the columns of a kind that says SPARE."""
    whole = _drawn(grid, range(len(grid.columns)))
    room = Console(width=10 * PLAIN_WIDTH)
    if Measurement.get(room, room.options, whole).maximum <= width:
        return whole
    return _drawn(grid, [at for at, column in enumerate(grid.columns) if SPARE not in column.kind])


def _drawn(grid: Grid, chosen: Sequence[int]) -> Table:
    found = plain_table(grid.heading)
    for at in chosen:
        column = grid.columns[at]
        right = "number" in column.kind
        heading = column.heading.replace(" ", "\n") if right else column.heading
        found.add_column(heading, justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in grid.rows:
        found.add_row(*(_on_console(row[at]) for at in chosen))
    return found


def _on_console(cell: Cell) -> Text:
    if isinstance(cell, str):
        return Text(cell)
    colour = "" if cell.good is None else "green" if cell.good else "red"
    return Text(f"{mark(cell.good)} {cell.words}".strip(), colour)


def page_grid(grid: Grid, colours: Mapping[str, str]) -> Markup:
    """The grid as the page shows it, engines in their colours."""
    rows = [("", [_on_page(cell, colours) for cell in row]) for row in grid.rows]
    return joined([element("p", grid.about, class_="soft"), table(grid.columns, rows, cards=True)])


def _on_page(cell: Cell, colours: Mapping[str, str]) -> Any:
    if isinstance(cell, Said):
        return yes_or_no(cell.good, cell.words) if cell.good is not None else cell.words
    return engine_name(cell, colours) if cell in colours else cell
