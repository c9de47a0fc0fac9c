"""Small series from stored counts: one point per second or per percentile, whatever the number of events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.measure.durability import SLOT_S, availability

Floats = NDArray[np.float64]

CURVE_POINTS = 160
"""Points of a percentile curve: more are not seen on a screen."""

TIMELINE_POINTS = 600
"""Points of a line over time: a longer run is drawn in wider slots."""


@dataclass(frozen=True)
class Line:
    """One line of a chart; not-a-number breaks it."""

    x: Floats
    y: Floats

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not np.isfinite(self.y).any()


@dataclass(frozen=True)
class Mark:
    """An instant on the axis of time, or a span of it, that every chart shows: a fault."""

    at_s: float
    until_s: float | None
    label: str
    engine: str


def latency_over_time(latency: Any, quantile: float, kind: str = "event") -> Line:
    """The exact quantile of every slot of time, only where the slot's sample carries it."""
    seconds, values, counts = _counts_of(latency, kind)
    if seconds.size == 0:
        return Line(np.array([]), np.array([]))
    width = slot_width_s(seconds)
    slots = seconds // width
    ordered = np.lexsort((values, slots))
    slots, values, counts = slots[ordered], values[ordered], counts[ordered]
    wanted, starts = np.unique(slots, return_index=True)
    running = np.cumsum(counts)
    before = np.where(starts > 0, running[starts - 1], 0)
    totals = np.add.reduceat(counts, starts)
    # The rank of a quantile is ceil(q·n), counted from 1; the rounding keeps 0.99 · 100 from becoming 100.
    ranks = before + np.maximum(1, np.ceil(np.round(quantile * totals, 6))).astype(np.int64)
    found = values[np.searchsorted(running, ranks)]
    # Any sample has a median; a higher quantile needs a sample beyond it.
    carried = (totals * (1 - quantile) >= 1 - 1e-9) | (quantile <= 0.5)
    return _on_every_slot(wanted, np.where(carried, found, np.nan), width)


def percentile_curve(latency: Any, kind: str = "event") -> Line:
    """Latency at 1/(1−q), so that a logarithmic axis gives every further nine the same room."""
    _, values, counts = _counts_of(latency, kind)
    if values.size == 0:
        return Line(np.array([]), np.array([]))
    ordered = np.argsort(values)
    values, running = values[ordered], np.cumsum(counts[ordered])
    total = int(running[-1])
    inverse = np.geomspace(1, total, CURVE_POINTS) if total > 1 else np.array([1.0])
    ranks = np.clip(np.ceil(np.round((1 - 1 / inverse) * total, 6)), 1, total)
    return Line(inverse, values[np.searchsorted(running, ranks)])


def events_over_time(throughput: Any, column: str) -> Line:
    """Events per second in every slot of time."""
    seconds = _column(throughput, "second").astype(np.int64)
    if seconds.size == 0:
        return Line(np.array([]), np.array([]))
    width = slot_width_s(seconds)
    wanted, where = np.unique(seconds // width, return_inverse=True)
    sums = np.bincount(where, weights=_column(throughput, column))
    return _on_every_slot(wanted, sums / width, width, absent=0.0)


def availability_over_time(throughput: Any) -> Line:
    """1 for every slot in which the service was available, 0 for the others, while events came."""
    came, answered = _column(throughput, "in_events"), _column(throughput, "consumed_events")
    seconds = int(np.flatnonzero(came)[-1]) + 1 if came.any() else 0
    there = availability(came, answered, seconds).astype(np.float64)
    # The end of the last slot, so that it is as wide as the others.
    ends = np.append(there, there[-1:])
    return Line(np.arange(ends.size, dtype=np.float64) * SLOT_S, ends)


def resource_over_time(resources: Any, component: str, column: str, start_ms: float) -> Line:
    """A sampled figure of one component against seconds since `start_ms`."""
    mine = _rows_where(resources, "component", component)
    at = (_column(mine, "at_ms") - start_ms) / 1000
    values = _column(mine, column)
    step = max(1, -(-values.size // TIMELINE_POINTS))
    edges = np.arange(0, values.size, step)
    if step > 1:
        values = np.add.reduceat(values, edges) / np.diff(np.append(edges, values.size))
    return Line(np.round(at[edges], 2), values)


def slot_width_s(seconds: NDArray[Any]) -> int:
    """One second, or as many as keep a long run within the points of a line."""
    return int(max(1, -(-int(seconds.max() - seconds.min() + 1) // TIMELINE_POINTS)))


def _counts_of(latency: Any, kind: str) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
    mine = _rows_where(latency, "kind", kind)
    counts = _column(mine, "count").astype(np.int64)
    return _column(mine, "second").astype(np.int64), _column(mine, "latency_ms"), counts


def _rows_where(table: Any, column: str, value: str) -> Any:
    return table.filter(pc.equal(table.column(column), value))


def _column(table: Any, name: str) -> Floats:
    return np.asarray(table.column(name).to_pandas(), dtype=np.float64)


def _on_every_slot(slots: NDArray[np.int64], values: Floats, width: int, absent: float = np.nan) -> Line:
    every = np.arange(slots.min(), slots.max() + 1)
    filled = np.full(every.size, absent)
    filled[slots - slots.min()] = values
    return Line((every * width).astype(np.float64), filled)
