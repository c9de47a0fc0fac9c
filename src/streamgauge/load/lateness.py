"""How late each event left: exact counts per second and millisecond, in memory that does not grow with the events."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

LARGEST_P99_MS = 50
LARGEST_LAST_MS = 100.0
SCHEMA = pa.schema([("second", pa.int32()), ("lateness_ms", pa.int64()), ("count", pa.int64())])

_MS_BITS = 36
_PARTS_BEFORE_MERGE = 256


class LatenessCounts:
    """Counts events by the second in which they were due and by whole milliseconds of lateness.

    The table holds all events; the figures and the judgement are of those due in second `judged_from_s` or later.
    """

    def __init__(self, judged_from_s: int = 0) -> None:
        self._judged_from_s = judged_from_s
        self._parts: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
        self._sum_ns = 0
        self.events = 0
        self.max_ms = 0.0
        self.last_ms = 0.0

    def add(self, due_ns: npt.NDArray[np.int64], sent_ns: npt.NDArray[np.int64]) -> None:
        """Count events that were due and sent at these elapsed times."""
        if not len(due_ns):
            return
        late_ns = np.maximum(sent_ns - due_ns, 0)
        keys, counts = np.unique((due_ns // 1_000_000_000 << _MS_BITS) + late_ns // 1_000_000, return_counts=True)
        self._parts.append((keys, counts))
        late_ns = late_ns[due_ns >= self._judged_from_s * 1_000_000_000]
        if len(late_ns):
            self._judge(late_ns)
        if len(self._parts) > _PARTS_BEFORE_MERGE:
            self._merge()

    def _judge(self, late_ns: npt.NDArray[np.int64]) -> None:
        self._sum_ns += int(late_ns.sum())
        self.events += len(late_ns)
        self.max_ms = max(self.max_ms, float(late_ns.max()) / 1e6)
        self.last_ms = float(late_ns[-1]) / 1e6

    def _merge(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        empty = np.empty(0, dtype=np.int64)
        all_keys = np.concatenate([empty, *(keys for keys, _ in self._parts)])
        keys, position = np.unique(all_keys, return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, position, np.concatenate([empty, *(counts for _, counts in self._parts)]))
        self._parts = [(keys, counts)]
        return keys, counts

    @property
    def mean_ms(self) -> float:
        """The mean over all events."""
        return self._sum_ns / self.events / 1e6 if self.events else 0.0

    def quantile_ms(self, share: float) -> int:
        """The smallest whole millisecond that at least this share of the events did not exceed."""
        keys, counts = self._merge()
        judged = keys >> _MS_BITS >= self._judged_from_s
        keys, counts = keys[judged], counts[judged]
        if not len(keys):
            return 0
        by_ms = np.argsort(keys & ((1 << _MS_BITS) - 1), kind="stable")
        reached = np.searchsorted(np.cumsum(counts[by_ms]), share * self.events - 1e-9)
        return int((keys & ((1 << _MS_BITS) - 1))[by_ms][min(int(reached), len(keys) - 1)])

    def table(self) -> pa.Table:
        """The counts with the columns second, lateness_ms and count."""
        keys, counts = self._merge()
        columns = [keys >> _MS_BITS, keys & ((1 << _MS_BITS) - 1), counts]
        return pa.table(dict(zip(SCHEMA.names, columns, strict=True))).cast(SCHEMA)

    def write(self, path: Path) -> None:
        """Write the counts as Parquet."""
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(self.table(), path)

    def kept_up(self) -> tuple[bool, str]:
        """Whether the schedule was kept, and the figures that say so."""
        p99_ms = self.quantile_ms(0.99)
        told = f"p99 lateness {p99_ms} ms, the last event {self.last_ms:.0f} ms late"
        if p99_ms > LARGEST_P99_MS or self.last_ms > LARGEST_LAST_MS:
            return False, f"fell behind: {told} (allowed: {LARGEST_P99_MS} ms and {LARGEST_LAST_MS:.0f} ms)"
        return True, told
