"""Word count between two Kafka topics, in real time, and in micro-batches while a burst lasts.

    spark-submit adaptive_wordcount.py BOOTSTRAP INPUT_TOPIC OUTPUT_TOPIC CHECKPOINT

Both topics must exist and be stamped with LogAppendTime. Real time holds a task slot for every partition and shuffle
partition as long as it runs: give Spark a few more slots than cores, like `--master local[16]`.
"""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from streamgauge.adaptive import run_adaptive
from streamgauge.applications.origin import each, latest_origin


def split(records: DataFrame) -> DataFrame:
    """One row per word; `origin` goes along."""
    lines = records.select(fn.col("value").cast("string").alias("line"), "origin")
    return each(lines, fn.split("line", " "), "word").filter("word <> ''")


def count(words: DataFrame) -> DataFrame:
    """The running count per word, as the key and value of a record."""
    counted = words.groupBy("word").agg(fn.count("*").alias("seen"), latest_origin())
    return counted.select(fn.col("word").alias("key"), fn.to_json(fn.struct("word", "seen")).alias("value"), "origin")


def main(bootstrap: str, topic: str, out: str, checkpoint: str) -> None:
    """Run until it is interrupted."""
    session = (
        SparkSession.builder.appName("adaptive-wordcount")
        .config("spark.sql.shuffle.partitions", "2")
        # Fixed when Spark starts: how long a real-time task may hold records back to send more at once.
        .config("spark.shuffle.streaming.networkBufferMaxWaitTimeMs", "1")
        .getOrCreate()
    )
    query = run_adaptive(
        session,
        stages=[split, count],
        source={"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "startingOffsets": "earliest"},
        sink={"kafka.bootstrap.servers": bootstrap, "topic": out},
        checkpoint=checkpoint,
        settings={"dwell": "3s", "objective": "p99<500ms", "shuffle-partitions": "2"},
        on_decision=lambda decision: print(decision.words, flush=True),
    )
    try:
        query.await_termination()
    finally:
        print(query.stop())
        session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:5])
