"""Figures of the last seconds, from totals and samples as they come: a rate, and the latency of the newest outputs."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from streamgauge.measure.quantiles import quantiles_of_counts

RATE_OVER_S = 2.0
LATENCY_OVER_S = 5.0
_MOST_SAMPLES = 20_000


class NewestRate:
    """Growth per second of a total over the last seconds; one that falls begins again from nothing."""

    def __init__(self, over_s: float = RATE_OVER_S) -> None:
        self._over_s = over_s
        self._seen: deque[tuple[float, float]] = deque()

    def note(self, at_s: float, total: float | None) -> float | None:
        """Take the total of a moment and give the rate up to it; None before there are two, or where it is unknown."""
        if total is None:
            self._seen.clear()
            return None
        if self._seen and total < self._seen[-1][1]:
            self._seen.clear()
        self._seen.append((at_s, total))
        while len(self._seen) > 2 and at_s - self._seen[1][0] >= self._over_s:
            self._seen.popleft()
        from_s, before = self._seen[0]
        return (total - before) / (at_s - from_s) if at_s > from_s else None


class NewestLatency:
    """Percentiles of the outputs that were seen in the last seconds, by the rules of every other percentile."""

    def __init__(self, over_s: float = LATENCY_OVER_S) -> None:
        self._over_s = over_s
        self._seen: deque[tuple[float, np.ndarray]] = deque()
        self._count = 0

    def note(self, at_s: float, latencies_ms: Sequence[int]) -> tuple[int | None, int | None]:
        """Take the latencies seen at a moment and give p50 and p99 up to it; None where the sample carries none."""
        if latencies_ms:
            self._seen.append((at_s, np.maximum(np.asarray(latencies_ms, np.int64), 0)))
            self._count += len(latencies_ms)
        while self._seen and (at_s - self._seen[0][0] >= self._over_s or self._count > _MOST_SAMPLES):
            self._count -= len(self._seen.popleft()[1])
        if not self._seen:
            return None, None
        values, counts = np.unique(np.concatenate([each for _, each in self._seen]), return_counts=True)
        found = quantiles_of_counts(values, counts).percentiles
        return found["p50"], found["p99"]
