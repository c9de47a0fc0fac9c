"""An engine on Spark as a value: its trigger, its tuning, and its gaps."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamgauge.engines.spark import parallelism
from streamgauge.model import Application, Gap, Guarantee, Place, Setting, UserError, unknown
from streamgauge.model.application import DEFAULT_VARIANT, Feature, Stage

if TYPE_CHECKING:
    from streamgauge.engines.execution import RunningJob
    from streamgauge.engines.spark.session import SparkJobSession
    from streamgauge.model.job import Job

OF_STAGES = ("variant.", parallelism.PREFIX)
PASSED_ON = ("spark.", "source.", "sink.", *OF_STAGES)
"""Prefixes of settings that go on as they are: to Spark's configuration, the Kafka source, the Kafka sink, a stage."""

SHARED_SETTINGS = {
    "shuffle-partitions": Setting("2", "tasks of every stage after a shuffle"),
    "driver-memory": Setting("3g", "heap of the job's JVM"),
    "checkpoint-location": Setting("", "folder of the checkpoints, or 'memory'; empty: on disk, beside the run's work"),
}

BEGUN_AGAIN = {"spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false"}
"""A query that ended within its first batch left state and no commit: Spark would refuse to begin that batch again."""

FORGETS_TOPICS = {"kafka.metadata.max.idle.ms": "5000"}
"""Spark keeps its producer from one job to the next, and with it the topics of earlier ones. Where those that are gone
were not forgotten, later jobs in real time were seen to stand still for up to 200 ms, many times a minute."""


