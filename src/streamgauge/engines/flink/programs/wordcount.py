"""Word count: how often each word has been seen so far."""

from __future__ import annotations

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.program import Program, Result


def split() -> Result:
    """One row per word of each query; between two spaces in a row stands none."""
    return Result(
        f"SELECT word, {origin.text(origin.split_ordinal('place'))} AS origin"
        " FROM searches CROSS JOIN UNNEST(SPLIT(query, ' ')) WITH ORDINALITY AS words (word, place)"
        " WHERE word <> ''"
    )


def count() -> Result:
    """The running count per word."""
    return Result(
        f"SELECT word, COUNT(*) AS seen, {origin.LATEST}"
        " FROM searches CROSS JOIN UNNEST(SPLIT(query, ' ')) AS words (word)"
        " WHERE word <> '' GROUP BY word",
        updates=True,
    )


PROGRAM = Program("wordcount", {"split": split, "count": count})
