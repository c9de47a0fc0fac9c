"""aol-search (SB2): a web search log with five tab-separated fields of about 60 bytes.

`--data FILE` replays a file of the published collection: a header line `AnonID Query QueryTime ItemRank ClickURL`,
tabs between the fields, times like `2006-03-01 07:17:12`, the last two fields empty where nothing was clicked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Delimited, Field, FieldType
from streamgauge.streams.randomness import field, lookup_table, random_bits, zipf_weights
from streamgauge.streams.recorded import recorded_source
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.vocabulary import SITE_COUNT, WORD_COUNT, sites, words

FIELDS = (
    Field("user_id", FieldType.LONG, "anonymous number of the user"),
    Field("query", FieldType.STRING, "one to five words", optional=True),
    Field("query_time", FieldType.TIMESTAMP, "when the query was sent"),
    Field("item_rank", FieldType.LONG, "rank of the result that was clicked, if any", optional=True),
    Field("click_url", FieldType.STRING, "site of the result that was clicked, if any", optional=True),
)
WIRE = Delimited("\t")

_FIRST_SECOND = 1_141_171_200
"""2006-03-01 00:00:00 UTC."""
_SECONDS_PER_EVENT = (2, 5)
"""Two seconds for five events, as in three months of the published collection."""
_USER_COUNT = 100_000
_RANK_COUNT = 500

_HEAD_WIDTH, _TAIL_WIDTH, _USER_WIDTH, _SITE_WIDTH, _RANK_WIDTH = 16, 15, 18, 14, 11
_HEAD_WORDS = (0.45, 0.40, 0.15)
"""Chances of one, two and three words in the first part of a query."""
_TAIL_WORDS = (0.45, 0.33, 0.22)
"""Chances of none, one and two words in the second part."""


@dataclass(frozen=True)
class _Tables:
    """What events are looked up in: outcomes repeated in proportion to their chances."""

    heads: pa.StringArray
    tails: pa.StringArray
    user_ids: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.int64]
    clicked_sites: pa.StringArray
    """The address of each site, and a missing value after the last."""
    sites: npt.NDArray[np.int32]


@cache
def _tables() -> _Tables:
    users = lookup_table(zipf_weights(_USER_COUNT, 0.75), _USER_WIDTH).astype(np.int64)
    return _Tables(
        heads=_phrases(lane=0, width=_HEAD_WIDTH, fewest=1, chances=_HEAD_WORDS),
        tails=_phrases(lane=1, width=_TAIL_WIDTH, fewest=0, chances=_TAIL_WORDS),
        # An odd multiplier spreads the frequent users over all numbers without making two alike.
        user_ids=100 + users * 6_700_417 % 9_999_991,
        ranks=1 + lookup_table(zipf_weights(_RANK_COUNT, 1.6), _RANK_WIDTH).astype(np.int64),
        clicked_sites=pa.array([*sites(), None], pa.string()),
        sites=lookup_table(zipf_weights(SITE_COUNT, 0.9), _SITE_WIDTH),
    )


def _phrases(lane: int, width: int, fewest: int, chances: tuple[float, ...]) -> pa.StringArray:
    """2**width phrases of Zipf-distributed words; where a phrase may be empty, the others begin with a space."""
    count = 1 << width
    bits = random_bits(0, lane, 0, count)
    lengths = lookup_table(chances, 12)[field(bits, 48, 12)] + fewest
    word_of = lookup_table(zipf_weights(WORD_COUNT, 0.95), 16)
    bare = pa.array([*words(), ""], pa.string())
    spaced = pa.array([*(f" {word}" for word in words()), ""], pa.string())
    pieces = []
    for place in range(fewest + len(chances) - 1):
        word = np.where(lengths > place, word_of[field(bits, 16 * place, 16)], np.int32(WORD_COUNT))
        pieces.append((bare if fewest and place == 0 else spaced).take(column(word)))
    return pc.binary_join_element_wise(*pieces, "")


@dataclass(frozen=True)
class SyntheticSearches:
    """Generated searches: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        tables = _tables()
        text_bits = random_bits(self.seed, 0, start, count)
        click_bits = random_bits(self.seed, 1, start, count)
        query = pc.binary_join_element_wise(
            tables.heads.take(column(field(text_bits, 0, _HEAD_WIDTH))),
            tables.tails.take(column(field(text_bits, 16, _TAIL_WIDTH))),
            "",
        )
        user_id = tables.user_ids[field(text_bits, 32, _USER_WIDTH)]
        clicked = field(click_bits, 0, 1).astype(np.bool_)
        site = np.where(clicked, tables.sites[field(click_bits, 1, _SITE_WIDTH)], np.int32(SITE_COUNT))
        rank = tables.ranks[field(click_bits, 16, _RANK_WIDTH)]
        return pa.RecordBatch.from_arrays(
            [
                column(user_id),
                query,
                column(_seconds(start, count, field(click_bits, 32, 8))).cast(pa.timestamp("s")),
                column(rank, valid=clicked),
                tables.clicked_sites.take(column(site)),
            ],
            schema=arrow_schema(FIELDS),
        )


def _seconds(start: int, count: int, jitter: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Seconds since 1970 that grow with the index for ever; about one event in ten is a second or two behind."""
    seconds, events = _SECONDS_PER_EVENT
    behind = (jitter < 24).astype(np.int64) + (jitter < 8)
    return _FIRST_SECOND + np.arange(start, start + count, dtype=np.int64) * seconds // events - behind


def _recorded(path: Path) -> Source:
    return recorded_source(path, FIELDS, WIRE)


STREAM = Stream(
    name="aol-search",
    about="A web search log: who searched for what, when, and what was clicked",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticSearches,
    recorded=_recorded,
    papers=("SB2", "BO19"),
)
