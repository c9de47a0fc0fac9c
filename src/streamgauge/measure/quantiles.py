"""Exact quantiles of whole milliseconds, from how often each value occurred."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike

PERCENTILES = {"p50": 50_000, "p95": 95_000, "p99": 99_000, "p99.9": 99_900, "p99.999": 99_999}
"""Name of each percentile with its share in hundred-thousandths, so that ranks are exact."""

SAMPLES_BEYOND = 10
"""A percentile is given only where at least so many samples lie beyond it."""

_WHOLE = 100_000


@dataclass(frozen=True)
class Quantiles:
    """Size, mean, percentiles and maximum of a sample; a percentile that the sample does not carry is None."""

    n: int
    mean: float | None
    percentiles: Mapping[str, int | None]
    max: int | None

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values: n, mean, p50, p95, p99, p99.9, p99.999, max."""
        return {"n": self.n, "mean": self.mean, **self.percentiles, "max": self.max}


def is_carried(name: str, n: int) -> bool:
    """Whether n samples are enough to state that percentile."""
    if name == "p50":
        return n >= 1
    return n * (_WHOLE - PERCENTILES[name]) >= SAMPLES_BEYOND * _WHOLE


def quantiles_of_counts(values_ms: ArrayLike, counts: ArrayLike) -> Quantiles:
    """Quantiles by nearest rank: the smallest value that at least the share q of the samples does not exceed."""
    values = np.asarray(values_ms, dtype=np.int64)
    weights = np.asarray(counts, dtype=np.int64)
    n = int(weights.sum())
    if n == 0:
        return Quantiles(0, None, dict.fromkeys(PERCENTILES), None)
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    up_to = np.cumsum(weights)
    found: dict[str, int | None] = {}
    for name, share in PERCENTILES.items():
        rank = -(-n * share // _WHOLE)
        found[name] = int(values[np.searchsorted(up_to, rank)]) if is_carried(name, n) else None
    mean = float(np.dot(values.astype(np.float64), weights) / n)
    return Quantiles(n, mean, found, int(values[weights > 0][-1]))


def quantiles_of_table(counts: pa.Table, value_column: str, kind: str | None = None) -> Quantiles:
    """Quantiles of a table of counts (value, count), of one kind where the table has several."""
    if kind is not None:
        counts = counts.filter(pc.equal(counts["kind"], kind))
    return quantiles_of_counts(counts[value_column].to_numpy(), counts["count"].to_numpy())


def quantile_by_second(
    counts: pa.Table, name: str = "p50", kind: str = "event"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Seconds, that percentile by nearest rank of each, and how many samples each holds."""
    mine = counts.filter(pc.equal(counts["kind"], kind))
    second, value, count = (mine[column].to_numpy() for column in ("second", "latency_ms", "count"))
    order = np.lexsort((value, second))
    second, value, up_to = second[order], value[order], np.cumsum(count[order])
    seconds, starts = np.unique(second, return_index=True)
    if len(seconds) == 0:
        return seconds, value, seconds
    ends = up_to[np.append(starts[1:], len(second)) - 1]
    before = np.append(0, ends[:-1])
    rank = before - (-(ends - before) * PERCENTILES[name] // _WHOLE)
    return seconds, value[np.searchsorted(up_to, rank)], ends - before
