"""Sentiment analysis: stop words out, stems weighed, and more positive than negative words make a tweet positive."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamgauge.applications import sentiment_analysis

WORDS = [
    ("love", "love", "positive"),
    ("loving", "love", "positive"),
    ("awful", "aw", "negative"),
    ("the", "the", "stop"),
    ("don't", "don't", "stop"),
]
EVENTS = [
    (0, 0, 1000, 11, "en", "The LOVE of #loving, awful!"),
    (0, 1, 1001, 12, "es", "love love"),
    (0, 2, 1002, 13, "en", "awful love"),
    (1, 0, 1003, 14, "en", "123 :)"),
    (1, 1, 1004, 15, "en", "don't\u0130love \u6771\u4eac\nTHE\u212awful"),
    (1, 2, 1005, 16, "EN", "love"),
]
"""partition, offset, append_ms, id, language, text; in the fifth a dotted I and a Kelvin sign stand between words."""
ANSWER = [
    (11, 4, 2, 1, "positive"),
    (13, 2, 1, 1, "negative"),
    (14, 0, 0, 0, "negative"),
    (15, 2, 1, 0, "positive"),
]
"""id, words, positive, negative, sentiment; the words of tweet 15 are love and wful, its stop words don't and the."""


@pytest.fixture
def frames(spark: SparkSession, origin_type: str) -> tuple[DataFrame, DataFrame]:
    """The tweets and the stored table as stages are given them."""
    rows = [(number, lang, text, (ms, p, o, 0)) for p, o, ms, number, lang, text in EVENTS]
    tweets = spark.createDataFrame(rows, f"id bigint, lang string, text string, {origin_type}")
    return tweets, spark.createDataFrame(WORDS, "word string, stem string, kind string")


@pytest.fixture
def seen(literal_events: Any) -> Any:
    """The same as the oracle sees them."""
    rows = [(p, o, ms, text, number, lang, text) for p, o, ms, number, lang, text in EVENTS]
    literal_events.add("tweets", "id bigint, lang varchar, text varchar", rows)
    literal_events.add_table("sentiments", "word varchar, stem varchar, kind varchar", WORDS)
    return literal_events


@pytest.mark.spark
def test_english_keeps_the_words_of_english_tweets(frames, rows_of):
    assert rows_of(sentiment_analysis.english(frames[0]), "id", "words", "origin") == [
        (11, ["the", "love", "of", "loving", "awful"], (1000, 0, 0, 0)),
        (13, ["awful", "love"], (1002, 0, 2, 0)),
        (14, [], (1003, 1, 0, 0)),
        (15, ["don't", "love", "the", "wful"], (1004, 1, 1, 0)),
    ]


@pytest.mark.spark
def test_stem_weighs_the_words_that_are_no_stop_words(frames, rows_of):
    stemmed = sentiment_analysis.stem(sentiment_analysis.english(frames[0]), frames[1])
    assert rows_of(stemmed, "id", "weights") == [(11, [1, 0, 1, -1]), (13, [-1, 1]), (14, []), (15, [1, 0])]


@pytest.mark.spark
def test_polarity_tells_the_counts_and_what_prevails(frames, rows_of):
    stemmed = sentiment_analysis.stem(sentiment_analysis.english(frames[0]), frames[1])
    told = sentiment_analysis.polarity(stemmed)
    assert rows_of(told, "id", "words", "positive", "negative", "sentiment") == ANSWER
    assert rows_of(told, "id", "origin")[0] == (11, (1000, 0, 0, 0))


def test_the_oracle_expects_the_polarity_of_every_english_tweet(seen, rows_of):
    expected = sentiment_analysis.polarity_of_each_english_tweet(seen).rows
    assert rows_of(expected, "id", "words", "positive", "negative", "sentiment") == ANSWER
    assert rows_of(expected, "partition", '"offset"', "id") == [(0, 0, 11), (0, 2, 13), (1, 0, 14), (1, 1, 15)]
