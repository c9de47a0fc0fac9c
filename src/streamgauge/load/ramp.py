"""ramp: from one rate to another in a straight line, then on at the second."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamgauge.load.spelling import duration_text, parts_of, positive_duration_s, positive_rate_per_s, rate_text
from streamgauge.model.errors import UserError
from streamgauge.model.load import Load, LoadKind

DEFAULT_LENGTH_S = 60.0


@dataclass(frozen=True)
class RampLoad:
    """A rate that changes evenly for a time and then stays."""

    first_rate_per_s: float
    last_rate_per_s: float
    length_s: float = DEFAULT_LENGTH_S
    job_starts_at_s: float | None = 0.0

    @property
    def spelling(self) -> str:
        """The text that parses back to this load."""
        length = "" if self.length_s == DEFAULT_LENGTH_S else f":{duration_text(self.length_s)}"
        return f"ramp:{rate_text(self.first_rate_per_s)}-{rate_text(self.last_rate_per_s)}{length}"

    @property
    def _slope(self) -> float:
        return (self.last_rate_per_s - self.first_rate_per_s) / self.length_s

    def rate_per_s(self, elapsed_s: float) -> float:
        """The rate on the line, or the last one after it."""
        return self.first_rate_per_s + self._slope * min(max(elapsed_s, 0.0), self.length_s)

    def events_by(self, elapsed_s: float) -> float:
        """The area under the line."""
        on_line_s = min(max(elapsed_s, 0.0), self.length_s)
        after_s = max(elapsed_s - self.length_s, 0.0)
        on_line = (self.first_rate_per_s + self._slope * on_line_s / 2) * on_line_s
        return on_line + self.last_rate_per_s * after_s

    def due_s(self, index: Any) -> Any:
        """The moment at which each event is due: the root of the quadratic, in the form that loses no digits."""
        index = np.asarray(index, dtype=np.float64)
        events_on_line = self.events_by(self.length_s)
        on_line = np.minimum(index, events_on_line)
        lowest = min(self.first_rate_per_s, self.last_rate_per_s) ** 2
        rate_then = np.sqrt(np.maximum(self.first_rate_per_s**2 + 2 * self._slope * on_line, lowest))
        after = np.maximum(index - events_on_line, 0.0)
        return 2 * on_line / (self.first_rate_per_s + rate_then) + after / self.last_rate_per_s


def _parse(text: str) -> Load:
    rates, *length = parts_of(text, 1, 2)
    first, dash, last = rates.partition("-")
    if not dash:
        raise UserError("it needs two rates with a dash between them")
    length_s = positive_duration_s(length[0]) if length else DEFAULT_LENGTH_S
    load = RampLoad(positive_rate_per_s(first), positive_rate_per_s(last), length_s)
    if not math.isfinite(load.events_by(length_s)):
        raise UserError("it has more events than can be counted")
    return load


LOAD = LoadKind(
    "ramp",
    "ramp:500/s-20000/s or ramp:500/s-20000/s:30s",
    "from one rate to another in a straight line (60 s unless a length is given), then on at the second",
    _parse,
)
