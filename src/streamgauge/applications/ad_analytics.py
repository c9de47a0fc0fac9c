"""Ad analytics (MA1, DO8): how often was each campaign's advertising seen in every ten seconds?

The Yahoo Streaming Benchmark (Chintapalli and others, 2016), as Matar and Wu use it: ad events are read as JSON, views
are kept, all but the ad and the time is dropped, the ad's campaign is looked up in a stored table, and views are
counted per campaign and window of ten seconds of event time. Windows begin at whole multiples of their length since
1970. An ad that the table does not know is not counted. A window's count is told whenever it grows.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import latest_origin
from streamgauge.applications.parameters import Positive
from streamgauge.model import Application, Emits, Expected, LatestPerKey, Output, PerEvent, stage
from streamgauge.streams.ad_events import STREAM
from streamgauge.streams.tables.ad_campaigns import TABLE

FIELDS = tuple(field.name for field in STREAM.fields)
WATERMARK = "1 hour"
"""Far beyond the minute by which an event may be late: partitions may be read 3.6 million events apart."""


@stage
def filter_views(ad_events: DataFrame) -> DataFrame:
    """The views, whole."""
    return ad_events.filter("event_type = 'view'").select(*FIELDS, "origin")


@stage
def project(filter_views: DataFrame) -> DataFrame:
    """The ad and the time."""
    return filter_views.select("ad_id", "event_time", "origin")


@stage(uses=("static-join",), key=("campaign_id",))
def join_campaign(project: DataFrame, campaigns: DataFrame) -> DataFrame:
    """The ad's campaign in place of the ad."""
    return project.join(fn.broadcast(campaigns), "ad_id").select("campaign_id", "event_time", "origin")


@stage(uses=("aggregate", "window"), emits=Emits.UPDATES)
def count_views(join_campaign: DataFrame, *, window_s: int) -> DataFrame:
    """The running count per campaign and window."""
    timed = join_campaign.select("campaign_id", fn.timestamp_millis("event_time").alias("at"), "origin")
    windows = timed.withWatermark("at", WATERMARK).groupBy("campaign_id", fn.window("at", f"{window_s} seconds"))
    counted = windows.agg(fn.count("*").alias("views"), latest_origin())
    return counted.select("campaign_id", fn.unix_millis("window.start").alias("window_start_ms"), "views", "origin")


def each_view(events: Any) -> Expected:
    """Every event that is a view, as it came."""
    return Expected(
        events.sql(f"""select partition, "offset", {", ".join(FIELDS)} from ad_events where event_type = 'view'""")
    )


def ad_and_time_of_each_view(events: Any) -> Expected:
    """Ad and time of every view."""
    return Expected(
        events.sql("""select partition, "offset", ad_id, event_time from ad_events where event_type = 'view'""")
    )


def campaign_of_each_view(events: Any) -> Expected:
    """Campaign and time of every view of a known ad."""
    return Expected(
        events.sql("""
            select partition, "offset", campaign_id, event_time
            from ad_events join campaigns using (ad_id)
            where event_type = 'view'
        """)
    )


def views_per_campaign_and_window(events: Any, *, window_s: int) -> Expected:
    """How many views each campaign has in each window."""
    length_ms = window_s * 1000
    views = f"""
        select partition, "offset", campaign_id, event_time - event_time % {length_ms} as window_start_ms
        from ad_events join campaigns using (ad_id)
        where event_type = 'view'
    """
    return Expected(
        rows=events.sql(f"select campaign_id, window_start_ms, count(*) as views from ({views}) group by all"),
        touches=events.sql(views),
    )


APPLICATION = Application(
    name="ad-analytics",
    question="How often was each campaign's advertising seen in every ten seconds?",
    inputs={"ad_events": STREAM},
    tables={"campaigns": TABLE},
    stages=(filter_views, project, join_campaign, count_views),
    outputs=(
        Output("filter_views", each_view, PerEvent(FIELDS)),
        Output("project", ad_and_time_of_each_view, PerEvent(("ad_id", "event_time"))),
        Output("join_campaign", campaign_of_each_view, PerEvent(("campaign_id", "event_time"))),
        Output(
            "count_views",
            views_per_campaign_and_window,
            LatestPerKey(("campaign_id", "window_start_ms"), {"views": "rises"}),
        ),
    ),
    parameters={"window_s": Positive(10, "seconds of event time in a window")},
    papers=("MA1", "DO8"),
    required={"ad_events": ("ad_id", "event_type", "event_time")},
    deviations=(
        "Every task is given the whole table of campaigns at the start; the benchmark looks ads up in Redis.",
        "Counts go to the log; with --sink they go to Redis, where the benchmark writes them.",
        "The time of an event is a number on the wire; the benchmark writes it as a text.",
        "Event time goes on by one millisecond per event, so that an event follows from seed and index alone; the "
        "benchmark stamps events with the clock.",
    ),
)
