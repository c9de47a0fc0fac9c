"""spark-microbatch: Structured Streaming's micro-batches, one after another or at a trigger interval (EN1)."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge.engines.spark.engine import FORGETS_TOPICS, SparkEngine
from streamgauge.model import Gap, Setting, UserError
from streamgauge.model.units import parse_duration_s


def _trigger(values: Mapping[str, str]) -> dict[str, str]:
    milliseconds = round(parse_duration_s(values["trigger"]) * 1000)
    if values["max-offsets-per-trigger"] and not values["max-offsets-per-trigger"].isdigit():
        raise UserError(f"max-offsets-per-trigger is a number of events, not '{values['max-offsets-per-trigger']}'")
    return {"processingTime": f"{milliseconds} milliseconds"}


ENGINE = SparkEngine(
    name="spark-microbatch",
    about="Structured Streaming in micro-batches: every operator, high throughput, latency of a batch",
    trigger=_trigger,
    output_mode="update",
    settings={
        "trigger": Setting("0s", "time between the starts of batches; 0s starts the next as soon as one ends"),
        "max-offsets-per-trigger": Setting("", "most events in one batch; empty for no limit"),
        "state-store": Setting("hdfs", "hdfs (in memory, faster here) or rocksdb"),
    },
    missing={"row-updates": Gap("never", "a micro-batch answers once per key and batch, not for every event")},
    source={"kafka.fetch.max.wait.ms": "10", "kafka.max.poll.records": "5000"},
    # A task flushes what it wrote when it ends, so waiting for fuller requests delays nothing.
    sink={"kafka.linger.ms": "20", "kafka.batch.size": "131072", **FORGETS_TOPICS},
    source_settings={"max-offsets-per-trigger": "maxOffsetsPerTrigger"},
)
