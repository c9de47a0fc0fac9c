"""From a Kafka topic to the frame that stages read: the stream's fields, `raw` and `origin`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from streamgauge.applications.evaluation import evaluated_once
from streamgauge.model import Delimited, FieldType, Json, Stream, Template, Text

SPARK_TYPES = {
    FieldType.STRING: "string",
    FieldType.LONG: "bigint",
    FieldType.DOUBLE: "double",
    FieldType.TIMESTAMP: "timestamp",
}

MARK = "\u0001"
"""Stands between the parts of a matched line: at one character Spark splits without a regular expression."""


def read_topic(session: SparkSession, topic: str, options: Mapping[str, str]) -> DataFrame:
    """The topic's records from its beginning, as Spark's Kafka source gives them."""
    return (
        session.readStream.format("kafka")
        .options(**options)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )


def decode_stream(records: DataFrame, stream: Stream, first_partition: int, required: Sequence[str] = ()) -> DataFrame:
    """Kafka records as the stream's fields with `raw` and `origin`, without those that are malformed.

    A field that does not parse is null. Malformed is what is not UTF-8, lacks a required field, or, where fields are
    required, has another number of fields.
    """
    parsed = _parsed(records, stream, first_partition)
    whole = parsed.filter(_well_formed(stream, required))
    return whole.select(*[f.name for f in stream.fields], "raw", "origin")


def malformed_records(records: DataFrame, stream: Stream, first_partition: int, required: Sequence[str]) -> DataFrame:
    """The records that `decode_stream` leaves out: their bytes as hexadecimal text, and their origin."""
    parsed = _parsed(records, stream, first_partition).filter(~_well_formed(stream, required))
    return parsed.select(F.hex(F.col("raw").cast("binary")).alias("bytes"), "origin")


def record_origin(first_partition: int = 0) -> Column:
    """The origin of a record of the Kafka source: itself."""
    return F.struct(
        F.unix_millis("timestamp").alias("append_ms"),
        (F.col("partition") + F.lit(first_partition)).cast("int").alias("partition"),
        F.col("offset"),
        F.lit(0).alias("ordinal"),
    ).alias("origin")


def _parsed(records: DataFrame, stream: Stream, first_partition: int) -> DataFrame:
    origin = record_origin(first_partition)
    text = records.select(F.coalesce(F.col("value"), F.lit(b"")).cast("string").alias("raw"), origin)
    match stream.wire:
        case Json():
            ddl = ", ".join(f"`{f.name}` {SPARK_TYPES[f.type]}" for f in stream.fields)
            members = F.from_json("raw", ddl, {"timestampFormat": "yyyy-MM-dd HH:mm:ss"})
            text = text.select("raw", "origin", _parsed_once(members))
            fields = [F.col("parts").getField(f.name).alias(f.name) for f in stream.fields]
        case Delimited(separator):
            parts = F.split("raw", re.escape(separator) if separator != "\t" else "\t")
            text = text.select("raw", "origin", _parsed_once(parts))
            fields = [_typed(_part(i), f.type, "").alias(f.name) for i, f in enumerate(stream.fields)]
        case Template():
            text = text.select("raw", "origin", _parsed_once(_between(stream.wire)))
            names, _ = stream.wire.pieces
            types = {f.name: f.type for f in stream.fields}
            fields = [_typed(_part(i), types[name], "-").alias(name) for i, name in enumerate(names)]
        case Text(column):
            text = text.select("raw", "origin", F.lit(None).alias("parts"))
            fields = [F.nullif("raw", F.lit("")).alias(column)]
    return text.select(*fields, "parts", "raw", "origin")


def _parsed_once(parts: Column) -> Column:
    """The parts of a record; the filter of malformed ones would else be moved below and parse again for each field."""
    return evaluated_once(parts).alias("parts")


def _well_formed(stream: Stream, required: Sequence[str]) -> Column:
    whole = F.is_valid_utf8("raw")
    if required and isinstance(stream.wire, Delimited | Template):
        whole = whole & (F.size("parts") == len(stream.fields))
    for name in required:
        whole = whole & F.col(name).isNotNull()
    return whole


def _between(template: Template) -> Column:
    """What stands between the template's texts, as an array; one pass of a regular expression and one split."""
    names, between = template.pieces
    pattern = "^" + re.escape(between[0]) + "".join(f"(.*?){re.escape(after)}" for after in between[1:]) + "$"
    marked = F.regexp_replace("raw", pattern, MARK.join(f"${i + 1}" for i in range(len(names))))
    return F.split(marked, MARK)


def _part(index: int) -> Column:
    return F.get(F.col("parts"), F.lit(index))


def _typed(text: Column, kind: FieldType, missing: str) -> Column:
    if kind is FieldType.STRING:
        return F.nullif(text, F.lit(missing))
    return text.try_cast(SPARK_TYPES[kind])
