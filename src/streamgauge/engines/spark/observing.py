"""What can be seen of running segments: end offsets, the tail of their outputs, and what micro-batches tell.

All of it is read by one thread of the driver's Python, beside the data path. A look at the ends is one request to the
log; a tail is bounded (`log/tail.py`); progress is two calls to the JVM for each segment.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from streamgauge.engines.spark.checkpoints import committed_offsets, running_batch
from streamgauge.engines.spark.live_segment import LiveSegment, ends_of
from streamgauge.log.cluster import Cluster
from streamgauge.log.tail import Tail, TailRecord
from streamgauge.paradigms.actuator import Observation, SegmentSeen
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.queue import OriginSeen
from streamgauge.paradigms.smoothing import BatchSeen

ASK_S = 1.0
"""The log must answer within this; a look that fails costs a tick."""
BEHIND_S = 0.3
"""An output that took so long waited for others; the end of a batch alone takes less, mostly."""
REMEMBERED = 256
"""Looks at a topic between two segments that are kept to translate origins by."""


class Passage:
    """Where, in a topic between two segments, the records of an input's moment lie.

    An output's origin names the input of the whole chain. What a later segment has answered is counted in records of
    the topic that it reads; the two are tied together by the tail of that topic, whose records carry origins too.
    """

    def __init__(self) -> None:
        self._looks: deque[tuple[int, int, dict[int, int]]] = deque(maxlen=REMEMBERED)

    def note(self, tail: Sequence[TailRecord], ends: Mapping[int, int]) -> None:
        """Take a tail of the topic with the ends below which it was read."""
        origins = [(record.origin[0], record.append_ms) for record in tail if record.origin is not None]
        if not origins:
            return
        newest, appended_ms = max(origins)
        if not self._looks or newest > self._looks[-1][0]:
            self._looks.append((newest, appended_ms, dict(ends)))

    def translated(self, tail: Sequence[TailRecord]) -> tuple[OriginSeen, ...]:
        """The newest of these outputs as a position in every partition of the topic; nothing before it is known."""
        origins = [(record.origin[0], record.append_ms) for record in tail if record.origin is not None]
        if not origins or len(self._looks) < 2:
            return ()
        newest, output_ms = max(origins)
        at = np.array([look[0] for look in self._looks], np.float64)
        if newest < at[0]:
            return ()
        appended_ms = round(float(np.interp(newest, at, [look[1] for look in self._looks])))
        found = []
        for partition in self._looks[-1][2]:
            ends = [look[2].get(partition, 0) for look in self._looks]
            reached = int(np.interp(newest, at, ends))
            if reached > 0:
                found.append(OriginSeen(appended_ms, partition, reached - 1, output_ms))
        return tuple(found)


class Observer:
    """Looks at all segments of a chain; used by one thread."""

    def __init__(self, cluster: Cluster, segments: Sequence[LiveSegment], batch_duration_s: float) -> None:
        self._cluster = cluster
        self._segments = segments
        self._batch_duration_s = batch_duration_s
        topics = {each.topic for segment in segments for each in segment.reads}
        topics |= {segment.output for segment in segments if segment.output is not None}
        self._partitions = {topic: cluster.partitions(topic) for topic in sorted(topics)}
        self._tails = {s.output: Tail(cluster, s.output) for s in segments if s.output is not None}
        self._passages = {each.topic: Passage() for s in segments for each in s.reads if each.between}
        self._begun: set[str] = set()
        self._progress: dict[str, list[dict[str, Any]]] = {segment.name: [] for segment in segments}

    def observe(self) -> Observation:
        """Everything that can be seen now."""
        at_s = time.time()
        ends = self._cluster.ends_of(self._partitions, ASK_S)
        tails = {topic: tail.look(ends[topic]) for topic, tail in self._tails.items()}
        for topic, passage in self._passages.items():
            passage.note(tails.get(topic, ()), ends[topic])
        return Observation(at_s, {each.name: self._seen(each, at_s, ends, tails) for each in self._segments})

    def take(self, segment: LiveSegment) -> list[dict[str, Any]]:
        """New progress of a segment, kept for `taken_progress` too; whoever stops a query takes its last words."""
        with segment.lock:
            new = segment.new_progress()
            self._progress[segment.name] += new
        return new

    def taken_progress(self) -> list[dict[str, Any]]:
        """Progress that was seen since the last call, of all segments."""
        found: list[dict[str, Any]] = []
        for segment in self._segments:
            with segment.lock:
                found += self._progress[segment.name]
                self._progress[segment.name] = []
        return found

    def close(self) -> None:
        """Let the log go."""
        for tail in self._tails.values():
            tail.close()

    def _seen(
        self,
        segment: LiveSegment,
        at_s: float,
        ends: Mapping[str, Mapping[int, int]],
        tails: Mapping[str, Sequence[TailRecord]],
    ) -> SegmentSeen:
        new = self.take(segment)
        with segment.lock:
            paradigm, switching, boundary_s = segment.paradigm, segment.switching, segment.boundary_s
            warm, last_batch_s = segment.warm[segment.paradigm.other], segment.last_batch_s
        flowing = paradigm is Paradigm.DATA_STREAM
        since_s = max(0.0, at_s - boundary_s)
        to_boundary_s, in_batch = max(0.0, self._batch_duration_s - since_s), 0
        if not flowing:
            to_boundary_s, in_batch = _rest_of_batch(segment, at_s, last_batch_s)
        tail = self._origins(segment, tails.get(segment.output or "", ()))
        if tail or not flowing:
            segment.behind = flowing and _waited_s(tail) > BEHIND_S
        return SegmentSeen(
            paradigm=paradigm,
            ends={each.first_partition + p: e for each in segment.reads for p, e in ends[each.topic].items()},
            tail=tail,
            outputs=None if segment.output is None else sum(ends[segment.output].values()),
            consumed=self._consumed(segment, new, ends),
            batches=() if flowing else tuple(map(batch_seen, new)),
            switching=switching,
            warm=warm,
            since_boundary_s=since_s if flowing else 0.0,
            to_boundary_s=to_boundary_s,
            in_batch=in_batch,
        )

    def _consumed(
        self, segment: LiveSegment, new: Sequence[Mapping[str, Any]], ends: Mapping[str, Mapping[int, int]]
    ) -> dict[int, int] | None:
        """What a batch has just told or, at the first look, where the segment begins."""
        first = segment.name not in self._begun
        self._begun.add(segment.name)
        if new:
            return ends_of(new[-1], segment.reads) or None
        if not first:
            return None
        done = {} if segment.folder is None else committed_offsets(segment.folder)
        if not done and not segment.earliest:
            return None
        return {
            each.first_partition + partition: done.get(each.topic, {}).get(partition, 0)
            for each in segment.reads
            for partition in ends[each.topic]
        }

    def _origins(self, segment: LiveSegment, tail: Sequence[TailRecord]) -> tuple[OriginSeen, ...]:
        between = [each for each in segment.reads if each.between]
        if between:
            return tuple(
                replace(origin, partition=each.first_partition + origin.partition)
                for each in between
                for origin in self._passages[each.topic].translated(tail)
            )
        return tuple(OriginSeen(o[0], o[1], o[2], record.append_ms) for record in tail if (o := record.origin))


def _waited_s(tail: Sequence[OriginSeen]) -> float:
    """How long the newest outputs took, most of them."""
    known = [origin.latency_s for origin in tail if origin.latency_s is not None]
    return median(known) if known else 0.0


def batch_seen(progress: Mapping[str, Any]) -> BatchSeen:
    """A finished micro-batch: what was not spent on adding its rows is scheduling."""
    took = dict(progress.get("durationMs") or {})
    whole_s = float(took.get("triggerExecution", 0)) / 1000
    records = int(progress.get("numInputRows") or 0)
    return BatchSeen(records, whole_s, max(0.0, whole_s - float(took.get("addBatch", 0)) / 1000))


def _rest_of_batch(segment: LiveSegment, at_s: float, last_batch_s: float) -> tuple[float, int]:
    """How long the running micro-batch is expected to go on, and how many records it holds."""
    batch = None if segment.folder is None else running_batch(segment.folder)
    if batch is None:
        return 0.0, 0
    assert segment.folder is not None
    done = committed_offsets(segment.folder)
    held = sum(
        max(0, end - done.get(topic, {}).get(partition, 0))
        for topic, ends in batch.ends.items()
        for partition, end in ends.items()
    )
    return max(0.0, last_batch_s - (at_s - batch.began_s)), held
