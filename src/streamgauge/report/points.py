"""The trials of a suite as points of its figures: where each lies, its median over repeats, or why it has none."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from streamgauge.lab.suite_figures import SuiteFigure
from streamgauge.measure.facets import Value, get_facet
from streamgauge.measure.figures import Figure
from streamgauge.measure.repeats import Group, groups
from streamgauge.measure.validity import Record, correct, measured, why_not_measured
from streamgauge.report.words import in_order, preloaded

_RATES = ("per_s", "mb_per_s")


@dataclass(frozen=True)
class Measured:
    """The median of the ranked repeats, with the 95 % t-interval of their mean where there are several."""

    median: float
    low: float | None
    high: float | None
    repeats: int


@dataclass(frozen=True)
class Point:
    """The repeats of one trial, as one matrix of its suite asked for them."""

    group: Group
    matrix: str

    def facet(self, name: str) -> Value:
        """Where it lies."""
        return self.matrix if name == "matrix" else get_facet(name).of(self.group.first)

    def words(self, names: Iterable[str]) -> str:
        """Where it lies, in words."""
        return " · ".join(facet_words(self.facet(name)) for name in names)

    def measured(self, figure: Figure) -> Measured | None:
        """The figure over the ranked repeats; None where no repeat has it."""
        values = [value for value in map(figure.value, self.group.ranked) if value is not None]
        if not values:
            return None
        interval = self.group.interval(figure.value)
        half = interval.half if interval else None
        if interval is None or half is None:
            return Measured(statistics.median(values), None, None, len(values))
        return Measured(statistics.median(values), interval.mean - half, interval.mean + half, len(values))

    def held(self) -> bool:
        """Whether most repeats ran to their end, were valid and right, and kept every threshold."""
        kept = sum(not _broken(record) for record in self.group.ranked)
        return 2 * kept > len(self.group.records)

    def why_not(self, figure: Figure | None = None) -> tuple[str, str]:
        """Why it shows nothing: in a word, and in full."""
        first = self.group.first
        if first.get("gap"):
            return "gap", str(first["gap"]["reason"])
        if not measured(first):
            return "failed", why_not_measured(first) or "it has no figures"
        if not self.group.ranked:
            wrong = [r for r in self.group.records if correct(r) is False]
            if wrong:
                return "wrong", "the answer is wrong"
            return "not valid", "; ".join(dict.fromkeys(w for r in self.group.records for w in _invalid(r)))
        if figure is None:
            broken = in_order(words for record in self.group.records for words in [*_broken(record), *_against(record)])
            return "broken", "; ".join(broken) or "it held"
        return "none", figure.why_missing(first)


def _broken(record: Record) -> list[str]:
    """The thresholds that it did not keep, with what was seen."""
    return [t["text"].partition(" ")[2] for t in record.get("thresholds") or [] if not t["ok"]]


def _against(record: Record) -> Sequence[str]:
    if not measured(record):
        return [why_not_measured(record) or "it has no figures"]
    return [*(record.get("invalid_reasons") or []), *(["the answer is wrong"] if correct(record) is False else [])]


def _invalid(record: Record) -> Sequence[str]:
    return record.get("invalid_reasons") or ["it is not valid"]


def points_of(records: Sequence[Record], figure: SuiteFigure) -> list[Point]:
    """The points of a figure: a trial that several of its matrices ask for is a point of each, or of the baseline."""
    found = []
    for group in groups(records):
        asked = in_order(name for record in group.records for name in record.get("matrices") or [""])
        chosen = [name for name in asked if name in figure.matrices] if figure.matrices else asked[:1]
        if figure.against in chosen:
            chosen = [figure.against]
        found += [Point(group, name) for name in chosen]
    return found


def told_by(points: Sequence[Point], figure: Figure) -> list[Point]:
    """Where there are both, throughput is told by trials that drain a full log, and latency by those at a pace.

    The throughput of a paced trial is that of its load; the latency of a drain is the wait behind a log that was full.
    """
    drained = [point for point in points if preloaded(point.group.first)]
    paced = [point for point in points if not preloaded(point.group.first)]
    if not drained or not paced:
        return list(points)
    if figure.unit in _RATES:
        return drained
    return paced if figure.path[0].endswith("latency_ms") else list(points)


def facet_words(value: Value) -> str:
    """A facet's value as a page shows it."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if value >= 1_000_000 and value % 100_000 == 0:
        return f"{value / 1_000_000:g} M"
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def ordered(values: Iterable[Value]) -> list[Value]:
    """Values without repeats: numbers by size, all else in the order of the suite, numbers last."""
    found = in_order(values)
    texts = [value for value in found if not isinstance(value, float)]
    return [*texts, *sorted(value for value in found if isinstance(value, float))]
