"""Statistics (SB1): what are the count, maximum, minimum, sum and average of a field so far?

A missing value is left out. The one key of the answer is the field's name.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import latest_origin
from streamgauge.applications.parameters import field_of
from streamgauge.model import Application, Emits, Expected, FieldType, LatestPerKey, Output, PerEvent, stage
from streamgauge.streams.packet_flows import STREAM

NUMBERS = (FieldType.LONG, FieldType.DOUBLE)


@stage(key=("field",))
def extract(flows: DataFrame, *, field: str) -> DataFrame:
    """The field of each event that has it."""
    named = flows.select(fn.lit(field).alias("field"), fn.col(field).alias("value"), "origin")
    return named.filter("value is not null")


@stage(uses=("aggregate",), emits=Emits.UPDATES)
def summarise(extract: DataFrame) -> DataFrame:
    """The running figures; the sum is a double, since seven times in nanoseconds already outgrow 64 bits."""
    return extract.groupBy("field").agg(
        fn.count("*").alias("seen"),
        fn.max("value").alias("maximum"),
        fn.min("value").alias("minimum"),
        fn.sum(fn.col("value").cast("double")).alias("total"),
        fn.avg("value").alias("average"),
        latest_origin(),
    )


def field_of_every_event(events: Any, *, field: str) -> Expected:
    """Each event's own value."""
    return Expected(
        events.sql(f"""select partition, "offset", {field} as value from flows where {field} is not null""")
    )


def figures(events: Any, *, field: str) -> Expected:
    """The figures over all events; every event that has the field touches them."""
    return Expected(
        rows=events.sql(f"""
            select '{field}' as field, count({field}) as seen, max({field}) as maximum, min({field}) as minimum,
                   fsum({field}) as total, fsum({field}) / count({field}) as average
            from flows
            having count({field}) > 0
        """),
        touches=events.sql(f"""
            select partition, "offset", '{field}' as field from flows where {field} is not null
        """),
    )


APPLICATION = Application(
    name="statistics",
    question="What are the count, maximum, minimum, sum and average of a field so far?",
    inputs={"flows": STREAM},
    stages=(extract, summarise),
    outputs=(
        Output("extract", field_of_every_event, PerEvent(("value",))),
        Output(
            "summarise",
            figures,
            LatestPerKey(
                ("field",),
                {"seen": "rises", "maximum": "rises", "minimum": "falls", "total": "any", "average": "any"},
            ),
        ),
    ),
    parameters={"field": field_of(STREAM, "packet_size", "the field whose figures are taken", NUMBERS)},
    papers=("SB1",),
    required={"flows": ("packet_size",)},
)
