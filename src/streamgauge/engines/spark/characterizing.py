"""Samples for a characterisation (BO17): the same preloaded input through every prefix of the stages.

Spark fuses stages, so a stage has no time of its own to read off. Here the pipeline is cut after each operator, the
rows go into a sink that drops them, and the time of an operator is the difference to the cut before it, batch by batch.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamgauge.engines.spark.checkpoint_paths import CheckpointPath, checkpoint_path, remove_checkpoint
from streamgauge.engines.spark.codec import encode_between, encode_output
from streamgauge.engines.spark.compiler import Compiler
from streamgauge.engines.spark.running import first_line
from streamgauge.engines.spark.stage_plans import StagePlan, stage_plan
from streamgauge.model import Application, EngineError, UserError
from streamgauge.model.errors import StreamgaugeError
from streamgauge.model.job import Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from streamgauge.engines.spark.engine import SparkEngine

PASSES = 2
"""Timed passes over the input after one that warms the process and takes rows and bytes."""
EMPTY_BATCHES = 12
"""Batches of almost no rows whose median time is what a batch costs before its first row."""
EMPTY_BATCHES_TIMEOUT_S = 60.0
LIMIT = "maxOffsetsPerTrigger"
_SIZES = "sizes"

Sample = dict[str, Any]


@dataclass
class Cut:
    """The pipeline up to one operator: how its rows are built, and which cuts came before it."""

    name: str
    role: str
    """source, stage or sink."""
    build: Callable[[], DataFrame]
    encode: Callable[[DataFrame], DataFrame]
    """Rows as records, for their bytes and for a sink."""
    before: tuple[str, ...] = ()
    """Cuts whose rows it takes, and whose time is not its own."""
    operator: tuple[str, ...] = ()
    pattern: tuple[str, ...] = ()
    topic: str | None = None
    """A topic that is filled for the cuts behind it."""
    columns: set[str] = field(default_factory=set)
    """What later operators take of its rows; all of them where it is empty."""


class Characterizing:
    """Runs every cut of an application over its input topics and tells what was seen of each batch."""

    def __init__(self, session: SparkSession, engine: SparkEngine, application: Application, job: Job) -> None:
        self._session = session
        self._job = job
        values = engine.resolve(job.settings)
        kafka = {"kafka.bootstrap.servers": job.bootstrap, **job.kafka_options}
        self._application = engine.fitted(application, values)
        self._source_options = {**kafka, **engine.source_options(values)}
        self._sink_options = {**kafka, **engine.sink_options(values)}
        self._output_mode = engine.output_mode
        self._compiler = Compiler(session, self._application, job, self._source_options)
        self._tails: dict[str, str] = {}
        """Topic of a cut → most rows of it in one batch."""
        self._runs = 0

    def samples(self) -> Iterator[Sample]:
        """What each operator is, then a sample per cut, pass and batch; `step` samples tell how far it is."""
        cuts = self._cuts()
        steps, done = len(cuts) * (PASSES + 1) + 1, 0
        for cut in cuts:
            yield _step(f"rows and bytes after {cut.name}", done, steps)
            yield from self._first_pass(cut)
            done += 1
        yield _step("time of an empty batch", done, steps)
        yield {"what": "overhead", "ms": self._empty_batches(cuts[0])}
        done += 1
        for number in range(1, PASSES + 1):
            for cut in cuts:
                yield _step(f"time up to {cut.name}, pass {number}", done, steps)
                yield from self._timed_pass(cut, number)
                done += 1
        yield _step("done", steps, steps)

    def _cuts(self) -> list[Cut]:
        """Sources, then every stage in order with the topic behind it where one lies there, then the sinks."""
        application = self._application
        found = {name: self._source(name) for name in application.inputs}
        for each in application.stages:
            plan = self._plan(each.name)
            before = tuple(self._name(read) for read in each.reads if read not in application.tables)
            for read, columns in plan.columns.items():
                if self._name(read) in found:
                    found[self._name(read)].columns |= columns
            encode = self._encoder(each.name)
            found[each.name] = Cut(
                each.name, "stage", self._builder(each.name), encode, before, plan.operator, plan.pattern
            )
            if each.name in application.cuts:
                head, tail = self._topic(each.name)
                found |= {head.name: head, tail.name: tail}
        for output in application.leaf_outputs():
            name = "sink" if len(application.leaf_outputs()) == 1 else f"sink-{output.stage}"
            encode = _output_encoder(output)
            build = self._builder(output.stage)
            found[name] = Cut(name, "sink", build, encode, (output.stage,), ("sink",), ("forward",))
        self._keep_whole(found)
        return list(found.values())

    def _source(self, name: str) -> Cut:
        key = self._application.inputs[name].key
        pattern = f"log by {key}" if key else "log round robin"
        return Cut(name, "source", self._builder(name), _wire_bytes, (), ("source",), (pattern,))

    def _topic(self, name: str) -> tuple[Cut, Cut]:
        """The two sides of the topic after a cut: rows written to it, and read from it again."""
        key = self._application.stage(name).key
        encode = self._encoder(name)
        topic = self._job.between[name]
        head = Cut(f"to-{name}", "sink", self._builder(name), encode, (name,), ("sink",), ("forward",), topic)
        pattern = "group by" if key else "shuffle"
        tail = Cut(
            f"from-{name}", "source", self._builder(name, tail=True), encode, (head.name,), ("source",), (pattern,)
        )
        return head, tail

    def _keep_whole(self, found: dict[str, Cut]) -> None:
        """A cut whose rows a sink takes is not stripped of columns."""
        for cut in found.values():
            if cut.role == "sink":
                for name in cut.before:
                    found[name].columns.clear()

    def _name(self, read: str) -> str:
        return f"from-{read}" if read in self._application.cuts else read

    def _plan(self, name: str) -> StagePlan:
        stage = self._application.stage(name)
        schemas = {read: self._built(read, tail=read in self._application.cuts).schema for read in stage.reads}
        return stage_plan(self._session, stage, schemas, self._compiler.parameters)

    def _builder(self, name: str, tail: bool = False) -> Callable[[], DataFrame]:
        return lambda: self._built(name, tail)

    def _built(self, name: str, tail: bool) -> DataFrame:
        return self._compiler.frame(name, through_cut=not tail)

    def _encoder(self, name: str) -> Callable[[DataFrame], DataFrame]:
        stage = self._application.stage(name)
        return lambda rows: encode_between(rows, stage)

    def _first_pass(self, cut: Cut) -> Iterator[Sample]:
        """Rows, bytes and state of a cut; a topic is filled for the cuts behind it."""
        from pyspark.sql import functions as fn

        records = cut.encode(cut.build())
        bytes_each = fn.octet_length("value")
        observed = records.observe(_SIZES, fn.count("*").alias("rows"), fn.sum(bytes_each).alias("bytes"))
        progress = self._run(cut, observed, cut.topic)
        seen = [p["observedMetrics"][_SIZES] for p in progress]
        rows = sum(each["rows"] for each in seen)
        if rows == 0:
            raise UserError(
                f"'{cut.name}' of '{self._application.name}' gave no row in {len(progress)} batches",
                "Give more --events, or other parameters",
            )
        if cut.topic is not None:
            self._limit(cut.topic, math.ceil(rows / len(progress)))
        yield {
            "what": "operator",
            "name": cut.name,
            "role": cut.role,
            "before": list(cut.before),
            "operator": list(cut.operator),
            "pattern": list(cut.pattern),
            "rows": [each["rows"] for each in seen],
            "bytes": sum(each["bytes"] or 0 for each in seen) / rows,
            "state": _state(progress),
        }

    def _limit(self, topic: str, rows: int) -> None:
        """From now on read that topic, which is filled, in as many batches as filled it."""
        self._tails[topic] = str(rows)
        self._compiler = Compiler(
            self._session, self._application, self._job, self._source_options, limits=dict(self._tails)
        )

    def _timed_pass(self, cut: Cut, number: int) -> Iterator[Sample]:
        rows = cut.build()
        if cut.role == "sink":
            progress = self._run(cut, cut.encode(rows), next(iter(self._job.outputs.values())))
        else:
            kept = [name for name in rows.columns if not cut.columns or name in cut.columns]
            progress = self._run(cut, rows.select(*kept), None)
        for batch, each in enumerate(progress):
            yield {
                "what": "batch",
                "cut": cut.name,
                "pass": number,
                "batch": batch,
                "rows_read": int(each["numInputRows"]),
                "rows_out": int(each["sink"]["numOutputRows"]),
                "ms": int(each["durationMs"]["addBatch"]),
            }

    def _run(self, cut: Cut, rows: DataFrame, topic: str | None) -> list[Sample]:
        """Drain the input through a cut; the progress of every batch that read something."""
        query = self._start(cut, rows, topic, {"availableNow": True})
        try:
            query.awaitTermination()
        except Exception as error:
            raise _failed(cut, error) from error
        finally:
            self._forget(query)
        found = [json.loads(each.json) for each in query.recentProgress]
        return [each for each in found if each["numInputRows"] > 0]

    def _empty_batches(self, source: Cut) -> list[int]:
        """What a batch costs before its first row, in milliseconds, batch by batch."""
        options = {**self._source_options, LIMIT: "2"}
        compiler = Compiler(self._session, self._application, self._job, options)
        rows = compiler.frame(source.name, through_cut=True).select("origin")
        query = self._start(source, rows, None, {"processingTime": "0 seconds"})
        deadline = time.monotonic() + EMPTY_BATCHES_TIMEOUT_S
        try:
            while len(query.recentProgress) <= EMPTY_BATCHES and query.isActive and time.monotonic() < deadline:
                time.sleep(0.1)
            query.stop()
        finally:
            self._forget(query)
        found = [json.loads(each.json) for each in query.recentProgress]
        return [int(each["durationMs"]["addBatch"]) for each in found if each["numInputRows"] > 0][1:]

    def _start(self, cut: Cut, rows: DataFrame, topic: str | None, trigger: dict[str, Any]) -> StreamingQuery:
        self._runs += 1
        writer = rows.writeStream.outputMode(self._output_mode).trigger(**trigger)
        writer = writer.option("checkpointLocation", str(self._checkpoint()))
        if topic is None:
            writer = writer.format("noop")
        else:
            writer = writer.format("kafka").options(**self._sink_options).option("topic", topic)
        try:
            return writer.start()
        except StreamgaugeError:
            raise
        except Exception as error:
            raise _failed(cut, error) from error

    def _checkpoint(self) -> CheckpointPath:
        return checkpoint_path(self._session, self._job.checkpoint) / f"cut-{self._runs}"

    def _forget(self, query: StreamingQuery) -> None:
        if query.isActive:
            query.stop()
        remove_checkpoint(self._checkpoint())


def _wire_bytes(rows: DataFrame) -> DataFrame:
    return rows.selectExpr("raw as value")


def _output_encoder(output: Any) -> Callable[[DataFrame], DataFrame]:
    return lambda rows: encode_output(rows, output)


def _state(progress: list[Sample]) -> list[Sample]:
    """The state operators of a query, the last one of the plan first: most bytes and rows that each held."""
    found: list[Sample] = []
    for each in progress:
        for position, operator in enumerate(each["stateOperators"]):
            if position == len(found):
                found.append({"operator": operator["operatorName"], "bytes": 0, "rows": 0})
            known = found[position]
            known["bytes"] = max(known["bytes"], int(operator["memoryUsedBytes"]))
            known["rows"] = max(known["rows"], int(operator["numRowsTotal"]))
    return found


def _step(name: str, done: int, steps: int) -> Sample:
    return {"what": "step", "name": name, "done": done, "steps": steps}


def _failed(cut: Cut, error: Exception) -> EngineError:
    return EngineError(f"the cut after '{cut.name}' failed: {first_line(error)}")
