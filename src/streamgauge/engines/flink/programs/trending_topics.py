"""Trending topics: the ranking of hashtags in each sliding window, told whenever it changes.

Counts per window and topic are ranked by Flink's Top-N, whose changes are gathered to one list per window. Every
occurrence also enters that group by itself, as place 0: it is what `seen` counts, and it keeps the group from being
empty while an entry of the ranking is taken out and put in again. Between the two the list would lack it and be told
without: so this program always gathers records (mini-batch), and only by time, which never parts them.
"""

from __future__ import annotations

import math

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.names import literal
from streamgauge.engines.flink.program import Program, Result
from streamgauge.model import UserError

_WHITE_SPACE = "[ \t\n\r\f]+"
_TERMS = f"UNNEST(SPLIT(REGEXP_REPLACE(text, {literal(_WHITE_SPACE)}, ' '), ' '))"
_IS_TOPIC = "topic LIKE '#%' AND CHAR_LENGTH(topic) > 1"
_PLACE_DIGITS = 4


def topics() -> Result:
    """Each topic of each tweet with the tweet's time."""
    return Result(
        f"SELECT created_ms, topic, {origin.text(origin.split_ordinal('place'))} AS origin"
        f" FROM tweets CROSS JOIN {_TERMS} WITH ORDINALITY AS terms (topic, place)"
        f" WHERE text LIKE '%#%' AND {_IS_TOPIC}"
    )


def rank_all(*, window_s: int, slide_s: int, top: int) -> Result:
    """The ranking of each window as a JSON document, and how many occurrences the window has."""
    if slide_s > window_s:
        raise UserError(f"a window of {window_s} s cannot slide by {slide_s} s", "Set slide_s to at most window_s")
    occurrences = _occurrences(window_s * 1000, slide_s * 1000)
    counted = (
        f"SELECT window_start_ms, topic, COUNT(*) AS uses, MAX({origin.PLACE}) AS {origin.PLACE}"
        f" FROM ({occurrences}) GROUP BY window_start_ms, topic"
    )
    ranked = (
        "SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start_ms ORDER BY uses DESC, topic ASC) AS place"
        f" FROM ({counted})"
    )
    entries = (
        f"SELECT window_start_ms, place, {_entry()} AS entry, {origin.PLACE} FROM ({ranked}) WHERE place <= {top}"
        f" UNION ALL SELECT window_start_ms, CAST(0 AS BIGINT), CAST(NULL AS STRING), {origin.PLACE}"
        f" FROM ({occurrences})"
    )
    gathered = (
        "SELECT window_start_ms, COUNT(*) FILTER (WHERE place = 0) AS seen,"
        f" ARRAY_AGG(entry) FILTER (WHERE place > 0) AS ranking, {origin.LATEST}"
        f" FROM ({entries}) GROUP BY window_start_ms"
    )
    return Result(
        f"SELECT window_start_ms, {_document()} AS document, latest FROM ({gathered})",
        updates=True,
        document="document",
    )


def _occurrences(window_ms: int, slide_ms: int) -> str:
    """SQL: a row for each topic of each tweet and each window that the tweet is in."""
    last = f"created_ms - MOD(created_ms, {slide_ms})"
    starts = ", ".join(f"{last} - {slides * slide_ms}" for slides in range(math.ceil(window_ms / slide_ms)))
    terms = (
        f"SELECT created_ms, topic, {origin.PLACE} FROM tweets CROSS JOIN {_TERMS} AS terms (topic)"
        f" WHERE text LIKE '%#%' AND {_IS_TOPIC}"
    )
    return (
        f"SELECT topic, window_start_ms, {origin.PLACE}"
        f" FROM ({terms}) CROSS JOIN UNNEST(ARRAY[{starts}]) AS windows (window_start_ms)"
        f" WHERE window_start_ms > created_ms - {window_ms}"
    )


def _entry() -> str:
    """SQL: an entry of a ranking as JSON, its place in front so that texts sort as the ranking does."""
    place = f"LPAD(CAST(place AS STRING), {_PLACE_DIGITS}, '0')"
    return f"""{place} || '{{"topic":' || JSON_STRING(topic) || ',"count":' || CAST(uses AS STRING) || '}}'"""


def _document() -> str:
    """SQL: the record; within JSON a quote is escaped, so that only the head of an entry looks like one."""
    joined = "COALESCE(ARRAY_JOIN(ARRAY_SORT(ranking), ','), '')"
    places = f'[0-9]{{{_PLACE_DIGITS}}}(?=\\{{"topic":)'
    entries = f"REGEXP_REPLACE({joined}, {literal(places)}, '')"
    return (
        """'{"window_start_ms":' || CAST(window_start_ms AS STRING) || ',"seen":' || CAST(seen AS STRING)"""
        f""" || ',"ranking":[' || {entries} || ']}}'"""
    )


PROGRAM = Program(
    "trending-topics",
    {"topics": topics, "rank_all": rank_all},
    settings={"mini-batch": "on", "mini-batch-size": "1000000000"},
)
