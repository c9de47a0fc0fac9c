"""A job that runs: its queries started together, watched and stopped together."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

from streamgauge.engines.execution import Offsets, RunningJob
from streamgauge.engines.spark.checkpoint_paths import CheckpointPath, checkpoint_path
from streamgauge.engines.spark.checkpoints import committed_offsets
from streamgauge.engines.spark.compiler import Compiler, Query
from streamgauge.engines.spark.parallelism import SHUFFLE_PARTITIONS
from streamgauge.engines.spark.store_sink import write_to_store
from streamgauge.model import Application, EngineError
from streamgauge.model.job import Job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from streamgauge.engines.spark.engine import SparkEngine

READY_TIMEOUT_S = 60.0
TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"[A-Za-z_][\w.]*: ")
"""What was raised, at the end of Python's words: a class, not indented."""


class SparkRunningJob(RunningJob):
    """The queries of one job, from start to stop."""

    def __init__(self, session: SparkSession, engine: SparkEngine, application: Application, job: Job) -> None:
        self._session = session
        self._engine = engine
        self._job = job
        values = engine.resolve(job.settings)
        kafka = {"kafka.bootstrap.servers": job.bootstrap, **job.kafka_options}
        fitted = engine.fitted(application, values)
        compiler = Compiler(session, fitted, job, {**kafka, **engine.source_options(values)})
        self._plan = compiler.queries()
        self._sink = {**kafka, **engine.sink_options(values)}
        self._trigger = engine.trigger(values)
        self._shuffle_partitions = engine.shuffle_partitions(application, values)
        self._started: list[tuple[Query, StreamingQuery]] = []
        self.starting_ms = 0
        self._reported: dict[str, int] = {}

    def start(self) -> None:
        """Start every query; if one is refused the ones before it are stopped."""
        self.starting_ms = time.time_ns() // 1_000_000
        try:
            for query in self._plan:
                self._started.append((query, self._start(query)))
            self._wait_until_ready()
        except Exception as error:
            self.stop()
            raise EngineError(f"{self._engine.name} refused the job: {first_line(error)}") from error

    def _start(self, query: Query) -> StreamingQuery:
        # A query takes a copy of the session's configuration when it starts.
        if query.name in self._shuffle_partitions:
            self._session.conf.set(SHUFFLE_PARTITIONS, self._shuffle_partitions[query.name])
        writer = self._writer(query).option("checkpointLocation", str(self._checkpoint(query)))
        return writer.outputMode(self._engine.output_mode).trigger(**self._trigger).queryName(query.name).start()

    def _writer(self, query: Query) -> DataStreamWriter:
        if self._job.sink and query.output is not None:
            return write_to_store(query.records, query.output, self._job.sink, query.topic)
        return query.records.writeStream.format("kafka").options(**self._sink).option("topic", query.topic)

    def _wait_until_ready(self) -> None:
        """Return when every query is past its start-up, so that a trial's first seconds are not those of planning."""
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not all(self._is_ready(handle) for _, handle in self._started):
            failure = self.failure()
            if failure:
                raise EngineError(failure)
            if time.monotonic() > deadline:
                raise EngineError(f"the queries were not running after {READY_TIMEOUT_S:.0f} s")
            time.sleep(0.05)

    def _is_ready(self, handle: StreamingQuery) -> bool:
        if not self._engine.holds_slots:
            return not str(handle.status["message"]).startswith("Initializing")
        tracker = self._session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return sum(stage.numActiveTasks for stage in stages if stage) >= len(self._started)

    def _checkpoint(self, query: Query) -> CheckpointPath:
        return checkpoint_path(self._session, self._job.checkpoint) / query.name

    def committed(self) -> dict[str, Offsets]:
        """Query → the offsets that it has committed of each topic it reads."""
        return {query.name: committed_offsets(self._checkpoint(query)) for query, _ in self._started}

    def reads(self) -> dict[str, list[str]]:
        """Query → the topics it reads."""
        return {query.name: list(query.reads) for query in self._plan}

    def new_progress(self) -> list[dict[str, Any]]:
        """Engine progress that was not reported before."""
        found = []
        for query, handle in self._started:
            seen = self._reported.get(query.name, -1)
            last = handle.lastProgress
            if last is None or _batch(last) <= seen:
                continue
            for each in handle.recentProgress:
                if _batch(each) > seen:
                    found.append(json.loads(each.json))
                    self._reported[query.name] = _batch(each)
        return found

    def failure(self) -> str | None:
        """The reason why a query has ended by itself, or None."""
        for query, handle in self._started:
            if not handle.isActive:
                cause = handle.exception()
                return f"query '{query.name}' ended: {first_line(cause) if cause else 'no reason given'}"
        return None

    def stop(self) -> None:
        """Stop every query that still runs."""
        for _, handle in reversed(self._started):
            if handle.isActive:
                handle.stop()


def first_line(error: BaseException | str | None) -> str:
    """The first line of an error that says something, without Java's class names in front; of Python's, its last."""
    traced = str(error).rpartition(TRACEBACK)[2].splitlines() if TRACEBACK in str(error) else []
    for line in traced:
        if _RAISED.match(line):
            return f"a stage's Python failed: {line.strip()}"[:300]
    for line in str(error).splitlines():
        text = line.strip()
        if text and not text.startswith(("at ", "==", "===")):
            return text[:300]
    return type(error).__name__


def _batch(progress: Any) -> int:
    return int(progress.batchId)
