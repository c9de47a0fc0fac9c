"""tweets (BO5, BO7): short messages in several languages, some with hashtags, as JSON of about 120 bytes.

A hashtag is either one of the evergreens or one of the moment: every minute of event time another few tags rise while
those of the minute before fade, so that what is trending changes for ever.

`--data FILE` replays what Twitter's streaming interface sent, a JSON object per line: `id_str` or `id`, `timestamp_ms`
or `created_at` (`Wed Aug 27 13:08:45 +0000 2008`), `lang` of the tweet or else of its `user`, and `full_text` (in
`extended_tweet` too) or `text`. Lines without these, such as notices that a tweet was deleted, are skipped. Hashtags
are taken from the text, so `entities` is not needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Field, FieldType, Json
from streamgauge.streams.randomness import field, lookup_table, mix, random_bits, zipf_weights
from streamgauge.streams.recorded import file_content, looped
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.vocabulary import words

FIELDS = (
    Field("id", FieldType.LONG, "number of the tweet"),
    Field("created_ms", FieldType.LONG, "when it was sent, in milliseconds since 1970"),
    Field("lang", FieldType.STRING, "language that it is written in"),
    Field("text", FieldType.STRING, "the message with its hashtags"),
)

_FIRST_MS = 1_356_998_400_000
"""2013-01-01 00:00:00 UTC."""
_FIRST_ID = 285_896_300_000_000_000
_MS_PER_TWEET = 10
_TWEETS_PER_ERA = 6000
_TAG_COUNT = 2048
_TAGS_OF_AN_ERA = 32
_PHRASE_WIDTH = 13
_EVERGREEN = 0.5
"""Share of the hashtags that are no fashion."""
_TAGS = (0.5, 0.37, 0.13)
"""Chances of none, one and two hashtags."""

_LANGUAGES = {"en": 0.6, "es": 0.15, "pt": 0.1, "ja": 0.1, "de": 0.05}
_PLAIN = {
    "en": "the to i a and you my is it in of for on me this that so with just at be are was have we i'm all not your "
    "don't it's what when how but can will they about been from our out up now",
    "es": "que de no la el en lo me es por mi con para una te muy hoy todo como pero bien día gracias vida mañana",
    "pt": "que de não eu um uma é pra com meu você hoje mais muito tudo bem dia agora aqui gente vida amanhã",
    "ja": "今日 は の に を が です ます 明日 ありがとう 東京 好き 楽しい 寒い 朝 夜 ご飯 仕事 電車 天気",
    "de": "ich und die der das ist nicht du ein mit auf zu es heute morgen schön danke wieder für über doch mal",
}
_GOOD = (
    "love great good happy best awesome nice thanks loved loving amazing beautiful fun excited enjoy enjoyed cool "
    "perfect wonderful glad hope lol win winning sweet cute free friends smile smiling luck super proud brilliant"
)
_BAD = (
    "hate bad sad sick tired worst angry awful terrible hated horrible crying lost losing boring bored fail failed "
    "hurt hurts annoying pain wrong ugly worry worried scared broken problem lonely stress crap dead mad miss sorry"
)
_ENDINGS = ("", "", "", "", "!", "!!", "?", "...", " :)", " http://t.co/Kx81aQ", ", right?", ".")


@dataclass(frozen=True)
class _Tables:
    """What tweets are put together from."""

    heads: pa.StringArray
    """Phrases, `2 ** _PHRASE_WIDTH` for each language in turn."""
    tails: pa.StringArray
    tags: pa.StringArray
    """A space and the hashtag, for each tag; nothing after the last."""
    languages: pa.StringArray
    language_of: npt.NDArray[np.int32]
    tags_of: npt.NDArray[np.int32]
    evergreen_of: npt.NDArray[np.int32]
    fashion_of: npt.NDArray[np.int32]


@cache
def _tables() -> _Tables:
    return _Tables(
        heads=_phrases(lane=0, fewest=3, most=6),
        tails=_phrases(lane=8, fewest=2, most=5, spaced=True),
        tags=pa.array([*(f" #{word}" for word in words()[-_TAG_COUNT:]), ""], pa.string()),
        languages=pa.array(list(_LANGUAGES), pa.string()),
        language_of=lookup_table(list(_LANGUAGES.values()), 10),
        tags_of=lookup_table(_TAGS, 10),
        evergreen_of=lookup_table(zipf_weights(_TAG_COUNT, 0.9), 14),
        fashion_of=lookup_table(zipf_weights(_TAGS_OF_AN_ERA, 1.0), 12),
    )


def _phrases(lane: int, fewest: int, most: int, spaced: bool = False) -> pa.StringArray:
    """Phrases of each language in turn; where they are spaced they begin with a space and end in some ending."""
    count, found = 1 << _PHRASE_WIDTH, []
    for place, language in enumerate(_LANGUAGES):
        vocabulary, weights = _weighted_words(language)
        texts, word_of = pa.array(vocabulary, pa.string()), lookup_table(weights, 15)
        bits = [random_bits(place, lane + half, 0, count) for half in (0, 1)]
        lengths = fewest + field(bits[0], 60, 4) % (most - fewest + 1)
        pieces = []
        for position in range(most):
            drawn = texts.take(column(word_of[field(bits[position // 4], 15 * (position % 4), 15)]))
            pieces.append(pc.if_else(pa.array(lengths > position), drawn, pa.scalar(None, pa.string())))
        joined = pc.binary_join_element_wise(*pieces, " ", null_handling="skip")
        if spaced:
            ending = pa.array(_ENDINGS).take(column(field(bits[1], 60, 4) % len(_ENDINGS)))
            joined = pc.binary_join_element_wise(pa.scalar(" "), joined, ending, "")
        found.append(joined)
    return pa.concat_arrays(found)


def _weighted_words(language: str) -> tuple[list[str], npt.NDArray[np.float64]]:
    """The words of a language with their weights; English ones with feelings, others from the plain list alone."""
    plain = _PLAIN[language].split()
    if language != "en":
        return plain, zipf_weights(len(plain), 0.7)
    parts = [(plain, 0.45), (list(words()[:600]), 0.27), (_GOOD.split(), 0.16), (_BAD.split(), 0.12)]
    weights = [share * (w := zipf_weights(len(part), 0.7)) / w.sum() for part, share in parts]
    return [word for part, _ in parts for word in part], np.concatenate(weights)


@dataclass(frozen=True)
class SyntheticTweets:
    """Generated tweets: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        tables = _tables()
        index = np.arange(start, start + count, dtype=np.int64)
        text_bits, tag_bits = (random_bits(self.seed, lane, start, count) for lane in (0, 1))
        language = tables.language_of[field(text_bits, 0, 10)].astype(np.int64)
        first_phrase = language << _PHRASE_WIDTH
        how_many = tables.tags_of[field(text_bits, 40, 10)]
        tags = [np.where(how_many > n, self._tag(index, tag_bits, 32 * n), np.int64(_TAG_COUNT)) for n in range(2)]
        text = pc.binary_join_element_wise(
            tables.heads.take(column(first_phrase + field(text_bits, 10, _PHRASE_WIDTH))),
            tables.tails.take(column(first_phrase + field(text_bits, 24, _PHRASE_WIDTH))),
            *(tables.tags.take(column(tag)) for tag in tags),
            "",
        )
        created_ms = _FIRST_MS + index * _MS_PER_TWEET - field(text_bits, 50, 10)
        return pa.RecordBatch.from_arrays(
            [
                column(_FIRST_ID + index * 4_194_304 + field(text_bits, 52, 12)),
                column(created_ms),
                tables.languages.take(column(language)),
                text,
            ],
            schema=arrow_schema(FIELDS),
        )

    def _tag(self, index: npt.NDArray[np.int64], bits: npt.NDArray[np.uint64], shift: int) -> npt.NDArray[np.int64]:
        """An evergreen, or a tag of this era or of the one before, the fewer of that the older the era is."""
        tables = _tables()
        evergreen = tables.evergreen_of[field(bits, shift, 14)]
        era, age = np.divmod(index, _TWEETS_PER_ERA)
        era -= field(bits, shift + 15, 4) * _TWEETS_PER_ERA >= age * 16
        rank = tables.fashion_of[field(bits, shift, 12)]
        fashion = mix((era * _TAGS_OF_AN_ERA + rank).astype(np.uint64) ^ np.uint64(self.seed << 20 & (1 << 64) - 1))
        is_evergreen = field(bits, shift + 19, 8) < int(_EVERGREEN * 256)
        return np.where(is_evergreen, evergreen, (fashion % np.uint64(_TAG_COUNT)).astype(np.int64))


