"""trades-and-quotes (BO11): what was paid for stocks on an exchange, and what was bid and asked for them.

Both kinds of record travel in one stream, as on the exchange's own feed: a trade has a price and a volume, a quote a
bid and an ask with their sizes. Prices are dollars with whole cents. Generated: 256 symbols, a few of them far busier
than the rest, three quotes to a trade; one ask in eight lies below what was paid of late.

`--data FILE` replays a file of trades and quotes with a header line as tick histories have it, which names at least
`#RIC`, `Date[G]`, `Time[G]`, `Type`, `Price`, `Volume`, `Bid Price`, `Bid Size`, `Ask Price` and `Ask Size`. Dates are
like 01-MAY-2012, times have fractions of a second or not; records of other types than trade and quote are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Delimited, Field, FieldType
from streamgauge.streams.file_query import query_file
from streamgauge.streams.randomness import field, lookup_table, random_bits, zipf_weights
from streamgauge.streams.recorded import looped
from streamgauge.streams.schema import arrow_schema, column

FIELDS = (
    Field("symbol", FieldType.STRING, "the stock"),
    Field("time_ms", FieldType.LONG, "instant of the record, in milliseconds since 1970"),
    Field("kind", FieldType.STRING, "trade or quote"),
    Field("price", FieldType.DOUBLE, "what was paid for a share, in dollars", optional=True),
    Field("volume", FieldType.LONG, "how many shares were traded", optional=True),
    Field("bid_price", FieldType.DOUBLE, "what is offered for a share", optional=True),
    Field("bid_size", FieldType.LONG, "for how many shares", optional=True),
    Field("ask_price", FieldType.DOUBLE, "what is asked for a share", optional=True),
    Field("ask_size", FieldType.LONG, "for how many shares", optional=True),
)
WIRE = Delimited(",")
TRADE, QUOTE = "trade", "quote"

_FIRST_MS = 1_335_879_000_000
"""2012-05-01 13:30:00 UTC, when New York opens."""
_MS_PER_EVENT = 3
_SYMBOLS = 256
_LOTS = (0.5, 0.2, 0.1, 0.08, 0.05, 0.03, 0.02, 0.02)
"""Chances of one, two, … lots of a hundred shares."""
_PRICE_CYCLE = 1 << 20
"""Events after which a price has gone up and come back."""


@cache
def _symbols() -> pa.StringArray:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    numbers = [7 + rank * 5_003 % 17_576 for rank in range(_SYMBOLS)]
    return pa.array([letters[n // 676] + letters[n // 26 % 26] + letters[n % 26] for n in numbers], pa.string())


@cache
def _symbol_table() -> npt.NDArray[np.int32]:
    return lookup_table(zipf_weights(_SYMBOLS, 0.8), 14)


@cache
def _lot_table() -> npt.NDArray[np.int64]:
    return 100 * (1 + lookup_table(_LOTS, 8).astype(np.int64))


@dataclass(frozen=True)
class SyntheticTrades:
    """Generated trades and quotes: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        index = np.arange(start, start + count, dtype=np.int64)
        bits = random_bits(self.seed, 0, start, count)
        symbol = _symbol_table()[field(bits, 0, 14)]
        trade = field(bits, 14, 2) == 0
        paid = self._going_price_cents(symbol, index) + field(bits, 16, 4) - 8
        bargain = field(bits, 20, 3) == 0
        ask = paid + np.where(bargain, -8 - field(bits, 23, 6), 2 + field(bits, 23, 4))
        first, second = _lot_table()[field(bits, 32, 8)], _lot_table()[field(bits, 40, 8)]
        kinds = pa.array([QUOTE, TRADE], pa.string())
        return pa.RecordBatch.from_arrays(
            [
                _symbols().take(column(symbol)),
                column(_FIRST_MS + index * _MS_PER_EVENT + field(bits, 48, 1)),
                kinds.take(column(trade.astype(np.int64))),
                column(paid / 100, valid=trade),
                column(first, valid=trade),
                column((ask - 1 - field(bits, 52, 3)) / 100, valid=~trade),
                column(second, valid=~trade),
                column(ask / 100, valid=~trade),
                column(first, valid=~trade),
            ],
            schema=arrow_schema(FIELDS),
        )

    def _going_price_cents(self, symbol: npt.NDArray[np.int32], index: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """A price of the stock's own that climbs and falls again by up to a tenth."""
        own = random_bits(self.seed, 1, 0, _SYMBOLS)
        level = (1_000 + field(own, 0, 14))[symbol]
        phase = (index + field(own, 14, 20)[symbol]) % _PRICE_CYCLE
        climb = np.minimum(phase, _PRICE_CYCLE - phase)
        cents: npt.NDArray[np.int64] = level + level * climb // (5 * _PRICE_CYCLE)
        return cents


def _recorded(path: Path) -> Source:
    records = query_file(
        path,
        "delim = ',', header = true, all_varchar = true, null_padding = true",
        f"""
        select "#RIC" as symbol,
               epoch_ms(strptime("Date[G]", '%d-%b-%Y')::date + "Time[G]"::time) as time_ms,
               lower("Type") as kind, "Price"::double as price, "Volume"::bigint as volume,
               "Bid Price"::double as bid_price, "Bid Size"::bigint as bid_size,
               "Ask Price"::double as ask_price, "Ask Size"::bigint as ask_size
        from lines where lower("Type") in ('{TRADE}', '{QUOTE}')
        """,
        "the columns that the header names: #RIC, Date[G], Time[G], Type, Price, Volume, "
        "Bid Price, Bid Size, Ask Price, Ask Size",
    )
    return looped(records, ms_fields=("time_ms",))


STREAM = Stream(
    name="trades-and-quotes",
    about="Trades in stocks and quotes for them, as an exchange reports them",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticTrades,
    recorded=_recorded,
    key="symbol",
    papers=("BO11", "BO19"),
)
