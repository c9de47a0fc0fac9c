"""sentences (BO1): plain text, one sentence of four to twenty words per event, about 50 bytes.

Words follow Zipf's law; the first of a sentence begins with a capital letter and a full stop ends the last. `--data
FILE` replays a plain text file, as from Project Gutenberg or a Wikipedia dump reduced to its text: lines are joined to
paragraphs, which empty lines part, and paragraphs are cut after each full stop, exclamation or question mark that a
space follows. The licence around a Gutenberg book and the `<doc>` lines around an article are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Field, FieldType, Text
from streamgauge.streams.randomness import field, lookup_table, random_bits, zipf_weights
from streamgauge.streams.recorded import file_content, looped
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.vocabulary import WORD_COUNT, words

FIELDS = (Field("sentence", FieldType.STRING, "words with a space between them"),)

_BEGINNING_WIDTH, _PHRASE_WIDTH, _COUNT_WIDTH = 14, 15, 10
_FEWEST_WORDS, _MOST_WORDS = 2, 4
"""Words of a beginning and of a phrase."""
_PHRASE_CHANCES = (0.30, 0.40, 0.20, 0.10)
"""Chances of one, two, three and four phrases after the beginning."""
_LANE_BEGINNINGS, _LANE_PHRASES = 30, 32
_NATURAL_SKEW = 1.0
"""Words of a language follow Zipf's law with about this exponent."""

_GUTENBERG_START = re.compile(r"^\*\*\* ?START OF .*?\*\*\*.*\n", re.MULTILINE)
_GUTENBERG_END = re.compile(r"^\*\*\* ?END OF ", re.MULTILINE)
_ARTICLE_LINE = re.compile(r"^</?doc\b.*$", re.MULTILINE)
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"')\]”’»])) ")


@cache
def _beginnings(exponent: float) -> pa.StringArray:
    phrases = _phrases(_LANE_BEGINNINGS, _BEGINNING_WIDTH, exponent)
    return pa.array([text.capitalize() for text in phrases], pa.string())


@cache
def _continuations(exponent: float) -> pa.StringArray:
    """Phrases with a space before each, and the empty text after the last."""
    return pa.array([*(f" {text}" for text in _phrases(_LANE_PHRASES, _PHRASE_WIDTH, exponent)), ""], pa.string())


def _phrases(lane: int, width: int, exponent: float) -> list[str]:
    count = 1 << width
    bits = random_bits(0, lane, 0, count)
    word_of = lookup_table(zipf_weights(WORD_COUNT, exponent), 16)
    places = np.stack([word_of[field(bits, 16 * place, 16)] for place in range(_MOST_WORDS)], axis=1)
    lengths = _FEWEST_WORDS + field(random_bits(0, lane + 1, 0, count), 0, 32) % (_MOST_WORDS - _FEWEST_WORDS + 1)
    vocabulary = words()
    return [" ".join(vocabulary[w] for w in row[:n]) for row, n in zip(places.tolist(), lengths.tolist(), strict=True)]


@cache
def _phrase_counts() -> npt.NDArray[np.int32]:
    return 1 + lookup_table(_PHRASE_CHANCES, _COUNT_WIDTH)


@dataclass(frozen=True)
class SyntheticSentences:
    """Generated sentences: each is a function of seed and index alone."""

    seed: int
    key_skew: float = _NATURAL_SKEW
    """The exponent of Zipf's law over the words."""

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        first, second = (random_bits(self.seed, lane, start, count) for lane in (0, 1))
        phrases = _phrase_counts()[field(first, 44, _COUNT_WIDTH)]
        chosen = [field(first, 14, _PHRASE_WIDTH), field(first, 29, _PHRASE_WIDTH)]
        chosen += [field(second, 0, _PHRASE_WIDTH), field(second, 15, _PHRASE_WIDTH)]
        nothing = np.int64(1 << _PHRASE_WIDTH)
        pieces = [_beginnings(self.key_skew).take(column(field(first, 0, _BEGINNING_WIDTH)))]
        for place, phrase in enumerate(chosen):
            pieces.append(_continuations(self.key_skew).take(column(np.where(phrases > place, phrase, nothing))))
        sentence = pc.binary_join_element_wise(*pieces, ".", "")
        return pa.RecordBatch.from_arrays([sentence], schema=arrow_schema(FIELDS))


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a plain text, each with single spaces."""
    if start := _GUTENBERG_START.search(text):
        text = text[start.end() :]
    if end := _GUTENBERG_END.search(text):
        text = text[: end.start()]
    for paragraph in _PARAGRAPH_END.split(_ARTICLE_LINE.sub("", text)):
        line = " ".join(paragraph.split())
        if line:
            yield from _SENTENCE_END.split(line)


def _recorded(path: Path) -> Source:
    try:
        text = file_content(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text", "Convert the file and try again") from None
    found = pa.array(sentences_of(text.replace("\r\n", "\n")), pa.string())
    if not len(found):
        raise UserError(f"{path} has no sentences", "Give a plain text file")
    return looped(pa.table([found], schema=arrow_schema(FIELDS)))


STREAM = Stream(
    name="sentences",
    about="Plain text, one sentence per event",
    fields=FIELDS,
    wire=Text("sentence"),
    synthetic=SyntheticSentences,
    recorded=_recorded,
    skewed=SyntheticSentences,
    papers=("BO1", "BO19"),
)
