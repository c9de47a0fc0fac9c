"""card-transactions (BO9): purchases by credit card as a card issuer sees them, a few cards in a thief's hands.

A transaction is known by a state of three letters, as in the generator of the original: the amount (Low, Medium, High),
the price of what was bought (Normal, High), and the time since the card's last transaction (Large, Normal, Small). An
honest card half keeps to its last transaction; a stolen one, for ten to seventeen transactions, buys dear things fast.
`--data FILE` replays a file of `card,transaction,state` lines, or one in the stream's own format.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Delimited, Field, FieldType
from streamgauge.streams.randomness import field, lookup_table, random_bits, random_bits_at, zipf_weights
from streamgauge.streams.recorded import first_line, looped, read_events
from streamgauge.streams.schema import arrow_schema, column

FIELDS = (
    Field("card_id", FieldType.STRING, "the card"),
    Field("transaction_id", FieldType.STRING, "number of the transaction", optional=True),
    Field("state", FieldType.STRING, "amount L/M/H, price N/H, time since the last transaction L/N/S"),
    Field("time", FieldType.TIMESTAMP, "when it was booked", optional=True),
    Field("fraud", FieldType.LONG, "label: 1 where a thief had the card, 0 where not, missing where unknown", True),
)
WIRE = Delimited(",")
STATES = tuple("".join(letters) for letters in product("LMH", "NH", "LNS"))

_FIRST_SECOND = 1_388_534_400
"""2014-01-01 00:00:00 UTC."""
_TRANSACTIONS_PER_SECOND = 4
_CARDS = 2000
_SLOT_BITS = 13
"""Transactions of a round, in which each card has as many as its habits say: one to a hundred and fifty."""
_STATE_SHARES = [a * p * t for a, p, t in product((40, 54, 6), (92, 8), (40, 50, 10))]
_THIEF_SHARES = {"HHS": 60, "HNS": 15, "MHS": 15, "HHN": 10}
_TRANSACTIONS_PER_CHANCE = 64
"""Once in so many transactions of a card it may be stolen."""
_CHANCE_BITS = 5
_SHORTEST_THEFT = 10


@dataclass(frozen=True)
class _Round:
    """Who buys at each place of a round; every round is alike."""

    card_ids: pa.StringArray
    card: npt.NDArray[np.int64]
    """The card of each place."""
    earlier: npt.NDArray[np.int64]
    """How many places before this one have the same card."""
    places_of: npt.NDArray[np.int64]
    """How many places of the round have the same card as this one."""
    honest: npt.NDArray[np.int32]
    stolen: npt.NDArray[np.int32]


@cache
def _round() -> _Round:
    by_habit = lookup_table(zipf_weights(_CARDS, 0.6), _SLOT_BITS).astype(np.int64)
    card = by_habit[np.argsort(random_bits(0, 0, 0, 1 << _SLOT_BITS), kind="stable")]
    grouped = np.argsort(card, kind="stable")
    counts = np.bincount(card, minlength=_CARDS)
    earlier = np.empty_like(card)
    earlier[grouped] = np.arange(len(card)) - (np.cumsum(counts) - counts)[card[grouped]]
    numbers = 400_000_000_000 + np.arange(_CARDS) * 7_368_787 % 99_999_989
    return _Round(
        card_ids=pa.array([str(n) for n in numbers.tolist()], pa.string()),
        card=card,
        earlier=earlier,
        places_of=counts[card],
        honest=lookup_table(_STATE_SHARES, 12),
        stolen=lookup_table([_THIEF_SHARES.get(state, 0) for state in STATES], 12),
    )


@dataclass(frozen=True)
class SyntheticTransactions:
    """Generated transactions: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        index = np.arange(start, start + count, dtype=np.int64)
        rounds, place = np.divmod(index, 1 << _SLOT_BITS)
        habits = _round()
        card = habits.card[place]
        number = rounds * habits.places_of[place] + habits.earlier[place]
        fraud = self._stolen(card, number)
        state = np.where(fraud, self._thief_state(card, number), self._honest_state(card, number))
        return pa.RecordBatch.from_arrays(
            [
                habits.card_ids.take(column(card)),
                pc.binary_join_element_wise("T", pc.utf8_lpad(column(index).cast(pa.string()), 10, "0"), ""),
                pa.array(STATES, pa.string()).take(column(state)),
                column(_FIRST_SECOND + index // _TRANSACTIONS_PER_SECOND).cast(pa.timestamp("s")),
                column(fraud.astype(np.int64)),
            ],
            schema=arrow_schema(FIELDS),
        )

    def _honest_state(self, card: npt.NDArray[np.int64], number: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """A draw in which amount, price and time may each be those of the draw before: neighbours resemble."""
        bits = random_bits_at(self.seed, 0, number * _CARDS + card)
        before = random_bits_at(self.seed, 0, (number - 1) * _CARDS + card)
        drawn, earlier = (_round().honest[field(b, 0, 12)].astype(np.int64) for b in (bits, before))
        amount = np.where(field(bits, 12, 1), drawn, earlier) // 6
        price = np.where(field(bits, 13, 1), drawn, earlier) // 3 % 2
        elapsed = np.where(field(bits, 14, 2) > 0, drawn, earlier) % 3
        state: npt.NDArray[np.int64] = amount * 6 + price * 3 + elapsed
        return state

    def _thief_state(self, card: npt.NDArray[np.int64], number: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        bits = random_bits_at(self.seed, 1, number * _CARDS + card)
        return _round().stolen[field(bits, 0, 12)]

    def _stolen(self, card: npt.NDArray[np.int64], number: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        chance, since = np.divmod(number, _TRANSACTIONS_PER_CHANCE)
        bits = random_bits_at(self.seed, 2, chance * _CARDS + card)
        first = 4 + field(bits, 8, 4)
        after = first + _SHORTEST_THEFT + field(bits, 12, 3)
        stolen: npt.NDArray[np.bool_] = (field(bits, 0, _CHANCE_BITS) == 0) & (since >= first) & (since < after)
        return stolen


def _recorded(path: Path) -> Source:
    """The file's transactions; one without times gets one second after the other, and no label."""
    if path.is_file() and first_line(path).count(",") != 2:
        return looped(read_events(path, FIELDS, WIRE))
    bare = read_events(path, FIELDS[:3], WIRE)
    seconds = column(_FIRST_SECOND + np.arange(bare.num_rows, dtype=np.int64)).cast(pa.timestamp("s"))
    unknown = pa.nulls(bare.num_rows, pa.int64())
    return looped(pa.table([*bare.columns, seconds, unknown], schema=arrow_schema(FIELDS)))


STREAM = Stream(
    name="card-transactions",
    about="Purchases by credit card, classified by amount, price and time since the last; some by thieves",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticTransactions,
    recorded=_recorded,
    key="card_id",
    papers=("BO9", "BO19"),
)
