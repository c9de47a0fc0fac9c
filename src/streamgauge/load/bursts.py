"""bursts: a steady base rate, and every period a number of extra events within a short time (OS7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from streamgauge.load.spelling import duration_text, parts_of, positive_duration_s, positive_rate_per_s, rate_text
from streamgauge.model.errors import UserError
from streamgauge.model.load import Load, LoadKind
from streamgauge.model.units import parse_count, parse_duration_s

DEFAULT_WIDTH_S = parse_duration_s("175ms")


@dataclass(frozen=True)
class BurstsLoad:
    """A base rate that never stops, with a burst on top of it at every multiple of the period."""

    base_rate_per_s: float
    burst_events: int
    period_s: float
    width_s: float = DEFAULT_WIDTH_S
    job_starts_at_s: float | None = 0.0

    @property
    def spelling(self) -> str:
        """The text that parses back to this load."""
        width = "" if self.width_s == DEFAULT_WIDTH_S else f":{duration_text(self.width_s)}"
        return f"bursts:{rate_text(self.base_rate_per_s)}:{self.burst_events}:{duration_text(self.period_s)}{width}"

    @property
    def _peak_rate_per_s(self) -> float:
        return self.base_rate_per_s + self.burst_events / self.width_s

    def rate_per_s(self, elapsed_s: float) -> float:
        """The base rate, or the peak within a burst; the first burst begins one period after the start."""
        bursting = elapsed_s >= self.period_s and elapsed_s % self.period_s < self.width_s
        return self._peak_rate_per_s if bursting else self.base_rate_per_s

    def events_by(self, elapsed_s: float) -> float:
        """The base events and those of every burst that has begun."""
        elapsed_s = max(elapsed_s, 0.0)
        period, into_period_s = divmod(elapsed_s, self.period_s)
        bursts = period - 1 + min(into_period_s / self.width_s, 1.0) if period >= 1 else 0.0
        return self.base_rate_per_s * elapsed_s + self.burst_events * bursts

    def due_s(self, index: Any) -> Any:
        """The moment at which each event is due, found within its period: all but the first are alike."""
        index = np.asarray(index, dtype=np.float64)
        before_bursts = self.base_rate_per_s * self.period_s
        per_period = before_bursts + self.burst_events
        in_burst = self.base_rate_per_s * self.width_s + self.burst_events
        period, into_period = np.divmod(np.maximum(index - before_bursts, 0.0), per_period)
        into_period_s = (
            np.minimum(into_period, in_burst) / self._peak_rate_per_s
            + np.maximum(into_period - in_burst, 0.0) / self.base_rate_per_s
        )
        bursting_s = (period + 1) * self.period_s + np.minimum(into_period_s, self.period_s)
        return np.where(index < before_bursts, index / self.base_rate_per_s, bursting_s)


def _parse(text: str) -> Load:
    base_rate, events, period, *width = parts_of(text, 3, 4)
    load = BurstsLoad(
        positive_rate_per_s(base_rate),
        parse_count(events),
        positive_duration_s(period),
        positive_duration_s(width[0]) if width else DEFAULT_WIDTH_S,
    )
    if load.burst_events < 1:
        raise UserError("a burst needs at least one event")
    if load.width_s > load.period_s:
        raise UserError(f"a burst of {duration_text(load.width_s)} is longer than its period")
    return load


LOAD = LoadKind(
    "bursts",
    "bursts:400/s:38000:10s or bursts:400/s:38000:10s:175ms",
    "a base rate, and so many extra events in every period, within 175 ms unless a width is given",
    _parse,
    ("OS7",),
)
