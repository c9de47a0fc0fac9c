"""A job of the dual-paradigm engine: its segments' queries, the scheduler's thread, and what both leave behind."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge.engines.execution import Offsets, RunningJob
from streamgauge.engines.spark.adaptive_engine import AdaptiveEngine, PlannedSegment, is_chain
from streamgauge.engines.spark.checkpoint_paths import CheckpointPath, checkpoint_path
from streamgauge.engines.spark.checkpoints import committed_offsets
from streamgauge.engines.spark.compiler import Compiler, Query
from streamgauge.engines.spark.live_segment import LiveSegment, ReadTopic, Standby
from streamgauge.engines.spark.parallelism import SHUFFLE_PARTITIONS
from streamgauge.engines.spark.running import first_line
from streamgauge.engines.spark.scheduled import ScheduledSegments
from streamgauge.log.cluster import Cluster
from streamgauge.model import Application, EngineError
from streamgauge.model.job import DEAD_LETTERS, STANDBY, Job
from streamgauge.model.units import parse_duration_s
from streamgauge.paradigms.driving import Deciding
from streamgauge.paradigms.equations import assumed_figures
from streamgauge.paradigms.keeping import Keeper, KeptFiles
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.range import SegmentPlan
from streamgauge.paradigms.rehearsing import Rehearsal
from streamgauge.paradigms.remembering import remember, remembered
from streamgauge.paradigms.scheduler import Scheduler, Schedulers
from streamgauge.paradigms.tracking import Known, SegmentTracker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

LIMIT = "maxOffsetsPerTrigger"


class AdaptiveRunningJob(RunningJob):
    """The segments of one job, from start to stop."""

    def __init__(self, session: SparkSession, engine: AdaptiveEngine, application: Application, job: Job) -> None:
        self._session, self._engine, self._job = session, engine, job
        self._values = engine.resolve(job.settings)
        self._application, self._planned = engine.plan(application, self._values)
        self._kafka = {"kafka.bootstrap.servers": job.bootstrap, **job.kafka_options}
        self._shuffle_partitions = engine.shuffle_partitions(application, self._values)
        self._compiled = {query.name: query for query in self._compiler(Paradigm.DATA_STREAM).queries()}
        self.starting_ms = 0
        self._kept_files = KeptFiles.beside(Path(job.status_path))
        self._keeper = Keeper(self._kept_files)
        self._segments = [self._live(each) for each in self._planned]
        self._scheduled: ScheduledSegments | None = None
        self._letters: StreamingQuery | None = None
        self._left: dict[str, Any] = {}
        self._identity = (application.name, *self._application.cuts, str(sorted(job.parameters.items())))
        self._trackers: list[SegmentTracker] = []

    def start(self) -> None:
        """Start every segment, then the scheduler beside them."""
        self.starting_ms = time.time_ns() // 1_000_000
        try:
            self._scheduled = ScheduledSegments(
                self._session,
                Cluster.of_spark_options(self._job.bootstrap, self._job.kafka_options),
                self._segments,
                self._scheduler(),
                parse_duration_s(self._values["batch-duration"]),
                before_start=self._before_start,
                standby=self._identity if self._values["standby"] == "on" else None,
                on_switch=self._keeper.switch,
            )
            self._scheduled.start()
            self._start_dead_letters()
        except Exception as error:
            self.stop()
            raise EngineError(f"{self._engine.name} refused the job: {first_line(error)}") from error

    def _scheduler(self) -> Deciding:
        """One scheduler where the segments are a chain; a branch of a graph is decided for by itself."""
        if self._values["rehearse"]:
            free = [each.name for each in self._planned if each.pinned is None]
            return Rehearsal(free, parse_duration_s(self._values["rehearse"]))
        known = remembered(self._identity, self._known())
        settings = self._engine.scheduling(self._values)
        groups = [known] if is_chain(self._application) else [[each] for each in known]
        made = [Scheduler(each, settings, self._keeper.tick, self._keeper.decide) for each in groups]
        self._trackers = [tracker for each in made for tracker in each.trackers.values()]
        return Schedulers(made)

    def _known(self) -> list[Known]:
        plans = [SegmentPlan(each.name, each.stages, each.pinned) for each in self._planned]
        calibration = self._engine.calibration(self._values)
        if calibration is not None and calibration.application == self._application.name:
            return calibration.known(plans)
        return [Known(plan.name, assumed_figures(), pinned=plan.pinned) for plan in plans]

    def _live(self, planned: PlannedSegment) -> LiveSegment:
        query = self._compiled[planned.query]
        first = {where.topic: where.first_partition for where in self._job.inputs.values()}
        between = set(self._job.between.values())
        reads, later = [], max(first.values(), default=0) + 1024
        for topic in query.reads:
            reads.append(ReadTopic(topic, first.get(topic, later), topic in between))
            later += 1024 if topic in between else 0
        return LiveSegment(
            name=planned.name,
            query=planned.query,
            make=_Maker(self, planned),
            checkpoint=str(self._checkpoint(planned.query)),
            reads=tuple(reads),
            output=query.topic,
            paradigm=planned.pinned or Paradigm.DATA_STREAM,
            pinned=planned.pinned,
        )

    def _compiler(self, paradigm: Paradigm, bound: int | None = None) -> Compiler:
        options = {**self._kafka, **self._engine.source_options_in(paradigm, self._values)}
        if bound is not None:
            options[LIMIT] = str(bound)
        within = f"{round(parse_duration_s(self._values['repeats-within']))} seconds"
        return Compiler(self._session, self._application, self._job, options, repeats_within=within)

    def made(
        self, planned: PlannedSegment, paradigm: Paradigm, bound: int | None, standby: Standby | None
    ) -> DataStreamWriter:
        """A segment's query in a paradigm, ready to be started."""
        query = self._compiled[planned.query]
        if paradigm is Paradigm.OPERATION_STREAM:
            limit = self._limit(bound, len(query.reads))
            query = self._compiler(paradigm, limit).query(planned.query)
        trigger = self._engine.paradigm(paradigm).trigger(self._values)
        sink = {**self._kafka, **self._engine.sink_options_in(paradigm, self._values, standby is not None)}
        writer = query.records.writeStream.format("kafka").options(**sink)
        writer = writer.option("topic", standby.topic if standby else query.topic)
        checkpoint = standby.checkpoint if standby else str(self._checkpoint(planned.query))
        name = f"{planned.query}{STANDBY}" if standby else planned.query
        writer = writer.option("checkpointLocation", checkpoint).queryName(name)
        return writer.outputMode(self._engine.output_mode).trigger(**trigger)

    def _limit(self, bound: int | None, sources: int) -> int | None:
        """The bound of each source of a micro-batch query: the lower of the scheduler's and the user's."""
        users = self._values["max-offsets-per-trigger"]
        known = [each for each in (bound, int(users) if users else None) if each is not None]
        return math.ceil(min(known) / max(1, sources)) if known else None

    def _before_start(self, segment: LiveSegment) -> None:
        self._session.conf.set(SHUFFLE_PARTITIONS, str(self._shuffle_partitions[segment.query]))

    def _start_dead_letters(self) -> None:
        """Malformed events are no segment: a query of micro-batches beside them."""
        query: Query | None = self._compiled.get(DEAD_LETTERS)
        if query is None:
            return
        trigger = self._engine.operation.trigger(self._values)
        writer = query.records.writeStream.format("kafka").options(**self._kafka).option("topic", query.topic)
        writer = writer.option("checkpointLocation", str(self._checkpoint(query.name)))
        self._letters = writer.outputMode(self._engine.output_mode).trigger(**trigger).queryName(query.name).start()

    def _checkpoint(self, query: str) -> CheckpointPath:
        return checkpoint_path(self._session, self._job.checkpoint) / query

    def reads(self) -> dict[str, list[str]]:
        """Query → the topics it reads."""
        return {query.name: list(query.reads) for query in self._compiled.values()}

    def committed(self) -> dict[str, Offsets]:
        """Query → the offsets that it has committed of each topic it reads."""
        return {name: committed_offsets(self._checkpoint(name)) for name in self._compiled}

    def new_progress(self) -> list[dict[str, Any]]:
        """Engine progress that was not reported before."""
        if self._scheduled is None:
            return []
        if not self._scheduled.deciding:
            for segment in self._segments:
                self._scheduled.observer.take(segment)
        return self._scheduled.observer.taken_progress()

    def new_decisions(self) -> list[dict[str, Any]]:
        """What the scheduler decided and did not tell before."""
        return self._keeper.new_decisions()

    def failure(self) -> str | None:
        """Why a query, or the scheduler, has ended by itself; None while all is well."""
        if self._letters is not None and not self._letters.isActive:
            return f"query '{DEAD_LETTERS}' ended: {first_line(self._letters.exception())}"
        return None if self._scheduled is None else self._scheduled.failure()

    def stop(self) -> None:
        """Stop the scheduler, the standbys and every query; keep what the scheduler saw."""
        if self._left:
            return
        if self._scheduled is not None:
            self._scheduled.stop()
        if self._letters is not None and self._letters.isActive:
            self._letters.stop()
        self._keeper.close()
        remember(self._identity, self._trackers)
        self._left = self._facts()

    def keeps(self) -> dict[str, str]:
        """The files of what the scheduler sees, decides and has carried out."""
        return self._kept_files.as_dict()

    def left_behind(self) -> dict[str, Any]:
        """The segments, and what was done to them."""
        return self._left

    def _facts(self) -> dict[str, Any]:
        return {
            "segments": [_described(each) for each in self._planned],
            "decisions": self._keeper.decided,
            **({} if self._scheduled is None else self._scheduled.facts()),
        }


class _Maker:
    """A segment's own way to its queries."""

    def __init__(self, job: AdaptiveRunningJob, planned: PlannedSegment) -> None:
        self._job, self._planned = job, planned

    def __call__(self, paradigm: Paradigm, bound: int | None, standby: Standby | None = None) -> DataStreamWriter:
        return self._job.made(self._planned, paradigm, bound, standby)


def _described(planned: PlannedSegment) -> dict[str, Any]:
    pinned = None if planned.pinned is None else planned.pinned.value
    return {"name": planned.name, "stages": list(planned.stages), "pinned": pinned, "reason": planned.reason}
