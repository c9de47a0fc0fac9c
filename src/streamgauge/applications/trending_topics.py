"""Trending topics (BO7): which hashtags were used most in each window of time?

As Bordin describes it (2017), after TwitterMonitor (Mathioudakis and Koudas, 2010): topics are taken out of tweets and
counted in a sliding window that moves on in fixed steps, intermediate rankers each rank a part of the topics, and
at a fixed interval the total ranker merges their rankings.

A topic is what stands between white space and begins with `#`, as it is written; every occurrence counts. Windows are
of event time and begin at whole multiples of their slide since 1970, so there is one ranking per slide. A topic's hash
decides which ranker it belongs to. A ranking lists at most `top` topics, the most frequent first, those of one
frequency in the order of their UTF-8 bytes. `seen` is the number of occurrences in the window.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import each, latest_origin
from streamgauge.applications.parameters import WholeNumber
from streamgauge.model import Application, Emits, Expected, LatestPerKey, Output, PerEvent, UserError, stage
from streamgauge.streams.tweets import STREAM

WATERMARK = "1 hour"
"""A hundred tweets a second: partitions may be read 360,000 tweets apart."""
COUNTED_EXACTLY = 10_000
"""Topics of one ranker and window that Spark's frequent-items sketch counts without error; it estimates beyond that."""
_WHITE_SPACE = r"[ \t\n\r\f]+"


@stage
def topics(tweets: DataFrame) -> DataFrame:
    """Each topic of each tweet with the tweet's time."""
    terms = fn.filter(fn.split("text", _WHITE_SPACE), lambda term: term.startswith("#") & (fn.length(term) > 1))
    tagged = tweets.filter(fn.col("text").contains("#"))
    return each(tagged.select("created_ms", terms.alias("terms"), "origin"), "terms", "topic", "created_ms")


@stage(uses=("aggregate", "window"), emits=Emits.UPDATES, key=("window_start_ms",))
def rank_part(topics: DataFrame, *, window_s: int, slide_s: int, rankers: int, top: int) -> DataFrame:
    """The intermediate rankings: for each window and ranker, the most frequent of its topics."""
    if slide_s > window_s:
        raise UserError(f"a window of {window_s} s cannot slide by {slide_s} s", "Set slide_s to at most window_s")
    placed = topics.select(
        fn.timestamp_millis("created_ms").alias("at"),
        fn.pmod(fn.xxhash64("topic"), fn.lit(rankers)).cast("int").alias("ranker"),
        "topic",
        "origin",
    )
    windows = fn.window("at", f"{window_s} seconds", f"{slide_s} seconds")
    counted = (
        placed.withWatermark("at", WATERMARK)
        .groupBy(windows.alias("window"), "ranker")
        .agg(
            fn.count("*").alias("seen"),
            fn.expr(f"approx_top_k(topic, {COUNTED_EXACTLY}, {COUNTED_EXACTLY})").alias("counts"),
            latest_origin(),
        )
    )
    start = fn.unix_millis("window.start").alias("window_start_ms")
    # Counts come with the largest first: what is below the last place need not be sorted.
    last = fn.coalesce(fn.get("counts", fn.lit(top - 1))["count"], fn.lit(0))
    candidates = fn.filter("counts", lambda found: found["count"] >= last)
    ranking = fn.transform(candidates, lambda found: _entry(found["count"], found["item"]))
    return counted.select(start, "ranker", "seen", _first(ranking, top).alias("ranking"), "origin")


