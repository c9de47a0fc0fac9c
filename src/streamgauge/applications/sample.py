"""Sample (SB1): which lines are in a random sample of a given share?

A sample drawn by a random number has no answer to check. Here chance is a hash of the event's place in the log: the
MD5 of `partition:offset`, its first 32 bits read as a fraction of 2^32. An event is in the sample when that fraction is
below the probability. The choice does not look at the line, is spread evenly, and is the same on every engine and
after every restart.
"""

from __future__ import annotations

import math
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.parameters import Fraction
from streamgauge.model import Application, Expected, Output, PerEvent, Text, stage
from streamgauge.streams.aol_search import STREAM


@stage
def sample(searches: DataFrame, *, probability: float) -> DataFrame:
    """The lines whose hash is below the probability; the hash is compared as hexadecimal text, which saves a parse."""
    lines = searches.select(fn.col("raw").alias("line"), "origin")
    bound = math.ceil(probability * 2**32)
    if bound == 2**32:
        return lines
    return lines.filter(fn.md5(fn.concat_ws(":", "origin.partition", "origin.offset")) < f"{bound:08x}")


def sampled_lines(events: Any, *, probability: float) -> Expected:
    """The lines of the events whose hash, as a number, is below the probability."""
    return Expected(
        events.sql(f"""
            select partition, "offset", raw as line
            from searches
            where ('0x' || left(md5(partition || ':' || "offset"), 8))::ubigint / 4294967296::double < {probability!r}
        """)
    )


APPLICATION = Application(
    name="sample",
    question="Which lines are in a random sample of the given share?",
    inputs={"searches": STREAM},
    stages=(sample,),
    outputs=(Output("sample", sampled_lines, PerEvent(("line",)), Text("line")),),
    parameters={"probability": Fraction(0.1, "share of the events that the sample keeps")},
    papers=("SB1",),
    required={"searches": ()},
)
