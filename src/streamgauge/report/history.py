"""One figure over the stored runs, in the order of time, as series of trials that are alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from rich.table import Table
from rich.text import Text

from streamgauge.measure.comparability import Side, deciding_facts, sides
from streamgauge.measure.figures import Figure
from streamgauge.measure.repeats import Interval, t_interval
from streamgauge.measure.validity import correct, measured
from streamgauge.model.errors import StoreError, unknown
from streamgauge.report.export import Sheet
from streamgauge.report.tables import plain_table
from streamgauge.report.words import NOTHING, in_order, in_unit
from streamgauge.store import RunStore, StoredRun

_BAR_WIDTH = 16
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_NUMBERS = pa.schema(
    [
        *((name, pa.string()) for name in ("figure", "unit", "application", "engine", "load", "series")),
        *((name, pa.string()) for name in ("run", "created_at", "version")),
        *((name, pa.int32()) for name in ("repeats", "repeats_stored")),
        *((name, pa.float64()) for name in ("median", "mean", "half", "low", "high")),
        ("note", pa.string()),
    ]
)


@dataclass(frozen=True)
class Point:
    """The figure in one run: over the repeats that are valid and right."""

    side: Side
    values: tuple[float, ...]
    note: str

    @property
    def interval(self) -> Interval | None:
        """Mean and interval over the repeats."""
        return t_interval(self.values) if self.values else None

    @property
    def median(self) -> float | None:
        """The figure of the middle repeat."""
        return float(np.median(self.values)) if self.values else None

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        found = self.interval
        half = found.half if found else None
        return {
            "run": self.side.run.get("run"),
            "created_at": self.side.run.get("created_at"),
            "version": self.side.version or None,
            "repeats": len(self.values),
            "repeats_stored": len(self.side.group.records),
            "median": self.median,
            "mean": found.mean if found else None,
            "half": half,
            "low": None if found is None or half is None else found.mean - half,
            "high": None if found is None or half is None else found.mean + half,
            "note": self.note,
        }


@dataclass(frozen=True)
class Series:
    """The figure of trials that differ only in their run and in the versions of what ran."""

    figure: Figure
    title: str
    points: tuple[Point, ...]

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        first = self.points[0].side
        named = {"application": first.application, "engine": first.engine, "load": first.group.first["load"]}
        return {**named, "series": self.title, "points": [point.as_dict() for point in self.points]}


def history(
    store: RunStore, figure: Figure, application: str | None = None, engine: str | None = None
) -> tuple[list[Series], list[str]]:
    """Every series of the figure, oldest point first, and in words what could not be read."""
    runs, problems = _readable(store)
    everything = [side for run in runs for side in sides(run.run, run.trials)]
    for kind, name, known in (
        ("application", application, in_order(side.application for side in everything)),
        ("engine", engine, in_order(side.engine for side in everything)),
    ):
        if name is not None and name not in known:
            raise unknown(f"{kind} in the runs of {store.root}", name, known)
    chosen = [s for s in everything if application in (None, s.application) and engine in (None, s.engine)]
    gathered: dict[str, list[Side]] = {}
    for side in chosen:
        gathered.setdefault(str(sorted(deciding_facts(side).items())), []).append(side)
    titles = _titles([found[0] for found in gathered.values()])
    return [
        Series(figure, title, tuple(_point(figure, side) for side in found))
        for title, found in zip(titles, gathered.values(), strict=True)
    ], problems


def _readable(store: RunStore) -> tuple[list[StoredRun], list[str]]:
    found: list[StoredRun] = []
    problems: list[str] = []
    for listed in store.list():
        try:
            if listed.problem:
                raise StoreError(listed.problem)
            run = StoredRun.open(listed.folder)
        except StoreError as error:
            problems.append(str(error))
            continue
        found.append(run)
        problems += [f"{listed.id}: {problem}" for problem in run.problems]
    return sorted(found, key=lambda run: (str(run.run.get("created_at")), run.id)), problems


def _titles(firsts: Sequence[Side]) -> list[str]:
    """Application, engine and load, and what else tells a series from the others."""
    facts = [deciding_facts(side) for side in firsts]
    names = in_order(name for each in facts for name in each if name not in ("application", "engine", "load"))
    telling = [name for name in names if len({each.get(name) for each in facts}) > 1]
    return [" · ".join([*_subject(each), *_told(each, telling)]) for each in facts]


def _subject(facts: Mapping[str, str]) -> list[str]:
    return [facts[name] for name in ("application", "engine", "load") if name in facts]


def _told(facts: Mapping[str, str], telling: Sequence[str]) -> list[str]:
    return [f"{name} {facts[name]}" for name in telling if name in facts]


def _point(figure: Figure, side: Side) -> Point:
    ranked = side.group.ranked
    values = tuple(value for value in map(figure.value, ranked) if value is not None)
    if values:
        return Point(side, values, "")
    if ranked:
        return Point(side, (), figure.why_missing(ranked[0]))
    records = side.group.records
    if any(correct(record) is False for record in records):
        return Point(side, (), "wrong answer")
    return Point(side, (), "not valid" if any(map(measured, records)) else "not measured")


def history_table(series: Series) -> Table:
    """One row per run: the middle repeat, the mean with its interval, and a bar that begins at zero."""
    table = plain_table(series.title)
    table.add_column("run", no_wrap=True)
    versions = any(point.side.version for point in series.points)
    if versions:
        table.add_column("version", no_wrap=True)
    for heading in ("repeats", "median", "mean ± 95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column(series.figure.name, no_wrap=True)
    top = max((point.median or 0.0 for point in series.points), default=0.0)
    for point in series.points:
        bar = Text(_bar(point.median, top), "cyan") if point.values else Text(point.note, "yellow")
        version = [point.side.version] if versions else []
        table.add_row(*map(Text, [str(point.side.run.get("run")), *version, *_cells(series.figure, point)]), bar)
    return table


def _cells(figure: Figure, point: Point) -> list[str]:
    ran = f"{len(point.values)} of {len(point.side.group.records)}"
    return [ran, in_unit(point.median, figure.unit), _spread(figure, point.interval)]


def _spread(figure: Figure, interval: Interval | None) -> str:
    if interval is None:
        return NOTHING
    mean = in_unit(interval.mean, figure.unit)
    return mean if interval.half is None else f"{mean} ± {in_unit(interval.half, figure.unit)}"


def _bar(value: float | None, top: float) -> str:
    eighths = round((value or 0.0) / top * _BAR_WIDTH * 8) if top > 0 else 0
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + _EIGHTHS[rest]).rstrip() or "▏"


def history_sheet(figure: Figure, found: Sequence[Series]) -> Sheet:
    """Every point of every series as rows that can be exported."""
    numbers, rows = [], []
    for series in found:
        named = {name: value for name, value in series.as_dict().items() if name != "points"}
        for point in series.points:
            shown = {"figure": figure.name, "unit": figure.unit, **named, **point.as_dict()}
            numbers.append({name: shown[name] for name in _NUMBERS.names})
            note = [point.note or NOTHING]
            rows.append([series.title, str(shown["run"]), point.side.version or NOTHING, *_cells(figure, point), *note])
    headings = ["series", "run", "version", "repeats", "median", "mean ± 95 % interval", "note"]
    return Sheet(pa.Table.from_pylist(numbers, schema=_NUMBERS), headings, rows)
