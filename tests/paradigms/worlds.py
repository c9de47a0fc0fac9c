"""Loads and simulated segments that the tests of this room share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamgauge.paradigms.equations import SegmentFigures
from streamgauge.paradigms.simulated_segment import SegmentWorld

WORD_COUNT = SegmentFigures(40_000, 150_000, 0.35, 0.05, 0.005)
"""About what the first sights of word count were: 60,000/s for 10 s left real time 3.4 s behind."""


def world(figures: SegmentFigures = WORD_COUNT, name: str = "count", **changes: float) -> SegmentWorld:
    """One warm segment."""
    return SegmentWorld(name, figures, **changes)  # type: ignore[arg-type]


def steps(*parts: tuple[float, float]) -> tuple[Callable[[float], float], float]:
    """A load of (seconds, rate) one after another: events due up to a time, and how long it lasts."""
    edges = np.cumsum([0.0, *(lasting_s for lasting_s, _ in parts)])
    events = np.cumsum([0.0, *(lasting_s * rate for lasting_s, rate in parts)])
    return lambda at_s: float(np.interp(at_s, edges, events)), float(edges[-1])
