"""A probe as its trial stores it, of an engine that serves so many events a second and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

PROBE_S = 30


def simulated_tables(rate: float, capacity: float, batch_s: float = 0.0, seconds: int = PROBE_S, seed: int = 1) -> Any:
    """Latency counts and throughput of events that arrive evenly and are served in order, batch by batch."""
    wait_s = np.maximum((rate - capacity) / capacity, 0.0) * np.arange(seconds, dtype=float)
    noise = np.random.default_rng(seed).uniform(0.8, 1.2, seconds)
    latency_ms = np.round(1000 * (wait_s + (0.05 + batch_s / 2) * noise)).astype(np.int64)
    served_by = np.minimum(np.arange(1, seconds + 1) * min(rate, capacity), rate * seconds)
    if batch_s:
        ends = np.floor(np.arange(1, seconds + 1) / batch_s) * batch_s
        served_by = np.minimum(served_by, ends * min(rate, capacity))
    drain_s = max(rate * seconds - float(served_by[-1]), 0.0) / capacity
    slots = seconds + int(np.ceil(drain_s)) + 1
    arrived = np.append(np.full(seconds, round(rate)), np.zeros(slots - seconds, np.int64)).astype(np.int64)
    consumed = np.diff(np.append(0.0, served_by)).round().astype(np.int64)
    rest = np.zeros(slots - seconds, np.int64)
    rest[-1] = arrived.sum() - consumed.sum()
    latency = pa.table(
        {
            "kind": ["event"] * seconds,
            "second": np.arange(seconds),
            "latency_ms": latency_ms,
            "count": np.full(seconds, max(round(rate), 1)),
        }
    )
    throughput = pa.table(
        {
            "second": np.arange(slots),
            "in_events": arrived,
            "consumed_events": np.append(consumed, rest),
            "out_records": np.append(consumed, rest),
        }
    )
    return latency, throughput, float(np.median(latency_ms)), drain_s
