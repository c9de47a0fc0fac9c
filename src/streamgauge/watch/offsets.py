"""Watches how far topics have grown, also while the broker is away for a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

import pyarrow as pa

from streamgauge.watch.cadence import Cadence

HISTORY_SCHEMA = pa.schema(
    [
        pa.field("at_ms", pa.int64(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("total", pa.int64(), nullable=False),
    ]
)


class OffsetWatcher:
    """Asks for the end offsets of topics every `interval_s`; a failure to answer is kept, never raised.

    `end_offsets` (topic → partition → end) must be safe to call from the watcher's thread.
    """

    def __init__(
        self,
        end_offsets: Callable[[str], dict[int, int]],
        topics: Iterable[str],
        interval_s: float = 0.25,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._end_offsets = end_offsets
        self._clock_s = clock_s
        self._cadence = Cadence(self.look, interval_s, "offset-watcher")
        self._lock = threading.Lock()
        self._ends: dict[str, dict[int, int]] = {topic: {} for topic in topics}
        self._silent_s = dict.fromkeys(self._ends, 0.0)
        self._answered_at_s: dict[str, float] = {}
        self._failing_since_s: float | None = None
        self._rows: list[tuple[int, str, int]] = []
        self.error: Exception | None = None
        """The last failure, also after the broker is back; None when there was none."""

    def start(self) -> None:
        """Begin to watch; the first look is taken at once."""
        self._cadence.start()

    def stop(self) -> None:
        """End; a question that the broker does not answer is waited for a few seconds at most."""
        self._cadence.stop()

    def look(self) -> None:
        """Ask once for every topic; the thread does this at every beat."""
        began_s = self._clock_s()
        failure: Exception | None = None
        for topic in self._ends:
            try:
                ends = dict(self._end_offsets(topic))
            except Exception as error:
                failure = error
                with self._lock:
                    self._answered_at_s.pop(topic, None)
            else:
                self._note(topic, ends)
        with self._lock:
            if failure is None:
                self._failing_since_s = None
            else:
                self.error = failure
                self._failing_since_s = began_s if self._failing_since_s is None else self._failing_since_s

    def latest(self, topic: str) -> dict[int, int]:
        """The last known end of each partition; empty before the first answer."""
        with self._lock:
            return dict(self._ends[topic])

    def silent_for_s(self, topic: str) -> float:
        """How long the topic was seen not to move, up to the last answer; time without an answer does not count."""
        with self._lock:
            return self._silent_s[topic]

    @property
    def failing_for_s(self) -> float:
        """How long some topic's end could not be had; 0 when all answered at the last look."""
        with self._lock:
            return 0.0 if self._failing_since_s is None else self._clock_s() - self._failing_since_s

    @property
    def history(self) -> pa.Table:
        """Every answer as (at_ms, topic, total of all partitions' ends)."""
        with self._lock:
            rows = list(self._rows)
        return pa.table(
            {name: [row[at] for row in rows] for at, name in enumerate(HISTORY_SCHEMA.names)}, schema=HISTORY_SCHEMA
        )

    def _note(self, topic: str, ends: dict[int, int]) -> None:
        now_s = self._clock_s()
        with self._lock:
            answered_at_s = self._answered_at_s.get(topic)
            if ends != self._ends[topic]:
                self._silent_s[topic] = 0.0
            elif answered_at_s is not None:
                self._silent_s[topic] += now_s - answered_at_s
            self._ends[topic] = ends
            self._answered_at_s[topic] = now_s
            self._rows.append((time.time_ns() // 1_000_000, topic, sum(ends.values())))
