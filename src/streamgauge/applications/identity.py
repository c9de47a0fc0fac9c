"""Identity (SB1): every line goes through as it came, the baseline of the other programs."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.model import Application, Expected, Output, PerEvent, Text, stage
from streamgauge.streams.aol_search import STREAM


@stage
def identity(searches: DataFrame) -> DataFrame:
    """The payload as it is: no field of it is parsed."""
    return searches.select(fn.col("raw").alias("line"), "origin")


def every_line(events: Any) -> Expected:
    """Each event's own payload, once."""
    return Expected(events.sql('select partition, "offset", raw as line from searches'))


APPLICATION = Application(
    name="identity",
    question="How fast is nothing at all: every line read and written unchanged?",
    inputs={"searches": STREAM},
    stages=(identity,),
    outputs=(Output("identity", every_line, PerEvent(("line",)), Text("line")),),
    papers=("SB1",),
    required={"searches": ()},
)
