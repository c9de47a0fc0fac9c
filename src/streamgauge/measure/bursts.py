"""What bursts do to a trial (OS6, OS7): how it catches up after one at start-up, how long latency stays inflated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from streamgauge.measure.sustainability import median_by_second

INFLATED = 2.0
"""A second is inflated while its median latency is above so many times the median before the first burst."""
LEAST_BASE_MS = 1.0
"""The log's clock has whole milliseconds, so a smaller base would call its rounding inflated."""


def catching_up(throughput: pa.Table) -> dict[str, float | None]:
    """How the events that lay in the log when the job started were worked off, from the table per second.

    The queue at the end of a second is what is consumed later less what arrives later. It is caught up at the end of
    the first second in which the queue is at most twice its median over the last third of the load, or what arrives in
    a second; None where that is not so before the load ends, or where the queue settles above half of what lay there.
    """
    arrived, consumed = (throughput[name].to_numpy().astype(np.int64) for name in ("in_events", "consumed_events"))
    seconds = int(np.flatnonzero(arrived)[-1]) + 1 if arrived.any() else 0
    waiting = int(consumed.sum() - arrived.sum())
    found: dict[str, float | None] = {
        "waiting_events": max(waiting, 0),
        "catch_up_s": None,
        "burst_events_per_s": None,
        "peak_events_per_s": float(consumed.max()) if len(consumed) else None,
    }
    if seconds == 0:
        return found
    queue = waiting + np.cumsum(arrived - consumed)[:seconds]
    settled = float(np.median(queue[-max(1, seconds // 3) :]))
    steady = float(np.median(arrived[:seconds]))
    limit = max(2 * settled, steady)
    caught = np.flatnonzero(queue <= limit)
    if len(caught) and limit < waiting:
        took = int(caught[0]) + 1
        found |= {"catch_up_s": float(took), "burst_events_per_s": float(consumed[:took].sum()) / took}
    return found


def inflation(latency: pa.Table, starts_s: Sequence[float], period_s: float) -> dict[str, float | None]:
    """How long latency stays inflated after each burst, from counts per second; bursts begin at `starts_s`.

    The base is the median of the medians of the seconds before the first burst. A burst inflates from the second in
    which it begins up to the first whose median is at most twice the base; where none is before the next burst, it
    counts for the whole period.
    """
    at, medians = median_by_second(latency)
    before = medians[(at >= 0) & (at < int(starts_s[0]))] if len(starts_s) else medians[:0]
    if len(before) == 0:
        return {}
    base = float(np.median(before))
    limit = INFLATED * max(base, LEAST_BASE_MS)
    took, peaks = [], []
    for start in starts_s:
        inside = (at >= int(start)) & (at < start + period_s)
        if inside.any():
            calm = at[inside & (medians <= limit)]
            took.append(float(calm[0] - int(start)) if len(calm) else period_s)
            peaks.append(float(medians[inside].max()))
    if not took:
        return {}
    return {
        "bursts": len(took),
        "base_p50_ms": base,
        "peak_p50_ms": float(np.median(peaks)),
        "inflated_mean_s": float(np.mean(took)),
        "inflated_max_s": max(took),
    }


def scheduling_delay(progress: Sequence[dict[str, Any]], trigger_s: float, start_ms: float) -> dict[str, float | None]:
    """How long batches waited for the one before (MA5), over those begun from `start_ms` on.

    A batch is due at the next multiple of the trigger interval; it waits while the batch before runs beyond that. With
    no interval a batch is due when the one before ends, and nothing can be said.
    """
    if trigger_s <= 0 or not progress:
        return {}
    began = np.array([_instant_ms(each["timestamp"]) for each in progress], dtype=np.float64)
    took = np.array(
        [(each.get("durationMs") or {}).get("triggerExecution") or 0 for each in progress], dtype=np.float64
    )
    counted = began >= start_ms
    began, took = began[counted], took[counted]
    if len(began) == 0:
        return {}
    interval_ms = trigger_s * 1000
    due = (np.floor(began / interval_ms) + 1) * interval_ms
    delays = np.maximum(began + took - due, 0.0)
    return {
        "batches": len(delays),
        "delay_mean_ms": float(delays.mean()),
        "delay_max_ms": float(delays.max()),
        "batch_mean_ms": float(took.mean()),
    }


def _instant_ms(text: str) -> float:
    return float(np.datetime64(text.removesuffix("Z")).astype("datetime64[ms]").astype(np.int64))
