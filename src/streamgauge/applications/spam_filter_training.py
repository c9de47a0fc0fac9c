"""Spam filter, training (BO6): how often has each word been seen in spam and in ham so far?

This is what Bordin's Word Probability operator learns from its training stream (2017): the counts from which a word's
probability of spam follows as the table `word-odds` tells, the totals being the sums of the counts. Every mail that has
a label is learned from. A word is a run of ASCII letters, digits and underscores, whatever their case; one that stands
twice in a mail counts twice.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import each, latest_origin
from streamgauge.applications.words import LETTERS_AND_DIGITS, words_of
from streamgauge.model import Application, Emits, Expected, LatestPerKey, Output, stage
from streamgauge.streams.mails import HAM, SPAM, STREAM


@stage(key=("word",))
def tokenize(mails: DataFrame) -> DataFrame:
    """Each word of each mail, and whether the mail is spam."""
    labelled = mails.filter(fn.col("label").isin(SPAM, HAM))
    is_spam = (fn.col("label") == SPAM).alias("is_spam")
    words = labelled.select(is_spam, words_of("text", LETTERS_AND_DIGITS).alias("words"), "origin")
    return each(words, "words", "word", "is_spam")


@stage(uses=("aggregate",), emits=Emits.UPDATES)
def word_probability(tokenize: DataFrame) -> DataFrame:
    """The running counts per word."""
    return tokenize.groupBy("word").agg(
        fn.count_if("is_spam").alias("spam"), fn.count_if(~fn.col("is_spam")).alias("ham"), latest_origin()
    )


def counts_per_word(events: Any) -> Expected:
    """How often each word stands in spam and in ham; a mail that holds a word twice touches it once."""
    words = f"""
        select partition, "offset", label, lower(unnest(regexp_extract_all(text, '[A-Za-z0-9_]+'))) as word
        from mails where label in ('{SPAM}', '{HAM}')
    """
    return Expected(
        rows=events.sql(f"""
            select word, count(*) filter (label = '{SPAM}') as spam, count(*) filter (label = '{HAM}') as ham
            from ({words}) group by word
        """),
        touches=events.sql(f"""select distinct partition, "offset", word from ({words})"""),
    )


APPLICATION = Application(
    name="spam-filter-training",
    question="How often has each word been seen in spam and in ham so far?",
    inputs={"mails": STREAM},
    stages=(tokenize, word_probability),
    outputs=(Output("word_probability", counts_per_word, LatestPerKey(("word",), {"spam": "rises", "ham": "rises"})),),
    papers=("BO6",),
    required={"mails": ("text",)},
    deviations=(
        "The counts are told, not the probabilities: in the thesis every mail changes the totals, and with them the "
        "probabilities of all words.",
    ),
)
