"""Distinct count (SB1): how many different values has a field had so far?

A missing value, which on the wire is the empty text, is not counted. The one key of the answer is the field's name.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import latest_origin
from streamgauge.applications.parameters import field_of
from streamgauge.model import Application, Emits, Expected, LatestPerKey, Output, stage
from streamgauge.streams.aol_search import STREAM


@stage(key=("value",))
def extract(searches: DataFrame, *, field: str) -> DataFrame:
    """The field of each event that has it."""
    return searches.select(fn.lit(field).alias("field"), fn.col(field).alias("value"), "origin").filter(
        "value is not null"
    )


@stage(uses=("deduplicate",), key=("field",))
def distinct(extract: DataFrame) -> DataFrame:
    """The first row of each value: the set of the values seen."""
    return extract.dropDuplicates(["value"])


@stage(uses=("aggregate",), emits=Emits.UPDATES)
def size(distinct: DataFrame) -> DataFrame:
    """The running size of the set."""
    return distinct.groupBy("field").agg(fn.count("*").alias("distinct_values"), latest_origin())


def size_of_the_set(events: Any, *, field: str) -> Expected:
    """How many values there are, changed by the first event of each value in the order of the log's instants."""
    values = f"""
        select partition, "offset", append_ms, nullif({field}::varchar, '') as value
        from searches
        where value is not null
    """
    return Expected(
        rows=events.sql(f"""
            select '{field}' as field, count(distinct value) as distinct_values
            from ({values})
            having count(*) > 0
        """),
        touches=events.sql(f"""
            select partition, "offset", '{field}' as field
            from ({values})
            qualify row_number() over (partition by value order by append_ms, partition, "offset") = 1
        """),
    )


APPLICATION = Application(
    name="distinct-count",
    question="How many different values has a field had so far?",
    inputs={"searches": STREAM},
    stages=(extract, distinct, size),
    outputs=(Output("size", size_of_the_set, LatestPerKey(("field",), {"distinct_values": "rises"})),),
    parameters={"field": field_of(STREAM, "user_id", "the field whose values are counted")},
    papers=("SB1",),
    required={"searches": ("user_id",)},
)
