"""burst: one burst at start-up, published before the job starts, then a steady rate (OS6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from streamgauge.load.spelling import duration_text, parts_of, positive_duration_s, positive_rate_per_s, rate_text
from streamgauge.model.load import Load, LoadKind


@dataclass(frozen=True)
class BurstLoad:
    """A high rate until the job starts, a steady one from then on."""

    burst_rate_per_s: float
    burst_s: float
    steady_rate_per_s: float

    @property
    def spelling(self) -> str:
        """The text that parses back to this load."""
        burst = f"{rate_text(self.burst_rate_per_s)}:{duration_text(self.burst_s)}"
        return f"burst:{burst}:{rate_text(self.steady_rate_per_s)}"

    @property
    def job_starts_at_s(self) -> float | None:
        """The end of the burst."""
        return self.burst_s

    def rate_per_s(self, elapsed_s: float) -> float:
        """The burst's rate, then the steady one."""
        return self.burst_rate_per_s if elapsed_s < self.burst_s else self.steady_rate_per_s

    def events_by(self, elapsed_s: float) -> float:
        """The events of the burst so far, and the steady ones after it."""
        in_burst_s = min(max(elapsed_s, 0.0), self.burst_s)
        after_s = max(elapsed_s - self.burst_s, 0.0)
        return self.burst_rate_per_s * in_burst_s + self.steady_rate_per_s * after_s

    def due_s(self, index: Any) -> Any:
        """The moment at which each event is due."""
        index = np.asarray(index, dtype=np.float64)
        burst_events = self.burst_rate_per_s * self.burst_s
        in_burst = np.minimum(index, burst_events) / self.burst_rate_per_s
        return in_burst + np.maximum(index - burst_events, 0.0) / self.steady_rate_per_s


def _parse(text: str) -> Load:
    burst_rate, burst, steady_rate = parts_of(text, 3, 3)
    return BurstLoad(positive_rate_per_s(burst_rate), positive_duration_s(burst), positive_rate_per_s(steady_rate))


LOAD = LoadKind(
    "burst",
    "burst:6000/s:5s:400/s",
    "one burst at that rate for that time before the job starts, then a steady rate",
    _parse,
    ("OS6",),
)
