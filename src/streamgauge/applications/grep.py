"""Grep (SB1): which lines contain a given text?

The text is looked for in the whole line, letter by letter as it is written: no pattern language, upper and lower case
apart.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.model import Application, Expected, Output, Parameter, PerEvent, Text, stage
from streamgauge.streams.aol_search import STREAM


@stage
def grep(searches: DataFrame, *, pattern: str) -> DataFrame:
    """The lines that contain the text."""
    return searches.filter(fn.col("raw").contains(pattern)).select(fn.col("raw").alias("line"), "origin")


def matching_lines(events: Any, *, pattern: str) -> Expected:
    """The lines that contain the text, found by DuckDB."""
    literal = "'" + pattern.replace("'", "''") + "'"
    return Expected(events.sql(f'select partition, "offset", raw as line from searches where contains(raw, {literal})'))


APPLICATION = Application(
    name="grep",
    question="Which lines contain the given text?",
    inputs={"searches": STREAM},
    stages=(grep,),
    outputs=(Output("grep", matching_lines, PerEvent(("line",)), Text("line")),),
    parameters={"pattern": Parameter("free", "the text to look for, letter by letter")},
    papers=("SB1",),
    required={"searches": ()},
)
