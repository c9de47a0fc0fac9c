"""Spam filter: the fifteen most interesting words decide, by odds that are whole numbers."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from pyspark.sql import DataFrame, SparkSession

from streamgauge.applications import spam_filter
from streamgauge.streams.tables.word_odds import odds_by_thousandths

MOST, FOUR_TO_ONE, UNKNOWN = 4_595_120, 1_386_294, -405_465
"""The odds of the probabilities 0.99, 0.8 and 0.4 in millionths: ln 99, ln 4 and ln 2/3."""
ODDS = [
    ("pills", MOST),
    ("offer", FOUR_TO_ONE),
    ("meeting", -MOST),
    *((f"for{n}", MOST) for n in range(8)),
    *((f"against{n}", -MOST) for n in range(8)),
]
MAILS = [
    (0, 0, 1000, 20, "spam", "Pills, PILLS! offer"),
    (0, 1, 1001, 21, "ham", "meeting: pills"),
    (0, 2, 1002, 22, "ham", "hello"),
    (1, 0, 1003, 23, None, "!!! ..."),
    (1, 1, 1004, 24, "ham", " ".join(word for word, _ in reversed(ODDS[3:]))),
    (1, 2, 1005, 25, "spam", "offer offer_2 meet\u0130ng"),
    (1, 3, 1006, 26, "spam", "pills\u212aoffer"),
]
"""partition, offset, append_ms, id, label, text; mail 24 has eight words for spam and eight as strong against it."""
ANSWER = [
    (20, MOST + FOUR_TO_ONE, "spam"),
    (21, 0, "ham"),
    (22, UNKNOWN, "ham"),
    (23, 0, "ham"),
    (24, MOST, "spam"),
    (25, FOUR_TO_ONE + 3 * UNKNOWN, "ham"),
    (26, MOST + FOUR_TO_ONE, "spam"),
]


@pytest.fixture
def frames(spark: SparkSession, origin_type: str) -> tuple[DataFrame, DataFrame]:
    """The mails, without their labels, and the stored table as stages are given them."""
    rows = [(number, text, (ms, p, o, 0)) for p, o, ms, number, _, text in MAILS]
    mails = spark.createDataFrame(rows, f"id bigint, text string, {origin_type}")
    return mails, spark.createDataFrame(ODDS, "word string, odds_millionths bigint")


@pytest.fixture
def seen(literal_events: Any) -> Any:
    """The same as the oracle sees them, with labels."""
    rows = [(p, o, ms, text, number, label, text) for p, o, ms, number, label, text in MAILS]
    literal_events.add("mails", "id bigint, label varchar, text varchar", rows)
    literal_events.add_table("odds", "word varchar, odds_millionths bigint", ODDS)
    return literal_events


@pytest.mark.spark
def test_tokenize_gives_the_different_words(frames, rows_of):
    found = {row[0]: row[1] for row in rows_of(spam_filter.tokenize(frames[0]), "id", "words")}
    assert found[20] == ["pills", "offer"]
    assert found[23] == []
    assert found[25] == ["offer", "offer_2", "meet", "ng"]
    assert found[26] == ["pills", "offer"]


@pytest.mark.spark
def test_word_probability_is_twice_the_odds_and_one_more_for_spam(frames, rows_of):
    known = spam_filter.word_probability(spam_filter.tokenize(frames[0]), frames[1])
    found = {row[0]: row[1] for row in rows_of(known, "id", "interest")}
    assert found[21] == [2 * MOST, 2 * MOST + 1]
    assert found[22] == [-2 * UNKNOWN]


@pytest.mark.spark
def test_bayes_rule_sums_the_fifteen_most_interesting_odds(frames, rows_of):
    judged = spam_filter.bayes_rule(spam_filter.word_probability(spam_filter.tokenize(frames[0]), frames[1]))
    assert rows_of(judged, "id", "odds_millionths", "verdict") == ANSWER
    assert rows_of(judged, "origin")[0] == ((1000, 0, 0, 0),)


def test_the_oracle_expects_a_verdict_on_each_mail(seen, rows_of):
    expected = spam_filter.verdict_on_each_mail(seen)
    assert rows_of(expected.rows, "id", "odds_millionths", "verdict") == ANSWER
    assert rows_of(expected.rows, "partition", '"offset"', "id")[-1] == (1, 3, 26)


def test_quality_counts_labelled_mails(seen):
    quality = spam_filter.verdict_on_each_mail(seen).quality
    assert quality == pytest.approx({"precision": 2 / 3, "recall": 2 / 3})


def test_odds_are_the_same_in_numpy_and_in_the_oracles_sql():
    found = duckdb.sql("""
        select p, round(1e6 * ln(p / (1000 - p)))::bigint from (select unnest(range(10, 991)) as p) order by p
    """).fetchall()
    assert [odds for _, odds in found] == odds_by_thousandths()[10:991].tolist()
    assert (odds_by_thousandths()[990], odds_by_thousandths()[800], odds_by_thousandths()[400]) == (
        MOST,
        FOUR_TO_ONE,
        UNKNOWN,
    )
