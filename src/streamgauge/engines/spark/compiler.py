"""From an application's graph of stages to the queries that run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

from streamgauge.engines.spark.codec import decode_between, encode_between, encode_dead_letters, encode_output
from streamgauge.engines.spark.deployment import stored_table
from streamgauge.engines.spark.source import decode_stream, malformed_records, read_topic
from streamgauge.model import Application, Output, Stage, UserError, wanted
from streamgauge.model.errors import StreamgaugeError
from streamgauge.model.job import DEAD_LETTERS, InputTopic, Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Query:
    """One query to start: records for one topic, and the topics that it reads."""

    name: str
    records: DataFrame
    topic: str
    reads: tuple[str, ...]
    output: Output | None = None
    """The output that the records are, where they are one: results may go to another sink than the log."""


@dataclass
class Compiler:
    """Builds frames stage by stage; a frame is built anew in every query that needs it."""

    session: SparkSession
    application: Application
    job: Job
    source_options: Mapping[str, str]
    limits: Mapping[str, str] = field(default_factory=dict)
    """Topic between two queries → most rows of it in one batch, where it has a limit of its own."""

    repeats_within: str | None = None
    """How long a record id is kept to drop repeats by, as `decode_between` takes it; for ever without it."""

    def __post_init__(self) -> None:
        self.parameters = self.application.bind(self.job.parameters)

    def queries(self) -> list[Query]:
        """A query per cut and per leaf output, heads first."""
        heads = [self._head(cut) for cut in self.application.cuts]
        tails = [self._tail(output) for output in self.application.leaf_outputs()]
        return [*heads, *tails, *self._dead_letters()]

    def query(self, name: str) -> Query:
        """One of the queries alone, by its name."""
        for cut in self.application.cuts:
            if name == f"to-{cut}":
                return self._head(cut)
        return self._tail(next(o for o in self.application.leaf_outputs() if o.stage == name))

    def _head(self, cut: str) -> Query:
        frame, reads = self._build(cut, through_cut=True)
        records = encode_between(frame, self.application.stage(cut))
        return Query(f"to-{cut}", records, self.job.between[cut], tuple(reads))

    def _tail(self, output: Output) -> Query:
        frame, reads = self._build(output.stage, through_cut=False)
        return Query(output.stage, encode_output(frame, output), self.job.outputs[output.stage], tuple(reads), output)

    def _dead_letters(self) -> list[Query]:
        """A query of its own for malformed events: a second pass over the input, where it is asked for."""
        if self.job.dead_letters is None:
            return []
        reads: list[str] = []
        frames = []
        for name, stream in self.application.inputs.items():
            records, where = self._records(name, reads)
            frames.append(malformed_records(records, stream, where.first_partition, self.application.required_of(name)))
        return [
            Query(
                DEAD_LETTERS,
                encode_dead_letters(reduce(lambda one, other: one.union(other), frames)),
                self.job.dead_letters,
                tuple(reads),
            )
        ]

    def frame(self, name: str, through_cut: bool) -> DataFrame:
        """The rows of an input or after a stage; those of a stage that a cut follows as they are made, or as read."""
        return self._build(name, through_cut)[0]

    def _build(self, name: str, through_cut: bool) -> tuple[DataFrame, list[str]]:
        reads: list[str] = []
        built: dict[str, DataFrame] = {}
        return self._frame(name, built, reads, through_cut), reads

    def _frame(self, name: str, built: dict[str, DataFrame], reads: list[str], through_cut: bool = False) -> DataFrame:
        if name not in built:
            if name in self.application.inputs:
                built[name] = self._input(name, reads)
            elif name in self.application.tables:
                built[name] = stored_table(self.session, self.job.tables[name])
            elif name in self.application.cuts and not through_cut:
                built[name] = self._behind_cut(name, reads)
            else:
                stage = self.application.stage(name)
                frames = [self._frame(read, built, reads) for read in stage.reads]
                built[name] = self._apply(stage, frames)
        return built[name]

    def _input(self, name: str, reads: list[str]) -> DataFrame:
        records, where = self._records(name, reads)
        required = self.application.required_of(name)
        return decode_stream(records, self.application.inputs[name], where.first_partition, required)

    def _records(self, name: str, reads: list[str]) -> tuple[DataFrame, InputTopic]:
        where = self.job.inputs[name]
        reads.append(where.topic)
        return read_topic(self.session, where.topic, self.source_options), where

    def _behind_cut(self, name: str, reads: list[str]) -> DataFrame:
        schema = self._build(name, through_cut=True)[0].schema
        topic = self.job.between[name]
        reads.append(topic)
        options = {**self.source_options, "includeHeaders": "true"}
        if topic in self.limits:
            options["maxOffsetsPerTrigger"] = self.limits[topic]
        records = read_topic(self.session, topic, options)
        within = None if self._sets_watermark_behind(name) else self.repeats_within
        return decode_between(records, schema, self.application.stage(name).emits, within)

    def _sets_watermark_behind(self, cut: str) -> bool:
        """Whether a stage behind the cut may set a watermark of its own: Spark allows one on the way of a row."""
        later = self.application.stages[[s.name for s in self.application.stages].index(cut) + 1 :]
        return any(stage.uses & {"window", "session-window", "stream-join"} for stage in later)

    def _apply(self, stage: Stage, frames: list[DataFrame]) -> DataFrame:
        arguments: dict[str, Any] = wanted(stage.function, self.parameters)
        try:
            frame: DataFrame = stage(*frames, **arguments)
            return frame
        except StreamgaugeError:
            raise
        except Exception as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise UserError(f"stage '{stage.name}' of '{self.application.name}' failed: {reason}") from error
