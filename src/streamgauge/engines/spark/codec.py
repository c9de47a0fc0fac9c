"""From frames to Kafka records and back: outputs in their wire format, rows between queries in our own codec."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from streamgauge.model import Emits, Output, Stage, Text, UserError
from streamgauge.model.origin import FIELDS, HEADER

JSON_OPTIONS = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "ignoreNullFields": "false",
}
_ORIGIN_TYPES = ("bigint", "int", "bigint", "int")


def encode_output(rows: DataFrame, output: Output) -> DataFrame:
    """An output's rows as Kafka records, keyed so that one key's updates stay in order in one partition."""
    check_origin(rows, output.stage)
    if isinstance(output.wire, Text):
        value = _column(rows, output.wire.column, output.stage).cast("string")
    else:
        value = _json([c for c in rows.columns if c != "origin"])
    keys = output.matching.key
    for name in keys:
        _column(rows, name, output.stage)
    return _records(rows, value, keys)


def encode_between(rows: DataFrame, stage: Stage) -> DataFrame:
    """A stage's rows as records of the topic that lies between two queries: exact types, origin and record id kept."""
    check_origin(rows, stage.name)
    return _records(rows, _json([c for c in rows.columns if c != "origin"]), stage.key)


def encode_dead_letters(rows: DataFrame) -> DataFrame:
    """Malformed events as Kafka records: their bytes as hexadecimal text in a JSON object, and their origin."""
    return _records(rows, _json(["bytes"]), ())


def decode_between(records: DataFrame, schema: StructType, emits: Emits, within: str | None = None) -> DataFrame:
    """The rows of a topic between two queries; rows that a restarted head wrote twice are dropped by record id.

    `within` bounds the state of that drop: a record id is forgotten when rows are read whose input was appended so
    much later. A repeat has its original's append time, so none is missed; but a row that is read so much later than
    others of its time is dropped as late. Without it the state grows with the checkpoint's life.
    Updates need none: the latest per key counts.
    """
    columns = [f for f in schema.fields if f.name != "origin"]
    parts = F.split(F.get(F.col("headers"), F.lit(0)).getField("value").cast("string"), ",")
    parsed = F.from_json(F.col("value").cast("string"), _without_origin(schema), JSON_OPTIONS)
    typed = enumerate(zip(FIELDS, _ORIGIN_TYPES, strict=True))
    origin = [F.get(parts, F.lit(i)).cast(kind).alias(name) for i, (name, kind) in typed]
    rows = records.select(parsed.alias("row"), F.struct(*origin).alias("origin"))
    rows = rows.select(*[F.col("row").getField(f.name).alias(f.name) for f in columns], "origin")
    if emits is Emits.UPDATES:
        return rows
    record_id = {f"record_{name}": F.col("origin").getField(name) for name in FIELDS[1:]}
    if within is None:
        return rows.withColumns(record_id).dropDuplicates(list(record_id)).drop(*record_id)
    record_id |= {"record_appended": F.timestamp_millis(F.col("origin").getField("append_ms"))}
    named = rows.withColumns(record_id).withWatermark("record_appended", within)
    return named.dropDuplicates(list(record_id)).drop(*record_id)


def check_origin(rows: DataFrame, stage: str) -> None:
    """A stage that dropped `origin` cannot be measured; say so before anything starts."""
    if "origin" not in rows.columns:
        raise UserError(
            f"stage '{stage}' returns no column 'origin'",
            "Select it along, or aggregate it with latest_origin() from streamgauge.applications.origin",
        )


def origin_headers() -> Column:
    """The headers of an output that carries its origin."""
    origin = F.col("origin")
    text = F.concat_ws(",", *[origin.getField(name).cast("string") for name in FIELDS])
    return F.array(F.struct(F.lit(HEADER).alias("key"), text.cast("binary").alias("value")))


def _records(rows: DataFrame, value: Column, keys: tuple[str, ...]) -> DataFrame:
    columns = [value.alias("value"), origin_headers().alias("headers")]
    if len(keys) == 1:
        columns.append(F.col(keys[0]).cast("string").alias("key"))
    elif keys:
        columns.append(_json(list(keys)).alias("key"))
    return rows.select(*columns)


def _json(columns: list[str]) -> Column:
    return F.to_json(F.struct(*columns), JSON_OPTIONS)


def _column(rows: DataFrame, name: str, stage: str) -> Column:
    if name not in rows.columns:
        raise UserError(f"stage '{stage}' returns no column '{name}'", f"It returns: {', '.join(rows.columns)}")
    return F.col(name)


def _without_origin(schema: StructType) -> StructType:
    return StructType([f for f in schema.fields if f.name != "origin"])
