"""warmed: another load, after a time at its first rate; how a trial's warm-up is published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from streamgauge.load.spelling import duration_text, positive_duration_s
from streamgauge.model.errors import UserError
from streamgauge.model.load import Load, LoadKind


@dataclass(frozen=True)
class WarmedLoad:
    """A constant rate for a time, then the inner load from its beginning."""

    warmup_s: float
    inner: Load
    job_starts_at_s: float | None = 0.0

    @property
    def spelling(self) -> str:
        """The text that parses back to this load."""
        return f"warmed:{duration_text(self.warmup_s)}:{self.inner.spelling}"

    @property
    def _first_rate_per_s(self) -> float:
        return self.inner.rate_per_s(0.0)

    @property
    def _warmup_events(self) -> float:
        return self.warmup_s * self._first_rate_per_s

    def rate_per_s(self, elapsed_s: float) -> float:
        """The inner load's first rate during the warm-up, then the inner load's."""
        return self._first_rate_per_s if elapsed_s < self.warmup_s else self.inner.rate_per_s(elapsed_s - self.warmup_s)

    def events_by(self, elapsed_s: float) -> float:
        """The events of the warm-up so far, and of the inner load after it."""
        warming_s = min(max(elapsed_s, 0.0), self.warmup_s)
        return warming_s * self._first_rate_per_s + self.inner.events_by(max(elapsed_s - self.warmup_s, 0.0))

    def due_s(self, index: Any) -> Any:
        """The moment at which each event is due."""
        index = np.asarray(index, dtype=np.float64)
        during = np.minimum(index, self._warmup_events) / self._first_rate_per_s
        after = self.warmup_s + self.inner.due_s(np.maximum(index - self._warmup_events, 0.0))
        return np.where(index < self._warmup_events, during, after)


def _parse(text: str) -> Load:
    from streamgauge.load import parse_load

    length, _, rest = text.partition(":")
    inner = parse_load(rest)
    if inner.job_starts_at_s != 0 or isinstance(inner, WarmedLoad):
        raise UserError(f"'{rest}' takes no warm-up in front of it")
    if inner.rate_per_s(0.0) <= 0:
        raise UserError(f"'{rest}' begins with a rate of zero, so nothing would warm up")
    return WarmedLoad(positive_duration_s(length), inner)


LOAD = LoadKind("warmed", "warmed:10s:LOAD", "another load, after a time at its first rate", _parse)
