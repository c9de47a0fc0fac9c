"""A segment that runs: its query now, how the next one is made, and what is known of both."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from streamgauge.engines.spark.checkpoint_paths import is_elsewhere, local_path
from streamgauge.engines.spark.prepared import Prepared
from streamgauge.paradigms.paradigm import How, Paradigm

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class QueryMaker(Protocol):
    """Makes a segment's query, with source, sink, output mode, trigger and checkpoint, ready to be started."""

    def __call__(self, paradigm: Paradigm, bound: int | None, standby: Standby | None = None) -> DataStreamWriter:
        """`bound` is the most records of a micro-batch; a standby has a topic and a checkpoint of its own."""
        ...


@dataclass(frozen=True)
class Standby:
    """Where a standby writes and keeps its state, so that it meets nothing of the segment's own."""

    topic: str
    checkpoint: str
    records: int
    """Most records of one of its batches."""


@dataclass(frozen=True)
class ReadTopic:
    """A topic that a segment reads, and the number of its first partition counted over all of them."""

    topic: str
    first_partition: int = 0
    between: bool = False
    """Whether another segment writes it: then origins count other records than this topic's."""


@dataclass(frozen=True)
class SwitchDone:
    """A switch that was carried out, in seconds since the epoch."""

    segment: str
    to: Paradigm
    how: How
    ordered_s: float
    prepared_s: float
    """When the new query was ready to be started."""
    stopped_s: float
    """When the old query was told to stop."""
    ended_s: float
    """When it had ended."""
    started_s: float
    reading_s: float
    """When the new query read its input."""
    warm: bool
    finished: bool = False
    """Whether a micro-batch that the stop broke off was done to its end in between."""
    failure: str = ""
    """Why the new query could not be started; then the old paradigm runs again."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {**vars(self), "to": self.to.value, "how": self.how.value, "gap_s": self.reading_s - self.stopped_s}


def began(segment: str, to: Paradigm, how: How, stopped_s: float) -> dict[str, Any]:
    """The middle of a switch has begun: from here until the new query reads, none runs."""
    return {"what": "began", "segment": segment, "to": to.value, "how": how.value, "stopped_s": stopped_s}


@dataclass
class LiveSegment:
    """One segment; `lock` guards what the switching thread and the looking thread both touch."""

    name: str
    query: str
    make: QueryMaker
    checkpoint: str
    reads: tuple[ReadTopic, ...]
    output: str | None
    """The topic that it writes, where it is a topic with origins."""
    paradigm: Paradigm = Paradigm.DATA_STREAM
    pinned: Paradigm | None = None
    earliest: bool = True
    """Whether its first query begins with what lies in its input already."""
    handle: StreamingQuery | None = None
    changing: bool = False
    """From the order on."""
    switching: bool = False
    """From the stop of the old query until the new one reads."""
    warm: dict[Paradigm, bool] = field(default_factory=lambda: dict.fromkeys(Paradigm, False))
    behind: bool = False
    """Whether its newest outputs had to wait for long."""
    started_s: float = 0.0
    """When the present query was started, seconds since the epoch."""
    boundary_s: float = 0.0
    """When its last batch ended, or it was started."""
    last_batch_s: float = 0.0
    """How long its last micro-batch took."""
    told: int = -1
    """The newest batch whose progress was taken."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    prepared: Prepared = field(init=False)
    finishing: Prepared = field(init=False)
    """The query of the one micro-batch that the stop of others may have broken off."""

    def __post_init__(self) -> None:
        self.prepared = Prepared(self.make)
        self.finishing = Prepared(lambda paradigm, bound: self.make(paradigm, bound).trigger(once=True))

    @property
    def folder(self) -> Path | None:
        """The checkpoint where it can be looked into; one in another file system cannot."""
        return None if is_elsewhere(self.checkpoint) else local_path(self.checkpoint)

    @property
    def failure(self) -> str | None:
        """Why its query has ended by itself, or None."""
        from streamgauge.engines.spark.running import first_line

        with self.lock:
            if self.switching or self.handle is None or self.handle.isActive:
                return None
            cause = self.handle.exception()
            return f"query '{self.query}' ended: {first_line(cause) if cause else 'no reason given'}"

    def begin(self, handle: StreamingQuery, paradigm: Paradigm) -> None:
        """A new query runs."""
        with self.lock:
            self.handle, self.paradigm = handle, paradigm
            self.started_s = self.boundary_s = time.time()

    def new_progress(self) -> list[dict[str, Any]]:
        """What its query has told of batches since the last call, oldest first."""
        with self.lock:
            if self.handle is None:
                return []
            found = progress_after(self.handle, self.told)
            flowing = self.paradigm is Paradigm.DATA_STREAM
            for each in found:
                each["flowing"] = flowing
                self.told = max(self.told, int(each["batchId"]))
            if found:
                self.boundary_s = time.time()
                took = (found[-1].get("durationMs") or {}).get("triggerExecution")
                self.last_batch_s = self.last_batch_s if took is None else took / 1000
            return found


def progress_after(handle: StreamingQuery, batch: int) -> list[dict[str, Any]]:
    """Progress of batches after that one, oldest first; two calls to the JVM where there is nothing new.

    PySpark's own `lastProgress` takes a progress apart with dozens of calls, which is too dear ten times a second.
    """
    query = handle._jsq
    last = query.lastProgress()
    if last is None or last.batchId() <= batch:
        return []
    kept = query.recentProgress()
    found: list[dict[str, Any]] = []
    for place in range(len(kept) - 1, -1, -1):
        if kept[place].batchId() <= batch:
            break
        found.append(json.loads(kept[place].json()))
    # A query that has nothing to do tells of the batch that it will run, under the number that this will have.
    return [each for each in reversed(found) if "addBatch" in (each.get("durationMs") or {})]


def ends_of(progress: Mapping[str, Any], reads: tuple[ReadTopic, ...]) -> dict[int, int]:
    """Partition, counted over all topics that are read → the offset up to which a batch has gone."""
    first = {each.topic: each.first_partition for each in reads}
    found: dict[int, int] = {}
    for source in progress.get("sources") or ():
        for topic, ends in (source.get("endOffset") or {}).items():
            if topic in first:
                found.update({first[topic] + int(partition): int(end) for partition, end in ends.items()})
    return found
