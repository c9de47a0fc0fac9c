"""Spam filter, online (BO6): is each mail spam, by what its mailbox has learned from the mails before it?

The form of Bordin's application (2017) that is trained while it runs: mails for training and mails for analysis are one
stream; the former change the counts of their words as in `spam-filter-training`, the latter are judged as in
`spam-filter` by the counts at that moment. Each mailbox has a filter of its own, as in Graham's plan (2002), so the
order of its mails in the log decides what has been learned. A mail for training without a label teaches nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.spam_filter import INTERESTING_WORDS, THRESHOLD_MILLIONTHS, judged
from streamgauge.applications.stateful import ORIGIN_COLUMNS, in_batches
from streamgauge.applications.words import LETTERS_AND_DIGITS, words_of
from streamgauge.model import Application, Expected, Output, PerEvent, stage
from streamgauge.streams.mails import ANALYSE, HAM, SPAM, STREAM, TRAIN
from streamgauge.streams.tables.word_odds import (
    LEAST_THOUSANDTHS,
    MOST_THOUSANDTHS,
    UNKNOWN_THOUSANDTHS,
    odds_of,
)

if TYPE_CHECKING:
    import pandas as pd

Whole = npt.NDArray[np.int64]


@stage(key=("mailbox",))
def tokenize(mails: DataFrame) -> DataFrame:
    """What each mail teaches (1 spam, -1 ham, 0 nothing), and hashes of its mailbox and of each of its words there."""
    words = fn.transform(words_of("text", LETTERS_AND_DIGITS), lambda word: fn.xxhash64("mailbox", word))
    teaches = fn.when(fn.col("kind") == TRAIN, fn.when(fn.col("label") == SPAM, 1).when(fn.col("label") == HAM, -1))
    return mails.filter(fn.col("kind").isin(TRAIN, ANALYSE)).select(
        "id",
        "mailbox",
        (fn.col("kind") == ANALYSE).alias("is_judged"),
        fn.coalesce(teaches, fn.lit(0)).alias("teaches"),
        fn.concat(fn.array(fn.xxhash64("mailbox")), words).alias("keys"),
        "origin",
    )


@stage(uses=("python-state",))
def learn_and_judge(tokenize: DataFrame) -> DataFrame:
    """The odds and the verdict of each mail for analysis, after all lessons before it and none after it."""
    return in_batches(tokenize, "mailbox", _step, "mailbox bigint, id bigint, odds_millionths bigint, verdict string")


def _step(state: bytes | None, mails: pd.DataFrame) -> tuple[bytes, pd.DataFrame]:
    """All mails of a bucket at once: a mailbox's key counts all of its words, so totals are found as counts are."""
    known, *known_counts = np.frombuffer(state or b"", dtype=np.int64).reshape(3, -1)
    lengths = mails["keys"].map(len).to_numpy()
    mail = np.repeat(np.arange(len(mails)), lengths)
    first = np.cumsum(lengths) - lengths
    times = np.ones(len(mail), dtype=np.int64)
    times[first] = lengths - 1
    keys, key = np.unique(np.concatenate([known, *mails["keys"]]), return_inverse=True)
    order = np.argsort(key, kind="stable")
    teaches = mails["teaches"].to_numpy()[mail]
    added = [np.where(teaches == lesson, times, 0) for lesson in (1, -1)]
    counts = [np.concatenate([old, new]) for old, new in zip(known_counts, added, strict=True)]
    after = np.stack([keys, *(np.bincount(key, c, len(keys)).astype(np.int64) for c in counts)])
    spam, ham = (_running(c, key, order)[len(known) :] for c in counts)
    # Judged mails teach nothing, so a running count at one of their words is the count before the mail.
    asked = np.flatnonzero(mails["is_judged"].to_numpy()[mail])
    asked = asked[~np.isin(asked, first)]
    _, once = np.unique(mail[asked] * len(keys) + key[len(known) :][asked], return_index=True)
    asked = asked[once]
    total = first[mail[asked]]
    odds = odds_of(spam[asked], ham[asked], spam[total], ham[total])
    summed = _sum_of_interesting(mail[asked], odds, len(mails))
    return after[:, after[1:].any(axis=0)].tobytes(), _verdicts(mails, summed)


