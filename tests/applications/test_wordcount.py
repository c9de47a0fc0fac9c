"""Word count: a word is what stands between spaces, as it is written."""

from __future__ import annotations

import pytest

from streamgauge.applications import wordcount

EVENTS = [
    (0, 0, 1000, "142\tfree maps free\t2006-03-01 07:17:12\t\t"),
    (0, 1, 1004, "217\t\t2006-03-01 11:58:51\t\t"),
    (1, 0, 1001, "218\t  maps  \t2006-03-01 11:58:51\t\t"),
    (1, 1, 1002, "219\tFree café 東京\t2006-03-01 11:58:51\t\t"),
    (1, 2, 1003, "220\tnon\u00a0breaking\t2006-03-01 11:58:51\t\t"),
]


@pytest.mark.spark
def test_split_gives_each_word_an_origin_of_its_own(search_frame, rows_of):
    assert rows_of(wordcount.split(search_frame(EVENTS)), "origin", "word") == [
        ((1000, 0, 0, 0), "free"),
        ((1000, 0, 0, 1), "maps"),
        ((1000, 0, 0, 2), "free"),
        ((1001, 1, 0, 2), "maps"),
        ((1002, 1, 1, 0), "Free"),
        ((1002, 1, 1, 1), "café"),
        ((1002, 1, 1, 2), "東京"),
        ((1003, 1, 2, 0), "non\u00a0breaking"),
    ]


@pytest.mark.spark
def test_count_gives_the_running_count_and_the_latest_origin(search_frame, rows_of):
    counted = wordcount.count(wordcount.split(search_frame(EVENTS)))
    assert rows_of(counted, "word", "seen", "origin") == [
        ("Free", 1, (1002, 1, 1, 0)),
        ("café", 1, (1002, 1, 1, 0)),
        ("free", 2, (1000, 0, 0, 0)),
        ("maps", 2, (1001, 1, 0, 0)),
        ("non\u00a0breaking", 1, (1003, 1, 2, 0)),
        ("東京", 1, (1002, 1, 1, 0)),
    ]


@pytest.mark.spark
def test_a_tab_in_a_query_is_no_space(spark, origin_type, rows_of):
    rows = spark.createDataFrame([("a\tb c", (1, 0, 0, 0))], f"query string, {origin_type}")
    assert rows_of(wordcount.split(rows), "word") == [("a\tb",), ("c",)]


def test_a_tab_in_a_query_is_no_space_for_the_oracle_either(literal_events, rows_of):
    literal_events.add("searches", "query varchar", [(0, 0, 1, "a\tb c", "a\tb c")])
    assert rows_of(wordcount.words_of_each_event(literal_events).rows, "word") == [("a\tb",), ("c",)]


def test_the_oracle_of_split_expects_every_word_of_every_event(search_events, rows_of):
    expected = wordcount.words_of_each_event(search_events(EVENTS)).rows
    assert rows_of(expected, "partition", '"offset"', "word") == [
        (0, 0, "free"),
        (0, 0, "free"),
        (0, 0, "maps"),
        (1, 0, "maps"),
        (1, 1, "Free"),
        (1, 1, "café"),
        (1, 1, "東京"),
        (1, 2, "non\u00a0breaking"),
    ]


def test_the_oracle_of_count_expects_the_final_counts(search_events, rows_of):
    expected = wordcount.count_per_word(search_events(EVENTS))
    assert rows_of(expected.rows, "word", "seen") == [
        ("Free", 1),
        ("café", 1),
        ("free", 2),
        ("maps", 2),
        ("non\u00a0breaking", 1),
        ("東京", 1),
    ]


def test_an_event_touches_a_repeated_word_once(search_events, rows_of):
    expected = wordcount.count_per_word(search_events(EVENTS))
    assert rows_of(expected.touches, "partition", '"offset"', "word") == [
        (0, 0, "free"),
        (0, 0, "maps"),
        (1, 0, "maps"),
        (1, 1, "Free"),
        (1, 1, "café"),
        (1, 1, "東京"),
        (1, 2, "non\u00a0breaking"),
    ]


def test_it_can_stop_after_split():
    cut = wordcount.APPLICATION.stopped_after("split")
    assert [s.name for s in cut.stages] == ["split"]
    assert [o.stage for o in cut.leaf_outputs()] == ["split"]
