"""Warm standby (DO5): before the first switch every segment has run a few micro-batches beside itself, thrown away.

A standby reads the segment's own input with a checkpoint and an output topic of its own, since two queries cannot share
a checkpoint. What stays of it is what makes a first switch slow: loaded classes, and compiled code of all that a batch
does whatever its size. It is over when batches get no faster, and a JVM needs it once for each segment.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from streamgauge.engines.spark.checkpoint_paths import CheckpointPath, remove_checkpoint
from streamgauge.engines.spark.checkpoints import newest_commit
from streamgauge.engines.spark.live_segment import LiveSegment, Standby, progress_after
from streamgauge.log.cluster import Cluster
from streamgauge.model.job import STANDBY
from streamgauge.paradigms.paradigm import Paradigm

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

BATCHES = 3
"""Micro-batches that make a segment warm enough to be switched: the first of them loads and compiles."""
COMPARED = 40
NO_FASTER = 0.9
"""It is over when so many batches took at least this share of the time of as many before them: what plans and commits a
batch is much code, and compiled late."""
LONGEST_S = 25.0
"""…or after this: it is work beside the running query."""
ASK_S = 2.0
RECORDS = 2_000
"""Most records of one of them."""
LEAST_RECORDS = 50
"""Records that must lie in a segment's input first."""
TIMEOUT_S = 20.0

_warmed: set[tuple[str, ...]] = set()
"""Segments that this process has warmed up."""
_say = logging.getLogger("streamgauge.adaptive")


class Standbys:
    """Warms up the segments that may change, one after another, in a thread of its own."""

    def __init__(
        self,
        cluster: Cluster,
        segments: Sequence[LiveSegment],
        identity: tuple[str, ...],
        start: Callable[[LiveSegment, Standby], StreamingQuery],
        path: Callable[[str], CheckpointPath] = Path,
    ) -> None:
        """`path` looks into a checkpoint by its location."""
        self._cluster, self._start, self._identity, self._path = cluster, start, identity, path
        self._segments = [each for each in segments if each.pinned is None]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="standby", daemon=True)
        self.took_s: dict[str, float] = {}
        """Segment → how long its standby ran; empty where it was warm already."""

    def begin(self) -> None:
        """Begin in the background; what is warm already is said to be."""
        for segment in self._segments:
            if (*self._identity, segment.name) in _warmed:
                segment.warm[Paradigm.OPERATION_STREAM] = True
        self._thread.start()

    def end(self) -> None:
        """Stop what is running."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(TIMEOUT_S)

    def _run(self) -> None:
        for segment in self._segments:
            if self._stop.is_set() or segment.warm[Paradigm.OPERATION_STREAM]:
                continue
            try:
                self._warm_up(segment)
            except Exception:
                # The first switch will be cold; nothing else is lost.
                _say.exception("the standby of %s failed", segment.name)

    def _warm_up(self, segment: LiveSegment) -> None:
        if not self._wait(lambda: self._waiting(segment) >= LEAST_RECORDS):
            return
        topic = f"{segment.output or segment.reads[0].topic}{STANDBY}"
        checkpoint = self._path(f"{segment.checkpoint}{STANDBY}")
        began_s = time.monotonic()
        # A driver that was killed may have left both.
        remove_checkpoint(checkpoint)
        if topic not in self._cluster.topics():
            self._cluster.create_topic(topic, 1)
        handle: StreamingQuery | None = None
        try:
            handle = query = self._start(segment, Standby(topic, str(checkpoint)))
            until_s = began_s + LONGEST_S
            self._wait(lambda: (newest_commit(checkpoint) or 0) >= BATCHES - 1 or not query.isActive)
            while query.isActive and time.monotonic() < until_s and not no_faster(batch_times_ms(query)):
                segment.warm[Paradigm.OPERATION_STREAM] = newest_commit(checkpoint) is not None
                if self._stop.wait(ASK_S):
                    return  # The next job of this process goes on with it.
            if handle.isActive and newest_commit(checkpoint) is not None:
                segment.warm[Paradigm.OPERATION_STREAM] = True
                _warmed.add((*self._identity, segment.name))
            self.took_s[segment.name] = time.monotonic() - began_s
            _say.info("the standby of %s took %.1f s", segment.name, self.took_s[segment.name])
        finally:
            if handle is not None:
                handle.stop()
            self._cluster.delete_topics([topic])
            remove_checkpoint(checkpoint)

    def _waiting(self, segment: LiveSegment) -> int:
        topics = [each.topic for each in segment.reads]
        return min(sum(self._cluster.end_offsets(topic).values()) for topic in topics)

    def _wait(self, until: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + TIMEOUT_S
        while not until():
            if time.monotonic() > deadline or self._stop.wait(0.1):
                return False
        return True


def batch_times_ms(query: StreamingQuery) -> list[float]:
    """How long the batches of a query took, oldest first."""
    return [float(each["durationMs"].get("triggerExecution", 0)) for each in progress_after(query, -1)]


def no_faster(took_ms: Sequence[float]) -> bool:
    """Whether the last batches took about as long as those before them."""
    if len(took_ms) < 2 * COMPARED:
        return False
    return median(took_ms[-COMPARED:]) >= NO_FASTER * median(took_ms[-2 * COMPARED : -COMPARED])