def _running(counts: Whole, key: Whole, order: Whole) -> Whole:
    """The sum of the counts of the same key up to each place; `order` sorts places by key."""
    sums = np.cumsum(counts[order])
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    before = np.concatenate([[0], sums])[starts]
    running = np.empty_like(sums)
    running[order] = sums - np.repeat(before, np.diff(np.append(starts, len(order))))
    return running


def _sum_of_interesting(mail: Whole, odds: Whole, mails: int) -> Whole:
    """For each mail the sum of its most interesting odds; doubles hold these whole numbers exactly."""
    ranked = np.lexsort((-odds, -np.abs(odds), mail))
    mail, odds = mail[ranked], odds[ranked]
    place = np.arange(len(mail)) - np.searchsorted(mail, mail)
    return np.bincount(mail, np.where(place < INTERESTING_WORDS, odds, 0), mails).astype(np.int64)


def _verdicts(mails: pd.DataFrame, odds: Whole) -> pd.DataFrame:
    told = mails.loc[mails["is_judged"], ["mailbox", "id", *ORIGIN_COLUMNS]]
    told.insert(2, "odds_millionths", odds[mails["is_judged"]])
    told.insert(3, "verdict", np.where(told["odds_millionths"] > THRESHOLD_MILLIONTHS, SPAM, HAM))
    return told


def verdict_by_what_was_learned(events: Any) -> Expected:
    """The odds and the verdict of every mail for analysis, by the lessons before it in its mailbox."""
    return judged(
        events,
        f"""
            with word_of_mail as (
                select partition, "offset", mailbox, kind,
                       lower(unnest(regexp_extract_all(text, '[A-Za-z0-9_]+'))) as word,
                       (kind = '{TRAIN}' and label is not distinct from '{SPAM}')::int as spam,
                       (kind = '{TRAIN}' and label is not distinct from '{HAM}')::int as ham
                from mails
            ),
            counted as (
                select partition, "offset", mailbox, kind, word, sum(spam) as spam, sum(ham) as ham
                from word_of_mail group by all
            ),
            learned as (
                select partition, "offset", kind,
                       sum(spam) over of_word as spam, sum(ham) over of_word as ham,
                       greatest(sum(spam) over of_all, 1) as all_spam, greatest(sum(ham) over of_all, 1) as all_ham
                from counted
                window of_word as (partition by mailbox, word order by "offset"),
                       of_all as (partition by mailbox order by "offset")
            ),
            probable as (
                select *, case when spam + ham = 0 then {UNKNOWN_THOUSANDTHS}
                               else greatest({LEAST_THOUSANDTHS}, least({MOST_THOUSANDTHS},
                                    1000 * spam * all_ham // (spam * all_ham + 2 * ham * all_spam))) end as p
                from learned
            )
            select partition, "offset", round(1e6 * ln(p / (1000 - p)))::bigint as odds
            from probable where kind = '{ANALYSE}'
        """,
        f"(from mails where kind = '{ANALYSE}')",
        "mailbox, id",
    )


APPLICATION = Application(
    name="spam-filter-online",
    question="Is each mail spam, by what its mailbox has learned from the mails before it?",
    inputs={"mails": STREAM},
    stages=(tokenize, learn_and_judge),
    outputs=(
        Output(
            "learn_and_judge",
            verdict_by_what_was_learned,
            PerEvent(("mailbox", "id", "odds_millionths", "verdict"), key=("mailbox",)),
        ),
    ),
    papers=("BO6",),
    order="within a mailbox by offset",
    required={"mails": ("id", "mailbox", "kind", "text")},
    deviations=(
        "Mails for training and for analysis come in one stream, so that the log decides which came first; the thesis "
        "has a stream of each.",
        "Each mailbox learns for itself; in the thesis all mails teach one filter, in whatever order they arrive.",
        "A mail's words stay together in one row, so nothing is collected by the mail's id.",
        "Probabilities are whole thousandths and odds whole millionths, so that sums are exact.",
        "Words are known by 64 bits of hash.",
    ),
)
