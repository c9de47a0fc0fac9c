"""Stored join (SB9): what kind of site was clicked in each search?

StreamBench (Lu and others, 2014) names the join of a stream with data at rest as what its programs still lack. Each
search with a click is joined with a stored directory of sites on the clicked address, letter by letter; a site that is
not in the directory gives no answer.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.model import Application, Expected, Output, PerEvent, stage
from streamgauge.streams.aol_search import STREAM
from streamgauge.streams.tables.sites import TABLE


@stage(key=("site",))
def clicks(searches: DataFrame) -> DataFrame:
    """Who clicked on which site."""
    return searches.filter("click_url is not null").select("user_id", fn.col("click_url").alias("site"), "origin")


@stage(uses=("static-join",))
def enrich(clicks: DataFrame, sites: DataFrame) -> DataFrame:
    """Each click on a listed site with the site's category and popularity."""
    return clicks.join(fn.broadcast(sites), "site").select("user_id", "site", "category", "popularity", "origin")


def click_of_each_event(events: Any) -> Expected:
    """User and site of every event with a click."""
    return Expected(
        events.sql("""
            select partition, "offset", user_id, click_url as site from searches where click_url is not null
        """)
    )


def listed_click_of_each_event(events: Any) -> Expected:
    """Every event with a click on a listed site, with what the directory says of the site."""
    return Expected(
        events.sql("""
            select partition, "offset", user_id, site, category, popularity
            from searches join sites on click_url = site
        """)
    )


APPLICATION = Application(
    name="stored-join",
    question="What kind of site was clicked in each search?",
    inputs={"searches": STREAM},
    tables={"sites": TABLE},
    stages=(clicks, enrich),
    outputs=(
        Output("clicks", click_of_each_event, PerEvent(("user_id", "site"))),
        Output("enrich", listed_click_of_each_event, PerEvent(("user_id", "site", "category", "popularity"))),
    ),
    papers=("SB9",),
    required={"searches": ("user_id",)},
    deviations=("The paper names joins with stored data without defining one: the program and its table are ours.",),
)
