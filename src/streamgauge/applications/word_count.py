"""Word count of sentences (BO1): how often has each word been seen so far?

Bordin (2017) splits sentences into words and counts each word. As in `wordcount`, a word is what stands between spaces,
as it is written: `Home`, `home` and `home.` are three.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from streamgauge.applications.wordcount import count, every_word, final_counts, words_in
from streamgauge.model import Application, Expected, LatestPerKey, Output, PerEvent, stage
from streamgauge.streams.sentences import STREAM


@stage(key=("word",))
def split(sentences: DataFrame) -> DataFrame:
    """One row per word of each sentence."""
    return words_in(sentences, "sentence")


def words_of_each_sentence(events: Any) -> Expected:
    """Every word of every sentence, repeats included."""
    return every_word(events, "sentences", "sentence")


def count_per_word(events: Any) -> Expected:
    """How often each word occurs in all sentences."""
    return final_counts(events, "sentences", "sentence")


APPLICATION = Application(
    name="word-count",
    question="How often has each word been seen so far in a text?",
    inputs={"sentences": STREAM},
    stages=(split, count),
    outputs=(
        Output("split", words_of_each_sentence, PerEvent(("word",))),
        Output("count", count_per_word, LatestPerKey(("word",), {"seen": "rises"})),
    ),
    papers=("BO1",),
)
