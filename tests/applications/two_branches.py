"""Words and clicks: one input, two leaves with an answer each."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import each, latest_origin
from streamgauge.model import Application, Emits, Expected, LatestPerKey, Output, stage
from streamgauge.streams.aol_search import STREAM


@stage
def parse(searches: DataFrame) -> DataFrame:
    """What both branches need of an event."""
    return searches.select("query", "item_rank", "origin")


@stage(uses=("aggregate",), emits=Emits.UPDATES)
def count_words(parse: DataFrame) -> DataFrame:
    """The running count per word."""
    words = each(parse, fn.split("query", " "), "word").filter("word <> ''")
    return words.groupBy("word").agg(fn.count("*").alias("seen"), latest_origin())


@stage(uses=("aggregate",), emits=Emits.UPDATES)
def count_clicks(parse: DataFrame) -> DataFrame:
    """The running count of clicks per rank of the result."""
    clicks = parse.filter("item_rank is not null")
    return clicks.groupBy("item_rank").agg(fn.count("*").alias("clicks"), latest_origin())


def expected_words(events: Any) -> Expected:
    """How often each word occurs."""
    words = "select partition, \"offset\", unnest(string_split(query, ' ')) as word from searches"
    return Expected(
        rows=events.sql(f"select word, count(*) as seen from ({words}) where word <> '' group by word"),
        touches=events.sql(f"select distinct * from ({words}) where word <> ''"),
    )


def expected_clicks(events: Any) -> Expected:
    """How often a result of each rank was clicked."""
    return Expected(
        rows=events.sql("select item_rank, count(*) as clicks from searches where item_rank is not null group by 1"),
        touches=events.sql('select partition, "offset", item_rank from searches where item_rank is not null'),
    )


APPLICATION = Application(
    name="two-branches",
    question="How often was each word searched, and each rank clicked?",
    inputs={"searches": STREAM},
    stages=(parse, count_words, count_clicks),
    outputs=(
        Output("count_words", expected_words, LatestPerKey(("word",), {"seen": "rises"})),
        Output("count_clicks", expected_clicks, LatestPerKey(("item_rank",), {"clicks": "rises"})),
    ),
)
