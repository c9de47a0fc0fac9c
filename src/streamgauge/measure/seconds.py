"""A trial second by second, as one sees it who watches its outputs: a second in which none comes has an age too."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamgauge.measure.answering import Answered
from streamgauge.measure.bursts import INFLATED, LEAST_BASE_MS
from streamgauge.measure.sustainability import median_by_second
from streamgauge.measure.window import Window

Floats = NDArray[np.float64]


def seen_by_second(connection: duckdb.DuckDBPyConnection, answered: Sequence[Answered], window: Window) -> Floats:
    """For each second of the load, the median event latency of the events that were answered in it, in milliseconds.

    A second without an answer counts with the age of the newest one: how long ago, at its end, the latest event was
    appended that has been answered. Before the first answer that is the time since the load began.
    """
    seconds = (window.end_ms - window.start_ms) // 1000 + 1
    parts = [
        f'select append_ms, answered_ms from {each.events} where "index" >= {window.warmup_events}'
        for each in answered
        if each.events is not None
    ]
    if not parts:
        return np.zeros(0)
    counts = connection.sql(
        f"""
        select 'event' as kind, floor((answered_ms - {window.start_ms}) / 1000)::bigint as second,
               greatest(answered_ms - append_ms, 0)::bigint as latency_ms, count(*)::bigint as count,
               max(append_ms)::bigint as newest_ms
        from ({" union all ".join(parts)}) group by all
        """
    ).to_arrow_table()
    at, medians = median_by_second(counts)
    ends_ms = window.start_ms + 1000.0 * np.arange(1, seconds + 1)
    found = ends_ms - _newest_ms(counts, seconds, window.start_ms)
    inside = (at >= 0) & (at < seconds)
    found[at[inside]] = medians[inside]
    return found


def _newest_ms(counts: pa.Table, seconds: int, start_ms: int) -> Floats:
    """At the end of each second, when the latest event was appended that has been answered by then."""
    newest = np.full(seconds, float(start_ms))
    at = counts["second"].to_numpy()
    appended = counts["newest_ms"].to_numpy()
    inside = (at >= 0) & (at < seconds)
    np.maximum.at(newest, at[inside], appended[inside])
    return np.asarray(np.maximum.accumulate(newest), np.float64)


def mean_of_seconds(medians: Floats) -> dict[str, float]:
    """The mean of the one-second medians; nothing where there is none."""
    return {"mean_p50_ms": float(medians.mean()), "seconds": int(medians.size)} if medians.size else {}


def settling(medians: Floats, bursts_s: Sequence[tuple[float, float]]) -> dict[str, float | None]:
    """How long after the end of each burst the one-second median stays above twice what it was before the first.

    A burst after which it does not settle counts up to the next one or the end of the load.
    """
    if not bursts_s or medians.size == 0:
        return {}
    base = float(np.median(medians[: max(1, int(bursts_s[0][0]))]))
    limit = INFLATED * max(base, LEAST_BASE_MS)
    took = []
    for place, (_, end_s) in enumerate(bursts_s):
        until = int(bursts_s[place + 1][0]) if place + 1 < len(bursts_s) else medians.size
        after = medians[int(end_s) : until]
        calm = np.flatnonzero(after <= limit)
        if after.size:
            took.append(float(calm[0]) if calm.size else float(after.size))
    if not took:
        return {}
    return {
        "base_p50_ms": base,
        "settled_mean_s": float(np.mean(took)),
        "settled_max_s": max(took),
        "peak_p50_ms": float(medians.max()),
    }
