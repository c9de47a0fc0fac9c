"""Windowed count (SB9): how often was each site clicked in every minute?

StreamBench (Lu and others, 2014) names windowed operations as what its programs still lack. This is the plainest one:
tumbling windows of event time over the search log. Windows begin at whole multiples of their length since 1970;
a search without a click is not counted. A window's count is told whenever it grows.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import latest_origin
from streamgauge.applications.parameters import Positive
from streamgauge.model import Application, Emits, Expected, LatestPerKey, Output, PerEvent, stage
from streamgauge.streams.aol_search import STREAM

WATERMARK = "2 days"
"""The log has five events in two seconds: partitions may be read 432,000 events apart."""


@stage(key=("site",))
def clicks(searches: DataFrame) -> DataFrame:
    """The site and the time of each click."""
    clicked = searches.filter("click_url is not null")
    return clicked.select(fn.col("click_url").alias("site"), "query_time", "origin")


@stage(uses=("aggregate", "window"), emits=Emits.UPDATES)
def count(clicks: DataFrame, *, window_s: int) -> DataFrame:
    """The running count per site and window."""
    timed = clicks.withWatermark("query_time", WATERMARK)
    windows = timed.groupBy("site", fn.window("query_time", f"{window_s} seconds"))
    counted = windows.agg(fn.count("*").alias("clicks"), latest_origin())
    return counted.select("site", fn.col("window.start").alias("window_start"), "clicks", "origin")


def click_of_each_event(events: Any) -> Expected:
    """Site and time of every event with a click."""
    return Expected(
        events.sql("""
            select partition, "offset", click_url as site, query_time from searches where click_url is not null
        """)
    )


def clicks_per_site_and_window(events: Any, *, window_s: int) -> Expected:
    """How many clicks each site has in each window."""
    placed = f"""
        select partition, "offset", click_url as site,
               time_bucket(to_seconds({window_s}), query_time::timestamp, timestamp '1970-01-01') as window_start
        from searches
        where click_url is not null
    """
    return Expected(
        rows=events.sql(f"select site, window_start, count(*) as clicks from ({placed}) group by all"),
        touches=events.sql(placed),
    )


APPLICATION = Application(
    name="windowed-count",
    question="How often was each site clicked in every minute?",
    inputs={"searches": STREAM},
    stages=(clicks, count),
    outputs=(
        Output("clicks", click_of_each_event, PerEvent(("site", "query_time"))),
        Output("count", clicks_per_site_and_window, LatestPerKey(("site", "window_start"), {"clicks": "rises"})),
    ),
    parameters={"window_s": Positive(60, "seconds of event time in a window")},
    papers=("SB9",),
    required={"searches": ("query_time",)},
    deviations=("The paper names windowed operations without defining one: the program and its window are ours.",),
)
