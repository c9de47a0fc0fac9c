"""From a Kafka topic to the frame that stages read: the stream's fields, `raw` and `origin`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from streamgauge.model import Delimited, FieldType, Json, Stream, Text

SPARK_TYPES = {
    FieldType.STRING: "string",
    FieldType.LONG: "bigint",
    FieldType.DOUBLE: "double",
    FieldType.TIMESTAMP: "timestamp",
}


def read_topic(session: SparkSession, topic: str, options: Mapping[str, str]) -> DataFrame:
    """The topic's records from its beginning, as Spark's Kafka source gives them."""
    return (
        session.readStream.format("kafka")
        .options(**options)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )


def decode_stream(records: DataFrame, stream: Stream, first_partition: int) -> DataFrame:
    """Kafka records as the stream's fields with `raw` and `origin`; a field that does not parse is null."""
    origin = F.struct(
        F.unix_millis("timestamp").alias("append_ms"),
        (F.col("partition") + F.lit(first_partition)).cast("int").alias("partition"),
        F.col("offset"),
        F.lit(0).alias("ordinal"),
    ).alias("origin")
    text = records.select(F.col("value").cast("string").alias("raw"), origin)
    return text.select(*_fields(stream), "raw", "origin")


def _fields(stream: Stream) -> list[Column]:
    raw = F.col("raw")
    match stream.wire:
        case Delimited(separator):
            parts = F.split(raw, re.escape(separator) if separator != "\t" else "\t")
            return [_typed(F.get(parts, F.lit(i)), f.type).alias(f.name) for i, f in enumerate(stream.fields)]
        case Json():
            ddl = ", ".join(f"`{f.name}` {SPARK_TYPES[f.type]}" for f in stream.fields)
            parsed = F.from_json(raw, ddl, {"timestampFormat": "yyyy-MM-dd HH:mm:ss"})
            return [parsed.getField(f.name).alias(f.name) for f in stream.fields]
        case Text(column):
            return [raw.alias(column)]


def _typed(text: Column, kind: FieldType) -> Column:
    if kind is FieldType.STRING:
        return F.nullif(text, F.lit(""))
    return text.try_cast(SPARK_TYPES[kind])
