"""spark-realtime: Structured Streaming's real-time mode, a record at a time through long-lived tasks (EN2)."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge.engines.spark.engine import FORGETS_TOPICS, SparkEngine
from streamgauge.model import Gap, Setting
from streamgauge.model.application import Feature
from streamgauge.model.units import parse_duration_s


def _trigger(values: Mapping[str, str]) -> dict[str, str]:
    return {"realTime": f"{round(parse_duration_s(values['batch-duration']) * 1000)} milliseconds"}


def _refused(what: str) -> Gap:
    return Gap("not-yet", f"Spark 4.3 refuses {what} in real-time mode")


_MISSING: dict[Feature, Gap] = {
    "stream-join": _refused("a join of two streams"),
    "session-window": _refused("session windows"),
    "python-udf": _refused("Python functions"),
    "python-state": _refused("Python state processors"),
}

ENGINE = SparkEngine(
    name="spark-realtime",
    about="Structured Streaming in real-time mode: a record at a time, latency of milliseconds",
    trigger=_trigger,
    output_mode="update",
    settings={
        "batch-duration": Setting("10s", "time between checkpoints; not the latency. Output pauses briefly at each"),
    },
    spark={
        "spark.sql.streaming.realTimeMode.minBatchDuration": "1000",
        "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
    },
    source={"kafka.fetch.max.wait.ms": "10"},
    # A millisecond gathers the rows of an event, and under load of many: a full log drains by a sixth faster, for less
    # than a millisecond of latency.
    sink={"kafka.linger.ms": "1", "kafka.batch.size": "131072", **FORGETS_TOPICS},
    missing=_MISSING,
    warming={"batch-duration": "2s"},
    holds_slots=True,
)
