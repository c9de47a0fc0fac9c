"""sentiment-words (BO5): which words of English speak well, which speak ill, and which say nothing at all.

The ratings are those of the VADER lexicon (Hutto and Gilbert, 2014), which the package `vaderSentiment` carries; the
stop words are those of the package `stop-words`. A rating belongs to a stem, as the English Snowball stemmer (Porter's
second) finds it: the sum of the ratings of all rated words with that stem decides whether it is positive or negative.
The table lists every rated word and the regular inflections of each stem's shortest word, so that a reader who looks
a word up here has stemmed it. A rated word is never a stop word; a stop word is never an inflection.

`--data sentiments=FILE` takes other ratings: a word, a tab and a number per line; what follows another tab is left out.
That is the form of VADER's own file and of the AFINN lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import snowballstemmer  # type: ignore[import-untyped]
import stop_words  # type: ignore[import-untyped]

from streamgauge.model.errors import UserError
from streamgauge.model.table import StoredTable
from streamgauge.model.wire import Field, FieldType
from streamgauge.streams.schema import arrow_schema
from streamgauge.streams.tables.reading import text_of_file

POSITIVE, NEGATIVE, STOP = "positive", "negative", "stop"
FIELDS = (
    Field("word", FieldType.STRING, "a word in small letters, apostrophes included"),
    Field("stem", FieldType.STRING, "its stem; a stop word has none but itself"),
    Field("kind", FieldType.STRING, "positive, negative or stop"),
)
_WORD = re.compile(r"[a-z']+")


@cache
def _rows() -> pa.Table:
    text = files("vaderSentiment").joinpath("vader_lexicon.txt").read_text("utf-8")
    return _with_stop_words(_ratings(text, "vader_lexicon.txt"))


def _recorded(path: Path) -> pa.Table:
    return _with_stop_words(_ratings(text_of_file(path), str(path)))


def _ratings(text: str, name: str) -> dict[str, int]:
    """Word → rating in thousandths; what holds anything but letters (a smiley) is left out."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        word, _, rest = line.partition("\t")
        try:
            rating = round(1000 * float(rest.partition("\t")[0]))
        except ValueError:
            raise UserError(f"{name}, line {number}: no rating", "Each line needs a word, a tab and a number") from None
        if _WORD.fullmatch(word.lower()):
            found[word.lower()] = rating
    return found


def _with_stop_words(ratings: Mapping[str, int]) -> pa.Table:
    stem_of = snowballstemmer.stemmer("english").stemWord
    stems = {word: stem_of(word) for word in ratings}
    total: dict[str, int] = {}
    shortest: dict[str, str] = {}
    for word, stem in stems.items():
        total[stem] = total.get(stem, 0) + ratings[word]
        if len(word) < len(shortest.get(stem, word + "x")):
            shortest[stem] = word
    stops = {word for word in stop_words.get_stop_words("en") if _WORD.fullmatch(word)} - stems.keys()
    for word in shortest.values():
        for form in _inflections(word):
            if form not in stems and form not in stops and (stem := stem_of(form)) in total:
                stems[form] = stem
    rated = [(word, stem, POSITIVE if total[stem] > 0 else NEGATIVE) for word, stem in stems.items() if total[stem]]
    listed = sorted([*rated, *((word, word, STOP) for word in stops)])
    columns = zip(*listed, strict=True)
    return pa.table([list(c) for c in columns], schema=arrow_schema(FIELDS))


def _inflections(word: str) -> Iterator[str]:
    """What English regularly makes of a word; its stem tells whether it is one of the family."""
    if word.endswith("e"):
        yield from (word + "s", word + "d", word[:-1] + "ing")
    elif word.endswith("y"):
        yield from (word + "ing", word[:-1] + "ies", word[:-1] + "ied", word[:-1] + "ily")
    else:
        plural = "es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s"
        yield from (word + plural, word + "ed", word + "ing", word + "ly")


TABLE = StoredTable(
    name="sentiment-words",
    about="English words that are positive, negative or of no weight, each with its stem",
    fields=FIELDS,
    synthetic=_rows,
    recorded=_recorded,
)
