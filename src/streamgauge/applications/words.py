"""Words of a text, and what a stored table says of each, as expressions: no join and no row per word."""

from __future__ import annotations

import json

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

LETTERS = "a-z'"
LETTERS_AND_DIGITS = "a-z0-9_"
_SMALL_IN_ASCII = "\u0130\u212a"
"""The two characters beyond ASCII whose small letters are within it: a dotted I and the sign of Kelvin."""


def words_of(text: str, characters: str) -> Column:
    """The runs of these ASCII characters in a text column, in small letters, in order, repeats included.

    A text without any gives an empty array. Letters beyond ASCII end a word.
    """
    separated = fn.col(text)
    for character in _SMALL_IN_ASCII:
        separated = fn.replace(separated, fn.lit(character), fn.lit(" "))
    return fn.regexp_extract_all(fn.lower(separated), fn.lit(f"[{characters}]+"), fn.lit(0))


def constant_map(table: DataFrame, key: str, value: str) -> Column:
    """The table as a map from text to whole number that is a constant of the plan: Spark looks keys up by their hash.

    The table is collected here, when the plan is made, as an operator loads its list when it starts. Keep it below some
    ten thousand rows: every batch's plan carries it.
    """
    pairs = {row[0]: row[1] for row in table.select(key, value).collect()}
    return fn.from_json(fn.lit(json.dumps(pairs, ensure_ascii=False)), "map<string, bigint>")
