"""Sentiment analysis (BO5): does each English tweet speak well or ill?

As Bordin describes it (2017): tweets are parsed, those in another language than English are dropped, stop words are
taken out, positive and negative words are counted, both counts come together under the tweet's id, and the tweet is
positive if it has more positive words than negative ones, negative otherwise. The table `sentiment-words` tells where
the word lists come from and what stemming does to them.

A word is a run of ASCII letters and apostrophes, whatever their case: `#happy` holds the word `happy`. `words` is the
number of words left without the stop words. A word that stands twice counts twice.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.words import LETTERS, constant_map, words_of
from streamgauge.model import Application, Expected, Output, PerEvent, stage
from streamgauge.streams.tables.sentiment_words import NEGATIVE, POSITIVE, STOP, TABLE
from streamgauge.streams.tweets import STREAM

LANGUAGE = "en"
_STOP_WORD = 2
"""The weight that stands for a stop word until it is taken out."""


@stage
def english(tweets: DataFrame) -> DataFrame:
    """The words of each tweet in English."""
    return tweets.filter(fn.col("lang") == LANGUAGE).select("id", words_of("text", LETTERS).alias("words"), "origin")


@stage
def stem(english: DataFrame, sentiments: DataFrame) -> DataFrame:
    """For each word that is no stop word, the weight of its stem: 1, -1, or 0 for a stem that is not rated."""
    kind = fn.col("kind")
    weight = fn.when(kind == STOP, _STOP_WORD).when(kind == POSITIVE, 1).when(kind == NEGATIVE, -1)
    weight_of = constant_map(sentiments.select("word", weight.alias("weight")), "word", "weight")
    weights = fn.transform("words", lambda word: fn.coalesce(weight_of[word], fn.lit(0)))
    return english.select("id", fn.array_remove(weights, _STOP_WORD).alias("weights"), "origin")


@stage
def polarity(stem: DataFrame) -> DataFrame:
    """How many words of either kind each tweet has, and which kind prevails."""
    counted = stem.select(
        "id",
        fn.size("weights").alias("words"),
        fn.size(fn.filter("weights", lambda weight: weight > 0)).alias("positive"),
        fn.size(fn.filter("weights", lambda weight: weight < 0)).alias("negative"),
        "origin",
    )
    prevails = fn.when(fn.col("positive") > fn.col("negative"), POSITIVE).otherwise(NEGATIVE)
    return counted.select("id", "words", "positive", "negative", prevails.alias("sentiment"), "origin")


def polarity_of_each_english_tweet(events: Any) -> Expected:
    """The counts of every English tweet, a tweet without a single word included."""
    return Expected(
        events.sql(f"""
            with word_of_tweet as (
                select partition, "offset", lower(unnest(regexp_extract_all(text, '[A-Za-z'']+'))) as word
                from tweets where lang = '{LANGUAGE}'
            ),
            counted as (
                select partition, "offset",
                       count(*) filter (kind is distinct from '{STOP}') as words,
                       count(*) filter (kind = '{POSITIVE}') as positive,
                       count(*) filter (kind = '{NEGATIVE}') as negative
                from word_of_tweet left join sentiments using (word)
                group by partition, "offset"
            )
            select partition, "offset", id, coalesce(words, 0) as words, coalesce(positive, 0) as positive,
                   coalesce(negative, 0) as negative,
                   if(coalesce(positive > negative, false), '{POSITIVE}', '{NEGATIVE}') as sentiment
            from tweets left join counted using (partition, "offset")
            where lang = '{LANGUAGE}'
        """)
    )


APPLICATION = Application(
    name="sentiment-analysis",
    question="Does each English tweet speak well or ill?",
    inputs={"tweets": STREAM},
    tables={"sentiments": TABLE},
    stages=(english, stem, polarity),
    outputs=(
        Output(
            "polarity",
            polarity_of_each_english_tweet,
            PerEvent(("id", "words", "positive", "negative", "sentiment")),
        ),
    ),
    papers=("BO5",),
    required={"tweets": ("id", "lang", "text")},
    deviations=(
        "Positive and negative words are counted in one pass over a tweet's words, so nothing is joined by its id; the "
        "thesis counts in two operators and joins their streams.",
        "Words are stemmed when the table is made and looked up in it; the thesis's Stemmer takes out stop words and "
        "leaves the others as they are.",
        "The lists are VADER's ratings and the stop-words package's; the thesis does not name its own.",
    ),
)