@dataclass(frozen=True)
class SparkEngine:
    """One way of running stages on Spark."""

    name: str
    about: str
    trigger: Callable[[Mapping[str, str]], dict[str, str]]
    """Settings → the keyword argument of `DataStreamWriter.trigger`."""
    output_mode: str
    settings: Mapping[str, Setting]
    spark: Mapping[str, str] = field(default_factory=dict)
    """Spark configuration that belongs to this engine's tuning."""
    source: Mapping[str, str] = field(default_factory=dict)
    """Options of the Kafka source."""
    sink: Mapping[str, str] = field(default_factory=dict)
    """Options of the Kafka sink."""
    source_settings: Mapping[str, str] = field(default_factory=dict)
    """Engine setting → option of the Kafka source that it sets when it is not empty."""
    state_store: str = "rocksdb"
    warming: Mapping[str, str] = field(default_factory=dict)
    """Settings for a discarded pass: the ends of batches must have been seen before a trial is measured."""
    missing: Mapping[Feature, Gap] = field(default_factory=dict)
    guarantee: Guarantee = Guarantee()
    holds_slots: bool = False
    """Whether every task of a query keeps its slot for the query's whole life."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", {**self.settings, **SHARED_SETTINGS})

    def gap(self, application: Application) -> Gap | None:
        """Why this engine cannot run the application, or None."""
        for stage in application.stages:
            if self._variant_of(stage) is None:
                feature, found = self._lacking(stage.uses)
                return Gap(found.kind, f"stage '{stage.name}' uses {feature}: {found.reason}")
        if application.cuts and "deduplicate" in self.missing:
            return Gap(
                self.missing["deduplicate"].kind, f"a cut needs deduplicate: {self.missing['deduplicate'].reason}"
            )
        return None

    def sink_gap(self) -> Gap | None:
        """Why this engine cannot write results to a store beside the log, or None."""
        if not self.holds_slots:
            return None
        return Gap("not-yet", f"{self.name} writes to the log alone: a store is written batch by batch")

    def dead_letters_gap(self) -> Gap | None:
        """None: malformed events go to a topic of their own."""
        return None

    def place_gap(self, place: Place) -> Gap | None:
        """Why this engine cannot run at that place, or None."""
        foreign = place.runs not in ("", "spark")
        return Gap("never", f"{place.spelling} runs no Spark: use local, or cluster:N") if foreign else None

    @property
    def environment(self) -> None:
        """None: Spark lives in this program's own environment."""
        return None

    def described(self, application: Application, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Nothing: the job process imports the application."""
        return {}

    def fitted(self, application: Application, given: Mapping[str, str]) -> Application:
        """The application with the variants that the user chose or, where none was chosen, that this engine can run."""
        chosen = _after("variant.", given)
        found = {s.name: self._variant_of(s) or DEFAULT_VARIANT for s in application.stages}
        return application.with_variants({**found, **chosen})

    def cut(self, application: Application, given: Mapping[str, str]) -> Application:
        """The application with the cuts that it is run with: its own."""
        return application

    def variants(self, application: Application, given: Mapping[str, str]) -> dict[str, str]:
        """Stage → the variant that runs, for the stages that have a choice."""
        chosen = _after("variant.", given)
        found = {s.name: self._variant_of(s) or DEFAULT_VARIANT for s in application.stages if s.variants}
        return {**found, **chosen}

    def _variant_of(self, stage: Stage) -> str | None:
        for name in (DEFAULT_VARIANT, *stage.variants):
            if not stage.using_variant(name).uses & set(self.missing):
                return name
        return None

    def _lacking(self, uses: frozenset[Feature]) -> tuple[str, Gap]:
        return next((feature, self.missing[feature]) for feature in sorted(uses) if feature in self.missing)

    def knows(self, setting: str) -> bool:
        """Whether this engine has a setting of that name."""
        return setting in self.settings or setting.startswith(PASSED_ON)

    def resolve(self, given: Mapping[str, str]) -> dict[str, str]:
        """All engine settings with the user's over the defaults; an unknown one is an error."""
        values = {name: setting.default for name, setting in self.settings.items()}
        for name, value in given.items():
            if self.knows(name):
                values[name] = value
            else:
                raise unknown(f"setting of {self.name}", name, [*self.settings, *(f"{p}…" for p in PASSED_ON)])
        if not values["shuffle-partitions"].isdigit() or int(values["shuffle-partitions"]) < 1:
            raise UserError(f"shuffle-partitions is a whole number, not '{values['shuffle-partitions']}'")
        parallelism.check_numbers(values)
        self.trigger(values)
        return values

    def slots_needed(self, application: Application, partitions: int, given: Mapping[str, str]) -> int:
        """Task slots that must be free before the start: too few would starve the queries in silence."""
        shuffle = self.shuffle_partitions(application, given)
        if not self.holds_slots:
            return max(partitions, *shuffle.values())
        exchanges = [shuffle[query] * len(stages) for query, stages in self.stateful_stages(application, given).items()]
        # The reader of a topic between two queries drops repeats, which is an exchange too.
        exchanges += [max(shuffle.values())] * len(application.cuts)
        return len(shuffle) * partitions + max(sum(exchanges), *shuffle.values())

    def stateful_stages(self, application: Application, given: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """Query → its stages that rows are exchanged for: those whose parallelism can be set."""
        return parallelism.stateful_stages(self.fitted(application, given))

    def shuffle_partitions(self, application: Application, given: Mapping[str, str]) -> dict[str, int]:
        """Query → its shuffle partitions; a parallelism of a stage that has none is an error."""
        otherwise = int(self.session_settings(given)[parallelism.SHUFFLE_PARTITIONS])
        return parallelism.shuffle_partitions(self.fitted(application, given), given, otherwise)

    def session_settings(self, given: Mapping[str, str]) -> dict[str, str]:
        """Spark configuration that is fixed when the session starts; trials share a JVM only if it is equal."""
        values = self.resolve(given)
        own = {name: value for name, value in values.items() if name.startswith("spark.")}
        return {
            parallelism.SHUFFLE_PARTITIONS: values["shuffle-partitions"],
            "spark.driver.memory": values["driver-memory"],
            **BEGUN_AGAIN,
            **self.spark,
            **_state_store(values.get("state-store", self.state_store)),
            **own,
        }

    def source_options(self, values: Mapping[str, str]) -> dict[str, str]:
        """Options of the Kafka source under these settings."""
        chosen = {option: values[name] for name, option in self.source_settings.items() if values.get(name)}
        return {**self.source, **chosen, **_after("source.", values)}

    def sink_options(self, values: Mapping[str, str]) -> dict[str, str]:
        """Options of the Kafka sink under these settings."""
        return {**self.sink, **_after("sink.", values)}

    def tuning(self, application: str, given: Mapping[str, str]) -> dict[str, str]:
        """Everything that is set for this application, for the report."""
        values = self.resolve(given)
        return {
            **{k: v for k, v in values.items() if not k.startswith(PASSED_ON)},
            **self.session_settings(given),
            **{f"source.{k}": v for k, v in self.source_options(values).items()},
            **{f"sink.{k}": v for k, v in self.sink_options(values).items()},
            **{k: v for k, v in values.items() if k.startswith(OF_STAGES)},
        }

    def job_command(self, session_file: str) -> list[str]:
        """The command that starts a job process: this Python, with the session file as its argument."""
        return [sys.executable, "-m", "streamgauge.job", session_file]

    def running(self, session: Any, application: Application, job: Job) -> RunningJob:
        """The job in a Spark session, not yet started."""
        from streamgauge.engines.spark.running import SparkRunningJob

        return SparkRunningJob(session, self, application, job)

    def open(self, session: Mapping[str, Any]) -> SparkJobSession:
        """Start Spark in this process, as the session file says."""
        from streamgauge.engines.spark.session import SparkJobSession

        return SparkJobSession(self, session)


def _after(prefix: str, values: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


def _state_store(kind: str) -> dict[str, str]:
    package = "org.apache.spark.sql.execution.streaming.state"
    key = "spark.sql.streaming.stateStore"
    if kind == "hdfs":
        return {f"{key}.providerClass": f"{package}.HDFSBackedStateStoreProvider"}
    if kind == "rocksdb":
        return {
            f"{key}.providerClass": f"{package}.RocksDBStateStoreProvider",
            f"{key}.rocksdb.changelogCheckpointing.enabled": "true",
            f"{key}.rocksdb.trackTotalNumberOfRows": "false",
            f"{key}.checkpointFormatVersion": "2",
        }
    raise UserError(f"state-store is hdfs or rocksdb, not '{kind}'")
