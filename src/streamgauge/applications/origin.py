"""Carrying `origin` through a stage: the latest input that each row stems from, and the record id in it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

ORDINAL_STRIDE = 10_000
"""Rows that one row may be split into at a time.

An ordinal is 32 bits wide: two splits in a row use 10^8 of its 2.1·10^9 values, so a third may overflow, which Spark
reports as an error as well.
"""


OFFSET_BITS_IN_ORDER = 21
OFFSET_BITS = 48


def latest_origin() -> Column:
    """The aggregate that gives a group the origin of its latest input, under the name that the next stage needs.

    A maximum of structs would make Spark sort every batch; whole numbers keep its hash aggregation. Latest is by append
    time, then offset: the low 21 bits stand for the offset, so two inputs of one millisecond may swap places where a
    partition passes a multiple of 2,097,152.
    """
    origin = fn.col("origin")
    low_bits = origin["offset"].bitwiseAND(fn.lit((1 << OFFSET_BITS_IN_ORDER) - 1))
    order = fn.shiftleft(origin["append_ms"], OFFSET_BITS_IN_ORDER).bitwiseOR(low_bits)
    event = fn.shiftleft(origin["partition"].cast("bigint"), OFFSET_BITS).bitwiseOR(origin["offset"])
    latest = fn.max_by(event, order)
    return fn.struct(
        fn.shiftright(fn.max(order), OFFSET_BITS_IN_ORDER).alias("append_ms"),
        fn.shiftright(latest, OFFSET_BITS).cast("int").alias("partition"),
        latest.bitwiseAND(fn.lit((1 << OFFSET_BITS) - 1)).alias("offset"),
        fn.lit(0).alias("ordinal"),
    ).alias("origin")


def newest_origin() -> Column:
    """The aggregate that gives a group the origin of its input with the largest offset, exact without exception.

    Only for groups whose inputs all lie in one partition: where the stream's key, or a part of it, is grouped by.
    """
    origin = fn.col("origin")
    return fn.struct(
        fn.max_by(origin["append_ms"], origin["offset"]).alias("append_ms"),
        fn.max(origin["partition"]).alias("partition"),
        fn.max(origin["offset"]).alias("offset"),
        fn.lit(0).alias("ordinal"),
    ).alias("origin")


def each(rows: DataFrame, array_column: str | Column, name: str, *keep: str) -> DataFrame:
    """One row per element of an array, as column `name`, beside the columns to keep and an origin of its own.

    A bare explode would give all elements the record id of the row they came from, and a reader that drops repeats by
    that id would keep one of them. Here ordinal becomes ordinal · ORDINAL_STRIDE + position: unique, and the same after
    a restart. A null or empty array gives no row.
    """
    elements = fn.posexplode(array_column).alias(_POSITION, name)
    return rows.select(*keep, "origin", elements).select(*keep, name, _numbered_origin().alias("origin"))


_POSITION = "position in the array"
"""A name with spaces, which no field of a stream has."""


def _numbered_origin() -> Column:
    origin, position = fn.col("origin"), fn.col(_POSITION)
    too_many = fn.raise_error(fn.lit(f"a row was split into more than {ORDINAL_STRIDE} rows: split it in two steps"))
    ordinal = fn.when(position < ORDINAL_STRIDE, origin["ordinal"] * ORDINAL_STRIDE + position)
    return origin.withField("ordinal", ordinal.otherwise(too_many.cast("int")))
