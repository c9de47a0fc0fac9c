"""Whether a series rises: the slope by Theil and Sen, and the test of Mann and Kendall; both bear outliers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

MOST_POINTS = 1_000
"""Both look at every pair of points: a longer series is first made shorter, by medians of blocks."""
FEWEST_POINTS = 5
"""With fewer, even a series that always rises does so by chance too often."""
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Trend:
    """A series in three numbers, and how likely one without a trend would rise as much."""

    points: int
    slope: float
    """Per unit of time."""
    rise: float
    """What the slope makes of the whole time."""
    level: float
    """The median."""
    p_value: float | None
    """Of rising, one-sided; None with too few points."""

    @property
    def significant(self) -> bool:
        """Whether the series rises beyond chance, by however little."""
        return self.p_value is not None and self.p_value < SIGNIFICANT and self.slope > 0


def trend_of(times: ArrayLike, values: ArrayLike) -> Trend:
    """The trend of a series; a value that is not a number is left out."""
    x, y = np.asarray(times, np.float64), np.asarray(values, np.float64)
    kept = np.isfinite(x) & np.isfinite(y)
    x, y = _shortened(x[kept], y[kept])
    n = len(x)
    if n == 0:
        return Trend(0, 0.0, 0.0, 0.0, None)
    level = float(np.median(y))
    if n < 2 or x[-1] == x[0]:
        return Trend(n, 0.0, 0.0, level, None)
    first, second = np.triu_indices(n, 1)
    apart, change = x[second] - x[first], y[second] - y[first]
    told = apart > 0
    slope = float(np.median(change[told] / apart[told]))
    p_value = _rising_by_chance(y, change) if n >= FEWEST_POINTS else None
    return Trend(n, slope, slope * float(x[-1] - x[0]), level, p_value)


def _shortened(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    if len(x) <= MOST_POINTS:
        return x, y
    blocks = np.array_split(np.arange(len(x)), MOST_POINTS)
    return np.array([x[b].mean() for b in blocks]), np.array([np.median(y[b]) for b in blocks])


def _rising_by_chance(y: np.ndarray, change: np.ndarray) -> float:
    """One-sided p-value of Mann–Kendall's S, normal with the correction for ties and for continuity."""
    n = len(y)
    s = float(np.sign(change).sum())
    ties = np.unique(y, return_counts=True)[1].astype(np.float64)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if variance <= 0:
        return 1.0
    z = (s - math.copysign(1, s)) / math.sqrt(variance) if s else 0.0
    return 0.5 * math.erfc(z / math.sqrt(2))
