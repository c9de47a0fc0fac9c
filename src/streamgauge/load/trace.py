"""trace: rates recorded elsewhere, replayed step by step.

The file is CSV with the header `elapsed_s,rate_per_s`; each rate holds until the next row's moment. The first row is at
0, the last one holds as long as the one before it (one second when it is the only one), and then the trace repeats.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from streamgauge.model.errors import UserError
from streamgauge.model.load import Load, LoadKind

HEADER = ["elapsed_s", "rate_per_s"]


@dataclass(frozen=True)
class TraceLoad:
    """Steps of constant rate, repeated for ever."""

    path: str
    starts_s: tuple[float, ...]
    rates_per_s: tuple[float, ...]
    job_starts_at_s: float | None = 0.0
    _edges_s: npt.NDArray[np.float64] = field(init=False, repr=False, compare=False)
    _events_at_edge: npt.NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        last_s = self.starts_s[-1] - self.starts_s[-2] if len(self.starts_s) > 1 else 1.0
        edges_s = np.array([*self.starts_s, self.starts_s[-1] + last_s])
        events = np.concatenate([[0.0], np.cumsum(np.diff(edges_s) * np.array(self.rates_per_s))])
        object.__setattr__(self, "_edges_s", edges_s)
        object.__setattr__(self, "_events_at_edge", events)

    @property
    def spelling(self) -> str:
        """The text that parses back to this load."""
        return f"trace:{self.path}"

    @property
    def round_s(self) -> float:
        """How long the trace is before it repeats."""
        return float(self._edges_s[-1])

    def rate_per_s(self, elapsed_s: float) -> float:
        """The rate of the step at that moment."""
        step = np.searchsorted(self._edges_s, max(elapsed_s, 0.0) % self.round_s, side="right") - 1
        return self.rates_per_s[min(int(step), len(self.rates_per_s) - 1)]

    def events_by(self, elapsed_s: float) -> float:
        """The events of all whole rounds and of the steps since."""
        rounds, into_round_s = divmod(max(elapsed_s, 0.0), self.round_s)
        return rounds * float(self._events_at_edge[-1]) + float(
            np.interp(into_round_s, self._edges_s, self._events_at_edge)
        )

    def due_s(self, index: Any) -> Any:
        """The first moment at which so many events are due; nothing is due within a step of rate zero."""
        rounds, into_round = np.divmod(np.asarray(index, dtype=np.float64), self._events_at_edge[-1])
        step = np.searchsorted(self._events_at_edge, into_round, side="left") - 1
        step = np.clip(step, 0, len(self.rates_per_s) - 1)
        rates = np.array(self.rates_per_s)[step]
        into_step = into_round - self._events_at_edge[step]
        into_step_s = np.divide(into_step, rates, out=np.zeros_like(into_step), where=rates > 0)
        return rounds * self.round_s + np.minimum(self._edges_s[step] + into_step_s, self._edges_s[step + 1])


def _parse(text: str) -> Load:
    if not text.strip():
        raise UserError("it names no file")
    path = Path(text.strip())
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not rows or [cell.strip() for cell in rows[0]] != HEADER:
        raise UserError(f"{path} does not begin with the line {','.join(HEADER)}")
    steps = [_step(path, line, row) for line, row in enumerate(rows[1:], start=2)]
    _check(path, steps)
    return TraceLoad(str(path), tuple(s for s, _ in steps), tuple(r for _, r in steps))


def _step(path: Path, line: int, row: list[str]) -> tuple[float, float]:
    try:
        elapsed_s, rate_per_s = (float(cell) for cell in row)
    except ValueError:
        raise UserError(f"{path}, line {line}: '{','.join(row)}' is not two numbers") from None
    if not (0 <= elapsed_s < math.inf and 0 <= rate_per_s < math.inf):
        raise UserError(f"{path}, line {line}: a moment or a rate is negative or not finite")
    return elapsed_s, rate_per_s


def _check(path: Path, steps: list[tuple[float, float]]) -> None:
    if not steps:
        raise UserError(f"{path} has no rates")
    if steps[0][0] != 0:
        raise UserError(f"{path}, line 2: the first moment is not 0")
    for line, (earlier, later) in enumerate(pairwise(steps), start=3):
        if later[0] <= earlier[0]:
            raise UserError(f"{path}, line {line}: its moment is not after the one before")
    if not any(rate_per_s for _, rate_per_s in steps):
        raise UserError(f"{path} has no rate above zero")


LOAD = LoadKind(
    "trace",
    "trace:FILE with the header elapsed_s,rate_per_s",
    "rates recorded in a file, one step after the other, repeated",
    _parse,
)
