"""Repeats of one trial gathered into a group, with the interval that they give."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from streamgauge.measure.validity import Record, ranked

_ANGLES = 4097


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
    return Interval(mean, t95(n - 1) * math.sqrt(variance / n), n)


def t95(degrees: float) -> float:
    """The two-sided 95 % quantile of Student's t, for any degrees of freedom from 1."""
    # With t = √degrees · tan(angle) the density is cos(angle)^(degrees − 1), which is smooth on a finite range.
    angles = np.linspace(0, np.pi / 2, _ANGLES)
    density = np.cos(angles) ** (degrees - 1)
    up_to = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return float(math.sqrt(degrees) * np.tan(np.interp(0.95, up_to / up_to[-1], angles)))


def _identity(record: Record) -> str:
    trial = {k: v for k, v in dict(record.get("trial") or {}).items() if k not in ("repeat", "seed")}
    named = [record.get("application"), record.get("engine"), record.get("load")]
    return json.dumps([*named, trial], sort_keys=True, default=str)
