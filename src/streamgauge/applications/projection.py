"""Projection (SB1): what stands in one field of every line?

The answer is the field's text as it stands on the wire: a time in UTC, a missing field as the empty text.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.parameters import field_of
from streamgauge.model import Application, Expected, Output, PerEvent, Text, stage
from streamgauge.streams.aol_search import STREAM


@stage
def projection(searches: DataFrame, *, field: str) -> DataFrame:
    """The field's text; Spark's own text of a time is that of the wire, in the session's zone, which is UTC."""
    return searches.select(fn.coalesce(fn.col(field).cast("string"), fn.lit("")).alias("value"), "origin")


def field_of_every_line(events: Any, *, field: str) -> Expected:
    """The text between the tabs of the payload itself, so that the parsing of the stream is checked too."""
    place = [known.name for known in STREAM.fields].index(field) + 1
    return Expected(
        events.sql(f"""select partition, "offset", split_part(raw, chr(9), {place}) as value from searches""")
    )


APPLICATION = Application(
    name="projection",
    question="What stands in one field of every line?",
    inputs={"searches": STREAM},
    stages=(projection,),
    outputs=(Output("projection", field_of_every_line, PerEvent(("value",)), Text("value")),),
    parameters={"field": field_of(STREAM, "query", "the field to take out")},
    papers=("SB1",),
    required={"searches": ("user_id",)},
)
