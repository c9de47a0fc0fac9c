"""Word count (SB1): how often has each word been seen so far?

A word is what stands between spaces in `query`, as it is written; between two spaces in a row stands none. (A query
holds no other white space: on the wire a tab ends a field and a line feed ends a record.)
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import each, latest_origin
from streamgauge.model import Application, Emits, Expected, LatestPerKey, Output, PerEvent, stage
from streamgauge.streams.aol_search import STREAM


def words_in(rows: DataFrame, text: str) -> DataFrame:
    """One row per word of a column; splitting at one character spares Spark a regular expression per event."""
    return each(rows, fn.split(text, " "), "word").filter("word <> ''")


@stage(key=("word",))
def split(searches: DataFrame) -> DataFrame:
    """One row per word of each query."""
    return words_in(searches, "query")


@stage(uses=("aggregate",), emits=Emits.UPDATES)
def count(split: DataFrame) -> DataFrame:
    """The running count per word."""
    return split.groupBy("word").agg(fn.count("*").alias("seen"), latest_origin())


def every_word(events: Any, table: str, text: str) -> Expected:
    """Every word in a column of every event, repeats included."""
    return Expected(
        events.sql(f"""
            from (select partition, "offset", unnest(string_split({text}, ' ')) as word from {table})
            where word <> ''
        """)
    )


def final_counts(events: Any, table: str, text: str) -> Expected:
    """How often each word occurs in a column of all events; an event that holds a word twice touches it once."""
    return Expected(
        rows=events.sql(f"""
            select word, count(*) as seen
            from (select unnest(string_split({text}, ' ')) as word from {table})
            where word <> ''
            group by word
        """),
        touches=events.sql(f"""
            from (select partition, "offset", unnest(list_distinct(string_split({text}, ' '))) as word from {table})
            where word <> ''
        """),
    )


def words_of_each_event(events: Any) -> Expected:
    """Every word of every query, repeats included."""
    return every_word(events, "searches", "query")


def count_per_word(events: Any) -> Expected:
    """How often each word occurs in all queries."""
    return final_counts(events, "searches", "query")


APPLICATION = Application(
    name="wordcount",
    question="How often has each word been seen so far?",
    inputs={"searches": STREAM},
    stages=(split, count),
    outputs=(
        Output("split", words_of_each_event, PerEvent(("word",))),
        Output("count", count_per_word, LatestPerKey(("word",), {"seen": "rises"})),
    ),
    papers=("SB1",),
    required={"searches": ("query",)},
)
