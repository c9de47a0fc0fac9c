"""From a job file to Flink's statements: the tables and views of inputs, the queries of outputs, and their sinks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from streamgauge.engines.flink import settings as flink_settings
from streamgauge.engines.flink import wire
from streamgauge.engines.flink.description import read_description
from streamgauge.engines.flink.origin import MOST_PARTITIONS
from streamgauge.engines.flink.program import Result, all_programs
from streamgauge.model import EngineError, wanted
from streamgauge.model.job import Job

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Planned:
    """One output: its query, and where its rows go."""

    stage: str
    result: Result
    topic: str

    @property
    def table(self) -> str:
        """The table that its rows are inserted into."""
        return f"sink_{self.stage}"


class JobPlan:
    """What is told to Flink, statement by statement; only the types of the queries' columns are asked back."""

    def __init__(self, job: Job, since_ms: int, tables: Mapping[str, str]) -> None:
        self._job, self._since_ms, self._tables = job, since_ms, tables
        self._described = read_description(job.described)
        self._program = all_programs()[self._described.name]
        self.values = flink_settings.resolved({**job.settings, **self._program.settings})
        self.group = f"{next(iter(job.outputs.values()))}-group"
        self.outputs = [Planned(stage, self._result(stage), job.outputs[stage]) for stage in self._described.outputs]
        if max((each.first_partition for each in job.inputs.values()), default=0) >= MOST_PARTITIONS:
            raise EngineError(f"flink counts at most {MOST_PARTITIONS} partitions over all inputs")

    def _result(self, stage: str) -> Result:
        build = self._program.stages[stage]
        return build(**wanted(build, self._described.parameters))

    @property
    def query(self) -> str:
        """The name of the job's one query: that of its output."""
        return "+".join(each.stage for each in self.outputs)

    def reads(self) -> dict[str, list[str]]:
        """Query → the topics it reads."""
        return {self.query: [where.topic for where in self._job.inputs.values()]}

    def before(self) -> list[str]:
        """Statements that make the tables and views that the queries read."""
        used = {word for each in self.outputs for word in _WORD.findall(each.result.sql)}
        statements = [
            statement
            for name, described in self._described.inputs.items()
            for statement in wire.source(name, described, self._topic(name), used, self._program.event_times.get(name))
        ]
        stored = self._described.tables
        return [*statements, *(wire.stored_table(name, stored[name], path) for name, path in self._tables.items())]

    def _topic(self, name: str) -> wire.Topic:
        where = self._job.inputs[name]
        given = {
            "connector": "kafka",
            "topic": where.topic,
            "scan.startup.mode": "earliest-offset",
            "scan.topic-partition-discovery.interval": "0 s",
            **self._kafka(flink_settings.consumer(self.values)),
            "properties.group.id": self.group,
        }
        return wire.Topic(given, where.first_partition, self._since_ms)

    def _kafka(self, more: Mapping[str, str]) -> dict[str, str]:
        return {
            f"properties.{key}": value
            for key, value in {**kafka_settings(self._job), **more, "bootstrap.servers": self._job.bootstrap}.items()
        }

    def sink(self, output: Planned, columns: wire.Columns) -> str:
        """The statement that makes the table of an output, whose query has these columns."""
        kafka = {
            "topic": output.topic,
            "sink.delivery-guarantee": self.values["sink"],
            **self._kafka(flink_settings.producer(self.values)),
        }
        if self.values["sink"] == "exactly-once":
            kafka["sink.transactional-id-prefix"] = output.topic
        return wire.sink(output.table, columns, self._described.outputs[output.stage], output.result, kafka)

    def insert(self, output: Planned, columns: wire.Columns) -> str:
        """The statement that writes an output."""
        return wire.insert(output.table, columns, output.result, self._since_ms)


def kafka_settings(job: Job) -> dict[str, str]:
    """How the log is reached, in the names of Java's clients."""
    return {key.removeprefix("kafka."): value for key, value in job.kafka_options.items()}
