"""steps: one rate after another, each for its time; the last one goes on (DO8: single bursts of some length)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from streamgauge.load.spelling import duration_text, positive_duration_s, positive_rate_per_s, rate_text
from streamgauge.model.errors import UserError
from streamgauge.model.load import Load, LoadKind


@dataclass(frozen=True)
class StepsLoad:
    """Steps of constant rate; there is one rate more than there are times."""

    rates_per_s: tuple[float, ...]
    lengths_s: tuple[float, ...]
    job_starts_at_s: float | None = 0.0
    _edges_s: npt.NDArray[np.float64] = field(init=False, repr=False, compare=False)
    _events_at_edge: npt.NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        edges_s = np.concatenate([[0.0], np.cumsum(self.lengths_s)])
        events = np.concatenate([[0.0], np.cumsum(np.array(self.rates_per_s[:-1]) * np.array(self.lengths_s))])
        object.__setattr__(self, "_edges_s", edges_s)
        object.__setattr__(self, "_events_at_edge", events)

    @property
    def spelling(self) -> str:
        """The text that parses back to this load."""
        parts = [f"{rate_text(r)}:{duration_text(s)}" for r, s in zip(self.rates_per_s, self.lengths_s, strict=False)]
        return ":".join(["steps", *parts, rate_text(self.rates_per_s[-1])])

    @property
    def edges_s(self) -> tuple[float, ...]:
        """When each step begins."""
        return tuple(self._edges_s.tolist())

    def bursts_s(self) -> list[tuple[float, float]]:
        """(begin, end) of every run of steps above the first rate that ends before the load does."""
        found: list[tuple[float, float]] = []
        begun: float | None = None
        for rate, at_s in zip(self.rates_per_s, self.edges_s, strict=True):
            if rate > self.rates_per_s[0]:
                begun = at_s if begun is None else begun
            elif begun is not None:
                found.append((begun, at_s))
                begun = None
        return found

    def rate_per_s(self, elapsed_s: float) -> float:
        """The rate of the step at that moment."""
        return self.rates_per_s[int(np.searchsorted(self._edges_s, max(elapsed_s, 0.0), side="right")) - 1]

    def events_by(self, elapsed_s: float) -> float:
        """The events of the steps that are over and of the present one so far."""
        elapsed_s = max(elapsed_s, 0.0)
        step = int(np.searchsorted(self._edges_s, elapsed_s, side="right")) - 1
        return float(self._events_at_edge[step] + self.rates_per_s[step] * (elapsed_s - self._edges_s[step]))

    def due_s(self, index: Any) -> Any:
        """The moment at which each event is due."""
        index = np.asarray(index, dtype=np.float64)
        step = np.searchsorted(self._events_at_edge, index, side="right") - 1
        return self._edges_s[step] + (index - self._events_at_edge[step]) / np.array(self.rates_per_s)[step]


def _parse(text: str) -> Load:
    parts = [part.strip() for part in text.split(":")]
    if len(parts) < 3 or len(parts) % 2 == 0:
        raise UserError("it is not rates with a time between each two")
    rates = tuple(positive_rate_per_s(part) for part in parts[::2])
    return StepsLoad(rates, tuple(positive_duration_s(part) for part in parts[1::2]))


LOAD = LoadKind(
    "steps",
    "steps:500/s:20s:60000/s:10s:500/s",
    "one rate after another, each for its time; the last one goes on",
    _parse,
)
