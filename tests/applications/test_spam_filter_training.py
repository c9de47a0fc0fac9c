"""Spam filter, training: words counted in spam and in ham."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamgauge.applications import spam_filter_training

MAILS = [
    (0, 0, 1000, "spam", "Win, win cash"),
    (0, 1, 1001, "ham", "lunch WIN"),
    (1, 0, 1002, None, "win"),
    (1, 1, 1003, "unsure", "win"),
    (1, 2, 1004, "ham", "..."),
]
"""partition, offset, append_ms, label, text."""
COUNTS = [("cash", 1, 0), ("lunch", 0, 1), ("win", 2, 1)]


@pytest.fixture
def mails(spark: SparkSession, origin_type: str) -> DataFrame:
    """The mails as stages are given them."""
    rows = [(label, text, (ms, p, o, 0)) for p, o, ms, label, text in MAILS]
    return spark.createDataFrame(rows, f"label string, text string, {origin_type}")


@pytest.fixture
def seen(literal_events: Any) -> Any:
    """The same as the oracle sees them."""
    rows = [(p, o, ms, text, label, text) for p, o, ms, label, text in MAILS]
    literal_events.add("mails", "label varchar, text varchar", rows)
    return literal_events


@pytest.mark.spark
def test_tokenize_gives_each_word_of_a_labelled_mail(mails, rows_of):
    assert rows_of(spam_filter_training.tokenize(mails), "origin", "word", "is_spam") == [
        ((1000, 0, 0, 0), "win", True),
        ((1000, 0, 0, 1), "win", True),
        ((1000, 0, 0, 2), "cash", True),
        ((1001, 0, 1, 0), "lunch", False),
        ((1001, 0, 1, 1), "win", False),
    ]


@pytest.mark.spark
def test_word_probability_counts_each_word_in_spam_and_in_ham(mails, rows_of):
    learned = spam_filter_training.word_probability(spam_filter_training.tokenize(mails))
    assert rows_of(learned, "word", "spam", "ham") == COUNTS
    assert rows_of(learned, "word", "origin")[-1] == ("win", (1001, 0, 1, 0))


def test_the_oracle_expects_the_final_counts(seen, rows_of):
    expected = spam_filter_training.counts_per_word(seen)
    assert rows_of(expected.rows, "word", "spam", "ham") == COUNTS
    assert rows_of(expected.touches, "partition", '"offset"', "word") == [
        (0, 0, "cash"),
        (0, 0, "win"),
        (0, 1, "lunch"),
        (0, 1, "win"),
    ]
