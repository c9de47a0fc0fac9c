"""Repeats of one trial gathered into a group, with the interval that they give."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from streamgauge.report.words import Record, ranked

# Two-sided 95 % quantiles of Student's t for 1 … 30 degrees of freedom; above, a series in 1/degrees is as exact.
_T95 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_Z95 = 1.95996


@dataclass(frozen=True)
class Interval:
    """A mean over repeats and the half-width of its 95 % t-interval; None with fewer than two."""

    mean: float
    half: float | None
    repeats: int


@dataclass(frozen=True)
class Group:
    """Trials that differ only in repeat and seed, in the order in which they were run."""

    records: tuple[Record, ...]

    @property
    def first(self) -> Record:
        """The record that names the group."""
        return self.records[0]

    @property
    def ranked(self) -> tuple[Record, ...]:
        """The repeats whose figures count: valid and right."""
        return tuple(r for r in self.records if ranked(r))

    def interval(self, figure: Callable[[Record], float | None]) -> Interval | None:
        """The figure's mean over the ranked repeats, with its interval."""
        values = [v for v in map(figure, self.ranked) if v is not None]
        return t_interval(values) if values else None


def groups(records: Sequence[Record]) -> list[Group]:
    """The records gathered by everything that decides a trial except its repeat and its seed."""
    gathered: dict[str, list[Record]] = {}
    for record in records:
        gathered.setdefault(_identity(record), []).append(record)
    return [Group(tuple(found)) for found in gathered.values()]


def t_interval(values: Sequence[float]) -> Interval:
    """Mean and 95 % t-interval of independent repeats."""
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return Interval(mean, None, n)
    variance = math.fsum((v - mean) ** 2 for v in values) / (n - 1)
    return Interval(mean, _t95(n - 1) * math.sqrt(variance / n), n)


def _t95(degrees: int) -> float:
    if degrees <= len(_T95):
        return _T95[degrees - 1]
    first, second = _Z95**3 + _Z95, 5 * _Z95**5 + 16 * _Z95**3 + 3 * _Z95
    return _Z95 + first / (4 * degrees) + second / (96 * degrees**2)


def _identity(record: Record) -> str:
    trial = {k: v for k, v in dict(record.get("trial") or {}).items() if k not in ("repeat", "seed")}
    named = [record.get("application"), record.get("engine"), record.get("load")]
    return json.dumps([*named, trial], sort_keys=True, default=str)
