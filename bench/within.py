"""Quantiles finer than the log's milliseconds, for ratios of latencies that are only a few of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def within_a_millisecond(counts: pa.Table, share: float) -> float:
    """The latency that this share of the events stays below, if those of one millisecond lie evenly in it."""
    mine = counts.filter(pc.equal(counts["kind"], "event")).group_by("latency_ms").aggregate([("count", "sum")])
    order = np.argsort(mine["latency_ms"].to_numpy())
    value, count = mine["latency_ms"].to_numpy()[order], mine["count_sum"].to_numpy()[order]
    up_to = np.cumsum(count)
    rank = share * up_to[-1]
    at = int(np.searchsorted(up_to, rank))
    return float(value[at] + (rank - (up_to[at] - count[at])) / count[at])