@stage(uses=("aggregate",), emits=Emits.UPDATES)
def rank_all(rank_part: DataFrame, *, rankers: int, top: int) -> DataFrame:
    """The total ranking of each window, merged from the latest intermediate ranking of every ranker."""
    timed = rank_part.withColumn("start", fn.timestamp_millis("window_start_ms")).withWatermark("start", WATERMARK)
    # A ranker's own count of occurrences grows with each of its rankings, so it tells which is the latest.
    of_ranker = {f"_{n}": fn.when(fn.col("ranker") == n, fn.col("seen")) for n in range(rankers)}
    merged = timed.groupBy("start").agg(
        *(fn.max(seen).alias(f"seen{n}") for n, seen in of_ranker.items()),
        *(fn.max_by("ranking", seen).alias(f"ranking{n}") for n, seen in of_ranker.items()),
        latest_origin(),
    )
    seen = sum((fn.coalesce(f"seen{n}", fn.lit(0)) for n in of_ranker), start=fn.lit(0))
    none = fn.array().cast(rank_part.schema["ranking"].dataType)
    ranking = _first(fn.concat(*(fn.coalesce(f"ranking{n}", none) for n in of_ranker)), top)
    return merged.select(
        fn.unix_millis("start").alias("window_start_ms"),
        seen.alias("seen"),
        fn.transform(ranking, lambda entry: fn.struct(entry["topic"], (-entry["order"]).alias("count"))).alias(
            "ranking"
        ),
        "origin",
    )


def _entry(count: Column, topic: Column) -> Column:
    """An entry that sorts as the ranking does: structs are compared field by field."""
    return fn.struct((-count).alias("order"), topic.alias("topic"))


def _first(entries: Column, top: int) -> Column:
    return fn.slice(fn.sort_array(entries), 1, top)


_OCCURRENCES = r"""
    select partition, "offset", created_ms, unnest(string_split_regex(text, '[ \t\n\r\f]+')) as topic from tweets
"""


def topic_of_each_event(events: Any) -> Expected:
    """Every topic of every event, repeats included."""
    return Expected(events.sql(f"from ({_OCCURRENCES}) where starts_with(topic, '#') and topic <> '#'"))


def ranking_of_each_window(events: Any, *, window_s: int, slide_s: int, top: int) -> Expected:
    """The ranking of all occurrences in each window that has any."""
    occurrences = f"""
        select *, unnest(range(created_ms - created_ms % {slide_s * 1000},
                               created_ms - {window_s * 1000}, {-slide_s * 1000})) as window_start_ms
        from ({_OCCURRENCES}) where starts_with(topic, '#') and topic <> '#'
    """
    return Expected(
        rows=events.sql(f"""
            with counted as (
                select window_start_ms, topic, count(*) as count from ({occurrences}) group by all
            ),
            ranked as (
                select *, row_number() over (partition by window_start_ms order by count desc, topic) as place
                from counted
            )
            select window_start_ms, sum(count)::bigint as seen,
                   list({{'topic': topic, 'count': count}} order by place) filter (place <= {top}) as ranking
            from ranked group by window_start_ms
        """),
        touches=events.sql(f"""select distinct partition, "offset", window_start_ms from ({occurrences})"""),
    )


APPLICATION = Application(
    name="trending-topics",
    question="Which hashtags were used most in each window of time?",
    inputs={"tweets": STREAM},
    stages=(topics, rank_part, rank_all),
    outputs=(
        Output("topics", topic_of_each_event, PerEvent(("topic", "created_ms"))),
        Output(
            "rank_all", ranking_of_each_window, LatestPerKey(("window_start_ms",), {"seen": "rises", "ranking": "any"})
        ),
    ),
    parameters={
        "window_s": WholeNumber(30, "seconds of event time in a window"),
        "slide_s": WholeNumber(10, "seconds of event time from the start of a window to the next"),
        "rankers": WholeNumber(4, "intermediate rankers that share the topics", most=64),
        "top": WholeNumber(10, "topics in a ranking", most=1000),
    },
    papers=("BO7",),
    cuts=("rank_part",),
    required={"tweets": ("created_ms", "text")},
    deviations=(
        "A window is a span of event time and its ranking is told whenever it changes, the last being final; in the "
        "thesis it slides by the clock and is told at fixed intervals.",
        "Counting and intermediate ranking are one stage: a ranker holds the counts of all its topics in the window.",
        f"Counts are exact as long as a ranker has at most {COUNTED_EXACTLY:,} topics in a window and estimates beyond "
        "that: raise `rankers` for more topics.",
        "A topic of the log lies between the intermediate rankers and the total ranker, which run as two queries.",
    ),
)
