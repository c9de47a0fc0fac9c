"""Spam filter (BO6): is each mail spam, by word probabilities that were learned beforehand?

Naive Bayes after Graham ("A plan for spam", 2002), as Bordin's Storm applications have it: a mail is split into words,
each different word gets its probability of spam, and Bayes' rule combines the fifteen most interesting ones, those
furthest from a half: spam if P / (P + Q) is above 0.9, with P the product of the probabilities and Q that of their
complements.

That is so when the sum of the words' odds, the logarithms of p / (1 - p), is above ln 9, and this is how it is computed
here, in millionths. The table `word-odds` tells how odds follow from counts; a word that is not in it has a probability
of 0.4. A word is a run of ASCII letters, digits and underscores, whatever their case. Of words that are equally
interesting, those that speak for spam come first.

Every mail is judged, those for training too. What learns while it runs is in `spam-filter-training` (counts per word)
and in `spam-filter-online` (a mail is judged by what its mailbox has learned before it).
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.labels import precision_and_recall
from streamgauge.applications.words import LETTERS_AND_DIGITS, constant_map, words_of
from streamgauge.model import Application, Expected, Output, PerEvent, stage
from streamgauge.streams.mails import HAM, SPAM, STREAM
from streamgauge.streams.tables.word_odds import TABLE, UNKNOWN_THOUSANDTHS, odds_by_thousandths

INTERESTING_WORDS = 15
THRESHOLD_MILLIONTHS = 2_197_225
"""ln 9, rounded: the odds of a probability of 0.9."""
_UNKNOWN = int(odds_by_thousandths()[UNKNOWN_THOUSANDTHS])


@stage
def tokenize(mails: DataFrame) -> DataFrame:
    """The different words of each mail."""
    return mails.select("id", fn.array_distinct(words_of("text", LETTERS_AND_DIGITS)).alias("words"), "origin")


@stage
def word_probability(tokenize: DataFrame, odds: DataFrame) -> DataFrame:
    """The interest of each word: twice the size of its odds, and one more where they speak for spam."""
    interest_of = constant_map(
        odds.select("word", _interest(fn.col("odds_millionths")).alias("interest")), "word", "interest"
    )
    unknown = _interest(fn.lit(_UNKNOWN))
    interest = fn.transform("words", lambda word: fn.coalesce(interest_of[word], unknown))
    return tokenize.select("id", interest.alias("interest"), "origin")


@stage
def bayes_rule(word_probability: DataFrame) -> DataFrame:
    """The sum of the odds of the most interesting words, and what it says of the mail."""
    interesting = fn.slice(fn.sort_array("interest", asc=False), 1, INTERESTING_WORDS)
    total = fn.aggregate(interesting, fn.lit(0).cast("bigint"), lambda total, interest: total + _odds(interest))
    summed = word_probability.select("id", total.alias("odds_millionths"), "origin")
    return summed.select("id", "odds_millionths", _verdict(fn.col("odds_millionths")).alias("verdict"), "origin")


def _verdict(odds_millionths: Column) -> Column:
    return fn.when(odds_millionths > THRESHOLD_MILLIONTHS, SPAM).otherwise(HAM)


def _interest(odds: Column) -> Column:
    """Odds as a number that sorts by interest, then by spam, and can be turned back."""
    return (2 * fn.abs(odds) + (odds > 0).cast("bigint")).cast("bigint")


def _odds(interest: Column) -> Column:
    size = fn.shiftright(interest, 1)
    return fn.when(interest % 2 == 1, size).otherwise(-size)


def judged(events: Any, odds_of_words: str, mails: str = "mails", told: str = "id") -> Expected:
    """What the odds of each mail's different words, a query, say of the mails, another; `told` are fields to keep."""
    judgement = f"""
        with ranked as (
            select *, row_number() over (
                partition by partition, "offset" order by abs(odds) desc, odds desc) as place
            from ({odds_of_words})
        ),
        summed as (
            select partition, "offset", sum(odds)::bigint as odds from ranked
            where place <= {INTERESTING_WORDS} group by partition, "offset"
        )
        select partition, "offset", {told}, label, coalesce(odds, 0) as odds_millionths,
               if(odds_millionths > {THRESHOLD_MILLIONTHS}, '{SPAM}', '{HAM}') as verdict
        from {mails} left join summed using (partition, "offset")
    """
    labelled = (
        f"select verdict = '{SPAM}' as named, label = '{SPAM}' as meant from ({judgement}) where label is not null"
    )
    return Expected(events.sql(judgement), quality=precision_and_recall(events, labelled))


def verdict_on_each_mail(events: Any) -> Expected:
    """The odds and the verdict of every mail, of one without words too."""
    return judged(
        events,
        f"""
            with word_of_mail as (
                select distinct partition, "offset", lower(unnest(regexp_extract_all(text, '[A-Za-z0-9_]+'))) as word
                from mails
            )
            select partition, "offset", coalesce(odds_millionths, {_UNKNOWN}) as odds
            from word_of_mail left join odds using (word)
        """,
    )


APPLICATION = Application(
    name="spam-filter",
    question="Is each mail spam, by word probabilities that were learned beforehand?",
    inputs={"mails": STREAM},
    tables={"odds": TABLE},
    stages=(tokenize, word_probability, bayes_rule),
    outputs=(Output("bayes_rule", verdict_on_each_mail, PerEvent(("id", "odds_millionths", "verdict"))),),
    papers=("BO6",),
    required={"mails": ("id", "text")},
    deviations=(
        "A mail's words stay together in one row, so nothing is collected by the mail's id; in the thesis each word is "
        "an event of its own and Bayes' rule waits for the last.",
        "Probabilities are whole thousandths and odds whole millionths, so that sums are exact.",
        "Training and analysis are applications of their own: spam-filter-training, spam-filter-online.",
    ),
)
