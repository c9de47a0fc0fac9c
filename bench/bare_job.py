"""A bare PySpark program: the same stages and settings as an engine of the laboratory, and nothing of it around them.

It reads a JSON object per line (`topic`, `out`, `checkpoint`, `ends`, `seconds`) and answers each with the instant at
which the query was started. With `ends` it drains the topic and stops; with `seconds` it runs for that long.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as fn

from streamgauge.applications import get_application
from streamgauge.engines import get_engine
from streamgauge.engines.spark.checkpoints import committed_offsets
from streamgauge.engines.spark.codec import encode_output
from streamgauge.engines.spark.deployment import use_this_python
from streamgauge.engines.spark.source import decode_stream


def main() -> None:
    """Serve until standard input ends."""
    given = json.loads(sys.argv[1])
    engine: Any = get_engine(given["engine"])
    use_this_python("local[16]")
    builder = SparkSession.builder.master("local[16]").config("spark.jars", given["jars"])
    settings = {**engine.session_settings({}), "spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC"}
    for key, value in {**settings, "spark.local.dir": given["folder"], "spark.log.level": "ERROR"}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps({"started_ms": run(spark, engine, given, order)}), flush=True)
    spark.stop()


def run(spark: SparkSession, engine: Any, given: dict[str, Any], order: dict[str, Any]) -> int:
    """One query from start to stop; returns the wall clock at its start."""
    values = engine.resolve({})
    kafka = {"kafka.bootstrap.servers": given["bootstrap"]}
    records = (
        spark.readStream.format("kafka")
        .options(**kafka, **engine.source_options(values), subscribe=order["topic"], startingOffsets="earliest")
        .load()
    )
    result = outgoing(given["application"], records, given["origin"])
    writer = result.writeStream.format("kafka").options(**kafka, **engine.sink_options(values))
    writer = writer.option("topic", order["out"]).option("checkpointLocation", order["checkpoint"])
    started_ms = time.time_ns() // 1_000_000
    query = writer.outputMode("update").trigger(**engine.trigger(values)).start()
    if order.get("ends"):
        wait_for(query, Path(order["checkpoint"]), order["topic"], {int(p): e for p, e in order["ends"].items()})
    else:
        time.sleep(order["seconds"])
    query.stop()
    return started_ms


def outgoing(name: str, records: Any, with_origin: bool) -> Any:
    """The application's stages over the Kafka records, or the same work as one would write it without an origin."""
    application = get_application(name)
    if with_origin:
        frame = decode_stream(records, next(iter(application.inputs.values())), 0)
        for stage in application.stages:
            defaults = {k: application.parameters[k].default for k in stage.parameters}
            frame = stage(frame, **defaults)
        return encode_output(frame, application.leaf_outputs()[0])
    raw = records.select(fn.col("value").cast("string").alias("raw"))
    if name == "identity":
        return raw.select(fn.col("raw").alias("value"))
    words = raw.select(fn.explode(fn.split(fn.get(fn.split("raw", "\t"), fn.lit(1)), " ")).alias("word"))
    counted = words.filter("word <> ''").groupBy("word").agg(fn.count("*").alias("seen"))
    return counted.select(fn.col("word").alias("key"), fn.to_json(fn.struct("word", "seen")).alias("value"))


def wait_for(query: Any, checkpoint: Path, topic: str, ends: dict[int, int]) -> None:
    """Return when the query has committed the topic up to its ends."""
    while any(committed_offsets(checkpoint).get(topic, {}).get(p, 0) < end for p, end in ends.items()):
        if not query.isActive:
            raise RuntimeError(str(query.exception()))
        time.sleep(0.1)


if __name__ == "__main__":
    main()
