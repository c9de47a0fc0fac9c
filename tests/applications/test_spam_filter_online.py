"""Spam filter, online: a mail is judged by what its mailbox had learned before it, and by nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from streamgauge.applications import spam_filter_online
from streamgauge.applications.stateful import ORIGIN_COLUMNS

MOST, UNKNOWN = 4_595_120, -405_465
"""The odds of the probabilities 0.99 and 0.4 in millionths."""
MAILS = [
    (0, 0, 1000, 30, 7, "analyse", "spam", "win cash"),
    (0, 1, 1001, 31, 7, "train", "spam", "win win cash"),
    (0, 2, 1002, 32, 7, "analyse", "spam", "win lunch"),
    (0, 3, 1003, 33, 7, "train", "ham", "lunch win"),
    (0, 4, 1004, 34, 7, "analyse", "ham", "Win, lunch win"),
    (0, 5, 1005, 35, 7, "train", None, "cash"),
    (0, 6, 1006, 36, 7, "analyse", None, "cash"),
    (0, 7, 1007, 37, 7, "other", "ham", "cash"),
    (1, 0, 1008, 38, 9, "analyse", "spam", "win"),
    (1, 1, 1009, 39, 9, "analyse", "ham", "-"),
]
"""partition, offset, append_ms, id, mailbox, kind, label, text."""
ANSWER = [
    (30, 2 * UNKNOWN, "ham"),
    (32, MOST + UNKNOWN, "spam"),
    (34, UNKNOWN - MOST, "ham"),
    (36, MOST, "spam"),
    (38, UNKNOWN, "ham"),
    (39, 0, "ham"),
]
"""At mail 34, `win` was 2 of 3 words of spam and 1 of 2 of ham: 2·2 / (2·2 + 2·1·3) = 0.4; `lunch` was in ham alone."""


@pytest.fixture
def mails(spark: SparkSession, origin_type: str) -> DataFrame:
    """The mails as stages are given them, the last first."""
    rows = [(number, box, kind, label, text, (ms, p, o, 0)) for p, o, ms, number, box, kind, label, text in MAILS]
    columns = "id bigint, mailbox bigint, kind string, label string, text string"
    return spark.createDataFrame(rows[::-1], f"{columns}, {origin_type}")


@pytest.mark.spark
def test_tokenize_tells_what_each_mail_teaches(mails, rows_of):
    found = rows_of(spam_filter_online.tokenize(mails), "id", "is_judged", "teaches", "keys")
    assert [(number, judged, lesson, len(keys)) for number, judged, lesson, keys in found] == [
        (30, True, 0, 3),
        (31, False, 1, 4),
        (32, True, 0, 3),
        (33, False, -1, 3),
        (34, True, 0, 4),
        (35, False, 0, 2),
        (36, True, 0, 2),
        (38, True, 0, 2),
        (39, True, 0, 1),
    ]


@pytest.mark.spark
def test_a_mail_is_judged_by_the_lessons_before_it(mails, rows_of):
    judged = spam_filter_online.learn_and_judge(spam_filter_online.tokenize(mails))
    assert rows_of(judged, "id", "odds_millionths", "verdict") == ANSWER
    assert rows_of(judged, "id", "mailbox", "origin")[1] == (32, 7, (1002, 0, 2, 0))


def test_the_oracle_expects_the_same_by_the_order_of_the_log(literal_events, rows_of):
    rows = [(p, o, ms, text, number, box, kind, label, text) for p, o, ms, number, box, kind, label, text in MAILS]
    literal_events.add("mails", "id bigint, mailbox bigint, kind varchar, label varchar, text varchar", rows)
    expected: Any = spam_filter_online.verdict_by_what_was_learned(literal_events)
    assert rows_of(expected.rows, "id", "odds_millionths", "verdict") == ANSWER
    assert rows_of(expected.rows, "id", "mailbox", "partition", '"offset"')[1] == (32, 7, 0, 2)
    assert expected.quality == pytest.approx({"precision": 1.0, "recall": 1 / 3})


lessons = st.tuples(st.sampled_from([-1, 0, 1]), st.booleans(), st.lists(st.integers(1, 6), max_size=20))


@given(st.lists(lessons, min_size=1, max_size=30), st.integers(0, 30))
@settings(deadline=None)
def test_two_batches_teach_as_much_as_one(mails: list[tuple[int, bool, list[int]]], cut: int) -> None:
    frame = pd.DataFrame(
        {
            "mailbox": 1,
            "id": range(len(mails)),
            "is_judged": [judged for _, judged, _ in mails],
            "teaches": [0 if judged else lesson for lesson, judged, _ in mails],
            "keys": [np.array([0, *words], dtype=np.int64) for _, _, words in mails],
            **dict.fromkeys(ORIGIN_COLUMNS, 0),
        }
    )
    state, whole = spam_filter_online._step(None, frame)
    parts, made = [part for part in (frame[:cut], frame[cut:]) if len(part)], []
    after = None
    for part in parts:
        after, told = spam_filter_online._step(after, part.reset_index(drop=True))
        made.append(told)
    assert pd.concat(made)["odds_millionths"].tolist() == whole["odds_millionths"].tolist()
    assert after == state
