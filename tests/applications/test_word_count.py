"""Word count of sentences: shares its rule and its counting with wordcount."""

from __future__ import annotations

import pytest

from streamgauge.applications import word_count, wordcount

EVENTS = [
    (0, 0, 1000, "The lamp, the key."),
    (0, 1, 1003, "the lamp"),
    (1, 0, 1001, "  Key. "),
    (1, 1, 1002, "東京 the the"),
]


def _frame(spark, origin_type):
    rows = [(text, (append_ms, partition, offset, 0)) for partition, offset, append_ms, text in EVENTS]
    return spark.createDataFrame(rows, f"sentence string, {origin_type}")


@pytest.mark.spark
def test_split_gives_every_word_as_it_is_written(spark, origin_type, rows_of):
    assert rows_of(word_count.split(_frame(spark, origin_type)), "origin", "word") == [
        ((1000, 0, 0, 0), "The"),
        ((1000, 0, 0, 1), "lamp,"),
        ((1000, 0, 0, 2), "the"),
        ((1000, 0, 0, 3), "key."),
        ((1001, 1, 0, 2), "Key."),
        ((1002, 1, 1, 0), "東京"),
        ((1002, 1, 1, 1), "the"),
        ((1002, 1, 1, 2), "the"),
        ((1003, 0, 1, 0), "the"),
        ((1003, 0, 1, 1), "lamp"),
    ]


@pytest.mark.spark
def test_count_is_that_of_wordcount(spark, origin_type, rows_of):
    counted = word_count.APPLICATION.stage("count")(word_count.split(_frame(spark, origin_type)))
    assert word_count.APPLICATION.stage("count") is wordcount.count
    assert rows_of(counted, "word", "seen", "origin") == [
        ("Key.", 1, (1001, 1, 0, 0)),
        ("The", 1, (1000, 0, 0, 0)),
        ("key.", 1, (1000, 0, 0, 0)),
        ("lamp", 1, (1003, 0, 1, 0)),
        ("lamp,", 1, (1000, 0, 0, 0)),
        ("the", 4, (1003, 0, 1, 0)),
        ("東京", 1, (1002, 1, 1, 0)),
    ]


def test_the_oracles_expect_every_word_and_the_final_counts(literal_events, rows_of):
    literal_events.add("sentences", "sentence varchar", [(p, o, ms, text, text) for p, o, ms, text in EVENTS])
    words = word_count.words_of_each_sentence(literal_events).rows
    assert rows_of(words, "partition", '"offset"', "word") == [
        (0, 0, "The"),
        (0, 0, "key."),
        (0, 0, "lamp,"),
        (0, 0, "the"),
        (0, 1, "lamp"),
        (0, 1, "the"),
        (1, 0, "Key."),
        (1, 1, "the"),
        (1, 1, "the"),
        (1, 1, "東京"),
    ]
    counts = word_count.count_per_word(literal_events)
    assert rows_of(counts.rows, "word", "seen") == [
        ("Key.", 1),
        ("The", 1),
        ("key.", 1),
        ("lamp", 1),
        ("lamp,", 1),
        ("the", 4),
        ("東京", 1),
    ]
    touches = rows_of(counts.touches, "partition", '"offset"', "word")
    assert touches.count((1, 1, "the")) == 1 and len(touches) == 9