def _recorded(path: Path) -> Source:
    rows = []
    for number, line in enumerate(file_content(path).splitlines(), start=1):
        try:
            members = json.loads(line) if line.strip() else {}
            if (row := _tweet(members)) is not None:
                rows.append(row)
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(f"{path}, line {number}: {error}", "Each line needs the JSON object of a tweet") from None
    if not rows:
        raise UserError(f"{path} has no tweets", "Give a file with a JSON object of a tweet per line")
    return looped(pa.Table.from_pylist(rows, schema=arrow_schema(FIELDS)), ms_fields=("created_ms",))


def _tweet(members: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a tweet, from the interface's names or from our own; None for an object that is no tweet."""
    text = members.get("extended_tweet", {}).get("full_text") or members.get("full_text") or members.get("text")
    number = members.get("id_str") or members.get("id")
    created = members.get("created_ms") or members.get("timestamp_ms") or members.get("created_at")
    if text is None or number is None or created is None:
        return None
    language = members.get("lang") or (members.get("user") or {}).get("lang") or "und"
    return {"id": int(number), "created_ms": _instant_ms(created), "lang": language, "text": text}


def _instant_ms(created: int | str) -> int:
    text = str(created)
    if text.isdecimal():
        return int(text)
    return int(datetime.strptime(text, "%a %b %d %H:%M:%S %z %Y").timestamp()) * 1000


STREAM = Stream(
    name="tweets",
    about="Short messages in several languages, with hashtags whose popularity drifts",
    fields=FIELDS,
    wire=Json(),
    synthetic=SyntheticTweets,
    recorded=_recorded,
    papers=("BO5", "BO7", "BO19"),
)
