"""PySpark stages between two Kafka topics, each segment moved between real time and micro-batches as the load asks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge.engines import get_engine
from streamgauge.engines.spark.adaptive_engine import OWN_PRODUCER, AdaptiveEngine, pins
from streamgauge.engines.spark.codec import check_origin, decode_between, encode_between, origin_headers
from streamgauge.engines.spark.live_segment import LiveSegment, ReadTopic, Standby
from streamgauge.engines.spark.scheduled import ScheduledSegments
from streamgauge.engines.spark.source import record_origin
from streamgauge.log.cluster import Cluster
from streamgauge.model import EngineError, Stage, UserError
from streamgauge.model.job import STANDBY
from streamgauge.model.units import parse_duration_s
from streamgauge.paradigms.decisions import Decision
from streamgauge.paradigms.equations import assumed_figures
from streamgauge.paradigms.keeping import Keeper, KeptFiles
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.range import SegmentPlan, plan_segments
from streamgauge.paradigms.remembering import remember, remembered
from streamgauge.paradigms.scheduler import Scheduler
from streamgauge.paradigms.tracking import Known

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

BOOTSTRAP = "kafka.bootstrap.servers"
LIMIT = "maxOffsetsPerTrigger"
LOOK_S = 0.5
BETWEEN_FIRST = 1024
"""Partitions of topics between segments are numbered far from those of the source."""


def run_adaptive(
    session: SparkSession,
    stages: Sequence[Stage | Callable[[DataFrame], DataFrame]],
    source: Mapping[str, str],
    sink: Mapping[str, str],
    checkpoint: str,
    *,
    between: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
    name: str = "adaptive",
    on_decision: Callable[[Decision], None] | None = None,
    decisions: Path | str | None = None,
) -> AdaptiveQuery:
    """Start stages between two topics and return at once; each stage takes the frame of the one before.

    `source` and `sink` are options of Spark's Kafka source (`subscribe` with one topic) and sink (`topic`). The first
    stage is given Kafka's columns and `origin`; the last returns `value`, perhaps `key`, and `origin`, which becomes a
    header of every output: without it nobody could see how far the query is. `between` cuts the chain: stage → a topic
    that exists. `settings` are those of spark-adaptive (`streamgauge list engines`).
    """
    query = AdaptiveQuery(session, stages, source, sink, checkpoint, between or {}, settings or {}, name)
    query.begin(on_decision, None if decisions is None else Path(decisions))
    return query


class AdaptiveQuery:
    """A running chain; `run_adaptive` starts one."""

    def __init__(
        self,
        session: SparkSession,
        stages: Sequence[Stage | Callable[[DataFrame], DataFrame]],
        source: Mapping[str, str],
        sink: Mapping[str, str],
        checkpoint: str,
        between: Mapping[str, str],
        settings: Mapping[str, str],
        name: str,
    ) -> None:
        engine = get_engine("spark-adaptive")
        assert isinstance(engine, AdaptiveEngine)
        self._session, self._engine, self._name = session, engine, name
        self._stages = [each if isinstance(each, Stage) else Stage(each.__name__, each) for each in stages]
        self._source, self._sink = _checked(source, "source", "subscribe"), _checked(sink, "sink", "topic")
        self._checkpoint, self._between = checkpoint.rstrip("/"), dict(between)
        self._values = engine.resolve(settings)
        self._plans = plan_segments([s.name for s in self._stages], tuple(between), pins(self._values))
        self._identity = (name, *(s.name for s in self._stages))
        self._keeper: Keeper | None = None
        self._scheduler: Scheduler | None = None
        self._scheduled: ScheduledSegments | None = None
        self._stopped = threading.Event()

    @property
    def segments(self) -> dict[str, Paradigm]:
        """Segment → the paradigm that it is in."""
        return {} if self._scheduled is None else {each.name: each.paradigm for each in self._live}

    def begin(self, on_decision: Callable[[Decision], None] | None, decisions: Path | None) -> None:
        """Start every segment, and the scheduler."""
        self._configure()
        self._keeper = Keeper(KeptFiles(decisions=decisions))
        self._live = [self._segment(place, plan) for place, plan in enumerate(self._plans)]
        known = [Known(plan.name, assumed_figures(), pinned=plan.pinned) for plan in self._plans]
        self._scheduler = scheduler = Scheduler(
            remembered(self._identity, known),
            self._engine.scheduling(self._values),
            on_decision=_both(self._keeper.decide, on_decision),
        )
        self._scheduled = ScheduledSegments(
            self._session,
            Cluster.of_spark_options(self._source[BOOTSTRAP], _security(self._source)),
            self._live,
            scheduler,
            parse_duration_s(self._values["batch-duration"]),
            standby=self._identity if self._values["standby"] == "on" else None,
        )
        self._scheduled.start()

    def failure(self) -> str | None:
        """Why it has ended by itself, or None."""
        return None if self._scheduled is None else self._scheduled.failure()

    def await_termination(self, timeout_s: float | None = None) -> bool:
        """Wait until it is stopped, True, or the time is over, False; what ends it by itself is raised."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._stopped.wait(LOOK_S):
            reason = self.failure()
            if reason is not None:
                self.stop()
                raise EngineError(reason, "Start it again with the same checkpoint: it goes on where it was")
            if deadline is not None and time.monotonic() > deadline:
                return False
        return True

    def stop(self) -> dict[str, Any]:
        """Stop every query; says what was switched, and what looking at it cost."""
        self._stopped.set()
        if self._scheduled is None or self._keeper is None:
            return {}
        self._scheduled.stop()
        self._keeper.close()
        if self._scheduler is not None:
            remember(self._identity, self._scheduler.trackers.values())
        return {"decisions": self._keeper.decided, **self._scheduled.facts()}

    def _configure(self) -> None:
        """Set what both paradigms need of a session; the shuffle's own settings are fixed when Spark starts."""
        for key, value in self._engine.session_settings(self._values).items():
            if key.startswith("spark.sql."):
                self._session.conf.set(key, value)

    def _segment(self, place: int, plan: SegmentPlan) -> LiveSegment:
        before = self._plans[place - 1].name if place else None
        topic = self._source["subscribe"] if before is None else self._between[before]
        read = ReadTopic(topic, 0 if before is None else BETWEEN_FIRST * place, before is not None)
        output = self._between.get(plan.name, self._sink["topic"])

        def make(paradigm: Paradigm, bound: int | None, standby: Standby | None = None) -> DataStreamWriter:
            return self._writer(place, plan, paradigm, bound, standby)

        return LiveSegment(
            name=plan.name,
            query=f"{self._name}-{plan.name}",
            make=make,
            checkpoint=f"{self._checkpoint}/{plan.name}",
            reads=(read,),
            output=output,
            paradigm=plan.pinned or Paradigm.DATA_STREAM,
            pinned=plan.pinned,
            earliest=before is not None or self._source.get("startingOffsets") == "earliest",
        )

    def _writer(
        self, place: int, plan: SegmentPlan, paradigm: Paradigm, bound: int | None, standby: Standby | None
    ) -> DataStreamWriter:
        limit = bound if paradigm is Paradigm.OPERATION_STREAM else None
        records = self._records(place, plan, self._source_options(paradigm, limit, standby is not None))
        topic = standby.topic if standby else self._between.get(plan.name, self._sink["topic"])
        writer = records.writeStream.format("kafka").options(**self._sink_options(paradigm, topic, standby is not None))
        writer = writer.queryName(f"{self._name}-{plan.name}{STANDBY if standby else ''}").outputMode("update")
        writer = writer.option(
            "checkpointLocation", standby.checkpoint if standby else f"{self._checkpoint}/{plan.name}"
        )
        return writer.trigger(**self._engine.paradigm(paradigm).trigger(self._values))

    def _source_options(self, paradigm: Paradigm, limit: int | None, standby: bool) -> dict[str, str]:
        """The user's over the paradigm's; a standby always has what the log holds to work on."""
        options = {**self._engine.source_options_in(paradigm, self._values), **self._source}
        if limit is not None:
            options[LIMIT] = str(limit)
        return {**options, "startingOffsets": "earliest"} if standby else options

    def _sink_options(self, paradigm: Paradigm, topic: str, standby: bool) -> dict[str, str]:
        """The user's over the paradigm's; a standby has a producer of its own."""
        options = {**self._engine.sink_options_in(paradigm, self._values), **self._sink, "topic": topic}
        return {**options, **OWN_PRODUCER} if standby else options

    def _records(self, place: int, plan: SegmentPlan, options: Mapping[str, str]) -> DataFrame:
        """The segment's rows as records of its topic."""
        frame = self._frame(place, options)
        last = plan.stages[-1]
        check_origin(frame, last)
        if last in self._between:
            return encode_between(frame, next(s for s in self._stages if s.name == last))
        columns = [name for name in ("key", "value") if name in frame.columns]
        if "value" not in columns:
            raise UserError(f"the last stage '{last}' returns no column 'value'", "It is what is written to the topic")
        return frame.select(*columns, origin_headers().alias("headers"))

    def _frame(self, place: int, options: Mapping[str, str]) -> DataFrame:
        """The rows after the last stage of a segment."""
        plan = self._plans[place]
        if place == 0:
            records = self._session.readStream.format("kafka").options(**options).load()
            frame = records.select("*", record_origin())
        else:
            frame = self._behind(self._plans[place - 1], place, options)
        for name in plan.stages:
            frame = next(s for s in self._stages if s.name == name)(frame)
        return frame

    def _behind(self, before: SegmentPlan, place: int, options: Mapping[str, str]) -> DataFrame:
        topic = {"subscribe": self._between[before.name], "startingOffsets": "earliest", "includeHeaders": "true"}
        records = self._session.readStream.format("kafka").options(**{**options, **topic}).load()
        stage = next(s for s in self._stages if s.name == before.name)
        within = f"{round(parse_duration_s(self._values['repeats-within']))} seconds"
        own = any(s.uses & {"window", "session-window"} for s in self._stages if s.name in self._plans[place].stages)
        schema = self._frame(place - 1, options).schema
        return decode_between(records, schema, stage.emits, None if own else within)


def _checked(options: Mapping[str, str], what: str, needed: str) -> dict[str, str]:
    for key in (BOOTSTRAP, needed):
        if not options.get(key):
            raise UserError(
                f"the {what} has no option '{key}'", f"Give it to {what}={{…}} as Spark's Kafka {what} takes it"
            )
    return dict(options)


def _security(options: Mapping[str, str]) -> dict[str, str]:
    """The options that say how to connect, apart from where."""
    kept = ("kafka.security.", "kafka.sasl.", "kafka.ssl.")
    return {key: value for key, value in options.items() if key.startswith(kept)}


def _both(first: Callable[[Decision], None], second: Callable[[Decision], None] | None) -> Callable[[Decision], None]:
    def told(decision: Decision) -> None:
        first(decision)
        if second is not None:
            second(decision)

    return told
