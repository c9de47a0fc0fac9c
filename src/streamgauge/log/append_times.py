"""When each record of a topic was appended, in little memory: what a producer sent at once is one run of one time."""

from __future__ import annotations

import numpy as np


class AppendTimes:
    """Append times by partition and place, the first record of a partition being at place 0."""

    def __init__(self) -> None:
        self._growing: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        self._runs: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        """Partition → where each run ends, and the time of its records."""

    def add(self, partitions: np.ndarray, append_ms: np.ndarray) -> None:
        """Add records that follow those that are there, each partition's in order."""
        for partition in np.unique(partitions).tolist():
            self._growing.setdefault(partition, []).append(_runs(append_ms[partitions == partition]))
            self._runs.pop(partition, None)

    @property
    def records(self) -> int:
        """How many there are in all."""
        return sum(map(self.held, self._growing))

    def held(self, partition: int) -> int:
        """How many records of the partition there are."""
        ends, _ = self._of(partition)
        return int(ends[-1]) if len(ends) else 0

    def at(self, partition: int, places: np.ndarray) -> np.ndarray:
        """The append times of the records at these places, each below `held`."""
        ends, append_ms = self._of(partition)
        found: np.ndarray = append_ms[np.searchsorted(ends, places, side="right")]
        return found

    def _of(self, partition: int) -> tuple[np.ndarray, np.ndarray]:
        if partition not in self._runs:
            parts = self._growing.get(partition) or [(np.empty(0, np.int64), np.empty(0, np.int64))]
            lengths, append_ms = (np.concatenate(each) for each in zip(*parts, strict=True))
            if partition in self._growing:
                self._growing[partition] = [(lengths, append_ms)]
            self._runs[partition] = (np.cumsum(lengths), append_ms)
        return self._runs[partition]


def _runs(append_ms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lengths of the stretches of one time, and their times."""
    begins = np.flatnonzero(np.diff(append_ms, prepend=append_ms[0] - 1))
    return np.diff(begins, append=len(append_ms)), append_ms[begins]
