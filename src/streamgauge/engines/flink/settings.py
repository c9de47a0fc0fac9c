"""What the Flink engine can be told, and the configuration of Flink that it becomes."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge.model import Setting, UserError, unknown
from streamgauge.model.cores import available_cores
from streamgauge.model.units import parse_duration_s

CORES = "cores"
SETTINGS = {
    "parallelism": Setting(CORES, "parallel tasks of every operator; cores: as many as the machine has"),
    "checkpoint-interval": Setting("10s", "time between checkpoints; real-time batches on Spark are as long"),
    "buffer-timeout": Setting("1ms", "longest time that a record waits between two tasks for others"),
    "object-reuse": Setting("on", "on: operators of one task hand on records without a copy; off"),
    "mini-batch": Setting("off", "on: aggregates gather records and answer once per key and gathering; off: every one"),
    "mini-batch-size": Setting("5000", "most records that an aggregate gathers"),
    "mini-batch-latency": Setting("50ms", "longest time that an aggregate gathers records"),
    "state": Setting("heap", "heap, or rocksdb with incremental checkpoints"),
    "sink": Setting("at-least-once", "at-least-once, or exactly-once: in transactions, committed at checkpoints"),
    "memory": Setting("3g", "heap of the job's JVM"),
    "checkpoint-location": Setting("", "folder of the checkpoints, or 'memory'; empty: on disk, beside the run's work"),
}
PASSED_ON = ("flink.", "source.", "sink.")
"""Prefixes of settings that go on as they are: to Flink's configuration, the Kafka consumer, the Kafka producer."""

SOURCE = {"fetch.max.wait.ms": "10", "max.poll.records": "5000"}
PRODUCER = {"linger.ms": "1", "batch.size": "131072"}
"""As Spark's real-time mode writes here."""
GATHERED = {"linger.ms": "20"}
"""As Spark's micro-batches write: what was gathered comes at once, and leaves in few full requests."""

_CHOICES = {
    "object-reuse": ("on", "off"),
    "mini-batch": ("on", "off"),
    "state": ("heap", "rocksdb"),
    "sink": ("at-least-once", "exactly-once"),
}
_BACKENDS = {"heap": "hashmap", "rocksdb": "rocksdb"}
TRANSACTION_MS = "900000"
"""How long a transaction of the sink may stay open: what a broker allows by default."""


def known(setting: str) -> bool:
    """Whether there is a setting of that name."""
    return setting in SETTINGS or setting.startswith(PASSED_ON)


def resolved(given: Mapping[str, str]) -> dict[str, str]:
    """All settings with the user's over the defaults; one that is unknown or makes no sense is an error."""
    values = {name: setting.default for name, setting in SETTINGS.items()}
    for name, value in given.items():
        if not known(name):
            raise unknown("setting of flink", name, [*SETTINGS, *(f"{prefix}…" for prefix in PASSED_ON)])
        values[name] = value
    if values["parallelism"] == CORES:
        values["parallelism"] = str(available_cores())
    for name in ("parallelism", "mini-batch-size"):
        if not values[name].isdigit() or int(values[name]) < 1:
            raise UserError(f"{name} is a whole number above 0, not '{values[name]}'")
    for name, choices in _CHOICES.items():
        if values[name] not in choices:
            raise UserError(f"{name} is {' or '.join(choices)}, not '{values[name]}'")
    for name in ("checkpoint-interval", "buffer-timeout", "mini-batch-latency"):
        _milliseconds(values[name])
    if "://" in values["checkpoint-location"]:
        raise UserError(
            f"checkpoint-location is '{values['checkpoint-location']}', and Flink's is looked into from here",
            "Name a folder; with a cluster that is there, one that it sees too",
        )
    if parse_duration_s(values["checkpoint-interval"]) <= 0:
        raise UserError("checkpoint-interval is more than 0", "What is not checkpointed is never committed")
    return values


def configuration(values: Mapping[str, str]) -> dict[str, str]:
    """The configuration of Flink for a job with these settings, the user's own over ours."""
    batched = values["mini-batch"] == "on"
    return {
        "parallelism.default": values["parallelism"],
        "execution.checkpointing.interval": _milliseconds(values["checkpoint-interval"]),
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "execution.checkpointing.incremental": str(values["state"] == "rocksdb").lower(),
        "execution.buffer-timeout.interval": _milliseconds(values["buffer-timeout"]),
        "pipeline.object-reuse": str(values["object-reuse"] == "on").lower(),
        "state.backend.type": _BACKENDS[values["state"]],
        # A job that fails is started again by the laboratory's supervisor, as on every engine.
        "restart-strategy.type": "none",
        "table.local-time-zone": "UTC",
        "table.exec.sink.upsert-materialize": "NONE",
        "table.exec.mini-batch.enabled": str(batched).lower(),
        **(_gathering(values) if batched else {}),
        **_after("flink.", values),
    }


def _gathering(values: Mapping[str, str]) -> dict[str, str]:
    return {
        "table.exec.mini-batch.size": values["mini-batch-size"],
        "table.exec.mini-batch.allow-latency": _milliseconds(values["mini-batch-latency"]),
    }


def consumer(values: Mapping[str, str]) -> dict[str, str]:
    """Settings of the Kafka consumer."""
    return {**SOURCE, **_after("source.", values)}


def producer(values: Mapping[str, str]) -> dict[str, str]:
    """Settings of the Kafka producer."""
    lasting = {"transaction.timeout.ms": TRANSACTION_MS} if values["sink"] == "exactly-once" else {}
    gathered = GATHERED if values["mini-batch"] == "on" else {}
    return {**PRODUCER, **gathered, **lasting, **_after("sink.", values)}


def tuning(given: Mapping[str, str]) -> dict[str, str]:
    """Everything that was set, for the report."""
    values = resolved(given)
    return {
        **{name: value for name, value in values.items() if not name.startswith(PASSED_ON)},
        **configuration(values),
        **{f"source.{name}": value for name, value in consumer(values).items()},
        **{f"sink.{name}": value for name, value in producer(values).items()},
    }


def _milliseconds(duration: str) -> str:
    return f"{round(parse_duration_s(duration) * 1000)} ms"


def _after(prefix: str, values: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
