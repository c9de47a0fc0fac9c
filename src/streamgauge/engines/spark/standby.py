"""Warm standby (DO5): before the first switch every segment has run micro-batches beside itself, thrown away.

A standby reads the segment's own input with a checkpoint and an output topic of its own, since two queries cannot share
a checkpoint. What stays of it is what makes a first switch slow: loaded classes and compiled code. It is started again
and again at the log's beginning: that compiles the start of a query, a large batch of what the log holds compiles what
is done for every record, and the small ones behind it what every batch does whatever its size. A JVM needs it once
for each segment.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from streamgauge.engines.spark.checkpoint_paths import CheckpointPath, remove_checkpoint
from streamgauge.engines.spark.checkpoints import newest_commit
from streamgauge.engines.spark.live_segment import LiveSegment, Standby, progress_after
from streamgauge.engines.spark.running import first_line
from streamgauge.log.cluster import Cluster
from streamgauge.model import EngineError
from streamgauge.model.job import STANDBY
from streamgauge.paradigms.paradigm import Paradigm

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

BATCHES = 3
"""Micro-batches that make a segment warm enough to be switched: the first of them loads and compiles."""
PASS_BATCHES = 40
PASS_S = 8.0
"""A query is started again after so many batches, or so long."""
ENOUGH_BATCHES = 400
"""It is over after so many: what plans and commits a batch is much code, compiled late. Micro-batches that had worked
for long were seen to take 75 ms under a load where those that began after some 130 small ones took 150."""
LONGEST_S = 45.0
"""…or after this: it is work beside the running query."""
ASK_S = 0.3
LARGE_RECORDS = 30_000
"""Most records of one batch."""
LEAST_RECORDS = 50
"""Records that must lie in a segment's input first."""
TIMEOUT_S = 20.0


@dataclass
class Warmth:
    """What the standbys of a segment have come to in this process."""

    seconds: float = 0.0
    batches: int = 0

    @property
    def over(self) -> bool:
        """Whether more would make a switch hardly faster, or costs too much."""
        return self.seconds >= LONGEST_S or self.batches >= ENOUGH_BATCHES


_warmth: defaultdict[tuple[str, ...], Warmth] = defaultdict(Warmth)
"""Segment → how warm this process is for it."""
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
            if self._warmth(segment).over:
                segment.warm[Paradigm.OPERATION_STREAM] = True
        self._thread.start()

    def end(self) -> None:
        """Stop what is running."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(TIMEOUT_S)

    def _run(self) -> None:
        for segment in self._segments:
            warmth, before_s = self._warmth(segment), self._warmth(segment).seconds
            try:
                if not warmth.over and self._has_records(segment):
                    self._warm_up(segment, warmth)
            except Exception:
                # The first switch will be cold; nothing else is lost.
                _say.exception("the standby of %s failed", segment.name)
            if warmth.seconds > before_s:
                self.took_s[segment.name] = warmth.seconds - before_s
                _say.info("the standby of %s took %.1f s", segment.name, self.took_s[segment.name])

    def _warmth(self, segment: LiveSegment) -> Warmth:
        return _warmth[*self._identity, segment.name]

    def _free(self, segment: LiveSegment) -> bool:
        """Whether a standby is in nobody's way; the next job of this process goes on with one that was."""
        return not (self._stop.is_set() or segment.changing) and segment.paradigm is Paradigm.DATA_STREAM

    def _idle(self, segment: LiveSegment) -> bool:
        """Whether the processor is not wanted for records that wait: their speed would be measured too low."""
        return self._free(segment) and not segment.behind

    def _warm_up(self, segment: LiveSegment, warmth: Warmth) -> None:
        """One pass after another, all into one topic."""
        topic = f"{segment.output or segment.reads[0].topic}{STANDBY}"
        # A driver that was killed may have left it.
        if topic not in self._cluster.topics():
            self._cluster.create_topic(topic, 1)
        try:
            while self._free(segment) and not warmth.over:
                if segment.behind:
                    self._stop.wait(ASK_S)
                else:
                    self._pass(segment, warmth, topic)
        finally:
            self._cluster.delete_topics([topic])

    def _pass(self, segment: LiveSegment, warmth: Warmth, topic: str) -> None:
        """A query over the log from its beginning, for some batches."""
        checkpoint = self._path(f"{segment.checkpoint}{STANDBY}")
        began_s = time.monotonic()
        remove_checkpoint(checkpoint)
        handle: StreamingQuery | None = None
        try:
            handle = query = self._start(segment, Standby(topic, str(checkpoint), LARGE_RECORDS))
            self._wait(lambda: newest_commit(checkpoint) is not None or not (query.isActive and self._idle(segment)))
            until_s = time.monotonic() + PASS_S
            while query.isActive and self._idle(segment) and time.monotonic() < until_s:
                done = newest_commit(checkpoint) or 0
                segment.warm[Paradigm.OPERATION_STREAM] |= done >= BATCHES - 1
                if done >= PASS_BATCHES - 1:
                    break
                self._stop.wait(ASK_S)
            warmth.batches += len(progress_after(query, -1))
            if not query.isActive:
                raise EngineError(f"it ended: {first_line(query.exception())}")
        finally:
            if handle is not None:
                handle.stop()
            remove_checkpoint(checkpoint)
            warmth.seconds += time.monotonic() - began_s

    def _has_records(self, segment: LiveSegment) -> bool:
        """Whether there is something to work on, or soon will be."""
        topics = [each.topic for each in segment.reads]
        return self._wait(
            lambda: min(sum(self._cluster.end_offsets(topic).values()) for topic in topics) >= LEAST_RECORDS
        )

    def _wait(self, until: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + TIMEOUT_S
        while not until():
            if time.monotonic() > deadline or self._stop.wait(0.1):
                return False
        return True
