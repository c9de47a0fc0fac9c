"""Trending topics: hashtags counted in sliding windows, ranked in parts, and merged to one ranking per window."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamgauge.applications import trending_topics
from streamgauge.model.errors import UserError

T = 1_356_998_400_000
"""2013-01-01 00:00:00 UTC, where windows that slide by ten seconds begin."""
EVENTS = [
    (0, 0, 1000, T + 1_000, "#a x #b"),
    (0, 1, 1001, T + 9_999, "#a #a"),
    (1, 0, 1002, T + 10_000, "#c\n#b, #"),
    (1, 1, 1003, T + 12_000, "no#topic # here"),
    (1, 2, 1004, T + 19_999, "#c\t#b"),
]
"""partition, offset, append_ms, time, text."""
PARAMETERS = {"window_s": 20, "slide_s": 10, "top": 2}
RANKINGS = [
    (T - 10_000, 4, [("#a", 3), ("#b", 1)]),
    (T, 8, [("#a", 3), ("#b", 2)]),
    (T + 10_000, 4, [("#c", 2), ("#b", 1)]),
]


@pytest.fixture
def tweets(spark: SparkSession, origin_type: str) -> DataFrame:
    """The tweets as stages are given them."""
    rows = [(time, text, (ms, p, o, 0)) for p, o, ms, time, text in EVENTS]
    return spark.createDataFrame(rows, f"created_ms bigint, text string, {origin_type}")


@pytest.fixture
def seen(literal_events: Any) -> Any:
    """The same as the oracles see them."""
    rows = [(p, o, ms, text, time, text) for p, o, ms, time, text in EVENTS]
    literal_events.add("tweets", "created_ms bigint, text varchar", rows)
    return literal_events


def _rankings(rows: list[Any]) -> list[Any]:
    """Rankings as (topic, count) pairs, whatever a pair is made of."""

    def plain(entry: Any) -> tuple[str, int]:
        topic, count = entry.values() if isinstance(entry, dict) else entry
        return topic, count

    return [(start, seen, [plain(entry) for entry in ranking]) for start, seen, ranking in rows]


@pytest.mark.spark
def test_topics_are_terms_that_begin_with_a_hash(tweets, rows_of):
    assert rows_of(trending_topics.topics(tweets), "origin", "topic", "created_ms") == [
        ((1000, 0, 0, 0), "#a", T + 1_000),
        ((1000, 0, 0, 1), "#b", T + 1_000),
        ((1001, 0, 1, 0), "#a", T + 9_999),
        ((1001, 0, 1, 1), "#a", T + 9_999),
        ((1002, 1, 0, 0), "#c", T + 10_000),
        ((1002, 1, 0, 1), "#b,", T + 10_000),
        ((1004, 1, 2, 0), "#c", T + 19_999),
        ((1004, 1, 2, 1), "#b", T + 19_999),
    ]


@pytest.mark.spark
@pytest.mark.parametrize("rankers", [1, 3])
def test_any_number_of_rankers_gives_the_same_total_ranking(tweets, rows_of, rankers):
    parts = trending_topics.rank_part(trending_topics.topics(tweets), rankers=rankers, **PARAMETERS)
    whole = trending_topics.rank_all(parts, rankers=rankers, top=2)
    assert _rankings(rows_of(whole, "window_start_ms", "seen", "ranking")) == RANKINGS
    assert rows_of(whole, "window_start_ms", "origin") == [
        (T - 10_000, (1001, 0, 1, 0)),
        (T, (1004, 1, 2, 0)),
        (T + 10_000, (1004, 1, 2, 0)),
    ]


@pytest.mark.spark
def test_one_ranker_ranks_all_topics_of_a_window(tweets, rows_of):
    parts = trending_topics.rank_part(trending_topics.topics(tweets), rankers=1, **PARAMETERS)
    found = rows_of(parts, "window_start_ms", "ranker", "seen", "ranking")
    assert [(start, ranker, seen, [tuple(e) for e in ranking]) for start, ranker, seen, ranking in found] == [
        (T - 10_000, 0, 4, [(-3, "#a"), (-1, "#b")]),
        (T, 0, 8, [(-3, "#a"), (-2, "#b")]),
        (T + 10_000, 0, 4, [(-2, "#c"), (-1, "#b")]),
    ]


@pytest.mark.spark
def test_the_total_ranking_takes_the_latest_of_each_ranker_in_whatever_order_they_come(spark, origin_type, rows_of):
    updates = [
        (T, 0, 5, [(-4, "#x"), (-1, "#y")], (1000, 0, 5, 0)),
        (T, 1, 3, [(-3, "#z")], (1001, 1, 7, 0)),
        (T, 0, 2, [(-2, "#w")], (999, 0, 2, 0)),
    ]
    ranking = "array<struct<`order`: bigint, topic: string>>"
    columns = f"window_start_ms bigint, ranker int, seen bigint, ranking {ranking}, {origin_type}"
    whole = trending_topics.rank_all(spark.createDataFrame(updates, columns), rankers=4, top=2)
    assert _rankings(rows_of(whole, "window_start_ms", "seen", "ranking")) == [(T, 8, [("#x", 4), ("#z", 3)])]
    assert rows_of(whole, "origin") == [((1001, 1, 7, 0),)]


@pytest.mark.spark
def test_a_slide_longer_than_its_window_is_refused(tweets):
    with pytest.raises(UserError, match="cannot slide by 30 s"):
        trending_topics.rank_part(trending_topics.topics(tweets), window_s=20, slide_s=30, rankers=1, top=2)


def test_the_oracle_of_topics_expects_every_topic(seen, rows_of):
    assert rows_of(trending_topics.topic_of_each_event(seen).rows, "partition", '"offset"', "topic") == [
        (0, 0, "#a"),
        (0, 0, "#b"),
        (0, 1, "#a"),
        (0, 1, "#a"),
        (1, 0, "#b,"),
        (1, 0, "#c"),
        (1, 2, "#b"),
        (1, 2, "#c"),
    ]


def test_the_oracle_expects_the_ranking_of_each_window(seen, rows_of):
    expected = trending_topics.ranking_of_each_window(seen, **PARAMETERS)
    assert _rankings(rows_of(expected.rows, "window_start_ms", "seen", "ranking")) == RANKINGS
    assert rows_of(expected.touches, "partition", '"offset"', "window_start_ms") == [
        (0, 0, T - 10_000),
        (0, 0, T),
        (0, 1, T - 10_000),
        (0, 1, T),
        (1, 0, T),
        (1, 0, T + 10_000),
        (1, 2, T),
        (1, 2, T + 10_000),
    ]


@pytest.mark.parametrize(("name", "text"), [("top", "0"), ("rankers", "65"), ("window_s", "0"), ("slide_s", "ten")])
def test_a_parameter_out_of_bounds_is_refused(name, text):
    with pytest.raises(UserError, match=name):
        trending_topics.APPLICATION.bind({name: text})
