"""call-records (BO14): call detail records as telephone switches write them at the end of each call.

Thirty-two switches with 256 subscribers each. Most people call a few friends, are called back and talk for two minutes;
two numbers of each switch sell by telephone: they make one call in eight, to ever new numbers, and are soon hung up on.
Records come when calls end, so answer times are out of order by as much as calls last. `--data FILE` replays a file of
`calling,called,answer time,duration,established` lines; the last two may be given as the whole record once more, with
semicolons. The switch of such a record is the caller's number without its last seven digits. A file in the stream's
own format is read too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Delimited, Field, FieldType
from streamgauge.streams.randomness import field, lookup_table, random_bits, random_bits_at, zipf_weights
from streamgauge.streams.recorded import first_line, looped, read_events
from streamgauge.streams.schema import arrow_schema, column

FIELDS = (
    Field("switch", FieldType.LONG, "the switch that wrote the record"),
    Field("calling", FieldType.LONG, "number of the caller"),
    Field("called", FieldType.LONG, "number that was called"),
    Field("answer_time", FieldType.TIMESTAMP, "when the call was answered, or rang in vain"),
    Field("duration_s", FieldType.LONG, "how long they talked"),
    Field("established", FieldType.LONG, "1 where the call was answered, 0 where not"),
    Field("telemarketer", FieldType.LONG, "label: 1 where the caller sells by telephone, missing if unknown", True),
)
WIRE = Delimited(",")
DIGITS_OF_A_SWITCH = 10_000_000
"""A number is its switch and seven digits."""

_FIRST_SECOND = 1_325_376_000
"""2012-01-01 00:00:00 UTC."""
_SECONDS_PER_CALL = 2
_FIRST_SWITCH, _SWITCH_BITS, _SUBSCRIBER_BITS, _OUTSIDER_BITS = 4910, 5, 8, 12
_SUBSCRIBERS = 1 << _SUBSCRIBER_BITS
_SELLERS = 2
_FRIENDS = 8
_LOCAL, _OUTSIDE = 2_000_000, 7_000_000
_WIDTH = 12


@dataclass(frozen=True)
class _Tables:
    """What calls are looked up in: outcomes repeated in proportion to their chances."""

    person: npt.NDArray[np.int32]
    friend: npt.NDArray[np.int32]
    talk_s: npt.NDArray[np.int64]
    sale_s: npt.NDArray[np.int64]


@cache
def _tables() -> _Tables:
    return _Tables(
        person=lookup_table(zipf_weights(_SUBSCRIBERS - _SELLERS, 0.5), _WIDTH),
        friend=lookup_table(zipf_weights(_FRIENDS, 1.0), _WIDTH),
        talk_s=_durations_s(median_s=90, spread=1.0),
        sale_s=_durations_s(median_s=15, spread=0.6),
    )


def _durations_s(median_s: float, spread: float) -> npt.NDArray[np.int64]:
    """Quantiles of a lognormal distribution, from a second to an hour."""
    quantiles = [NormalDist(0, spread).inv_cdf((place + 0.5) / (1 << _WIDTH)) for place in range(1 << _WIDTH)]
    return np.clip(np.rint(median_s * np.exp(quantiles)), 1, 3600).astype(np.int64)


@dataclass(frozen=True)
class SyntheticCalls:
    """Generated records: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        index = np.arange(start, start + count, dtype=np.int64)
        who, whom = (random_bits(self.seed, lane, start, count) for lane in (0, 1))
        switch = field(who, 0, _SWITCH_BITS)
        sells = field(who, 5, 3) == 0
        person = _tables().person[field(who, 8, _WIDTH)].astype(np.int64)
        caller = self._place(switch, np.where(sells, -1 - field(who, 20, 1), person))
        callee = np.where(sells, self._prospect(switch, whom), self._acquaintance(switch, person, whom))
        answered = field(who, 24, 8) < np.where(sells, 154, 218)
        talk = np.where(sells, _tables().sale_s[field(who, 32, _WIDTH)], _tables().talk_s[field(who, 32, _WIDTH)])
        duration = np.where(answered, talk, 0)
        number = (_FIRST_SWITCH + switch) * DIGITS_OF_A_SWITCH
        answer = _FIRST_SECOND + index * _SECONDS_PER_CALL - duration
        return pa.RecordBatch.from_arrays(
            [
                column(_FIRST_SWITCH + switch),
                column(number + _local_number(caller)),
                column(number + callee),
                column(answer).cast(pa.timestamp("s")),
                column(duration),
                column(answered.astype(np.int64)),
                column(sells.astype(np.int64)),
            ],
            schema=arrow_schema(FIELDS),
        )

    def _place(self, switch: npt.NDArray[np.int64], person: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Which subscriber of a switch somebody is: where its sellers (−1, −2) sit follows from the seed."""
        first = field(random_bits_at(self.seed, 2, switch), 0, _SUBSCRIBER_BITS)
        return (first + person) % _SUBSCRIBERS

    def _acquaintance(
        self, switch: npt.NDArray[np.int64], person: npt.NDArray[np.int64], bits: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """One of the caller's friends, or now and then anybody, a seller too."""
        slot = _tables().friend[field(bits, 0, _WIDTH)]
        friends = random_bits_at(self.seed, 3, (switch * _SUBSCRIBERS + person) * _FRIENDS + slot)
        people = _SUBSCRIBERS - _SELLERS
        friend = (person + 1 + (field(friends, 0, 16) * (people - 1) >> 16)) % people
        anybody = field(bits, 16, _SUBSCRIBER_BITS)
        return _local_number(self._place(switch, np.where(field(bits, 24, 4) == 0, anybody, friend)))

    def _prospect(self, switch: npt.NDArray[np.int64], bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Somebody from the telephone book: a subscriber, or more often a number that never calls."""
        book = _OUTSIDE + field(bits, 32, _OUTSIDER_BITS)
        subscriber = _local_number(self._place(switch, field(bits, 44, _SUBSCRIBER_BITS)))
        return np.where(field(bits, 52, 3) < 3, subscriber, book)


def _local_number(subscriber: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return _LOCAL + subscriber * 7919 % 1_000_003


_FIVE_COLUMNS = tuple(
    Field(name, FieldType.STRING) for name in ("calling", "called", "answer_time", "duration_s", "established")
)


def _recorded(path: Path) -> Source:
    """The file's records; those without a switch get that of the caller, and no label."""
    commas = first_line(path).count(",") if path.is_file() else 0
    if commas == len(FIELDS) - 1:
        return looped(read_events(path, FIELDS, WIRE))
    if commas == 3:
        twice = read_events(path, _FIVE_COLUMNS[:4], WIRE).column(3).combine_chunks()
        parts = pc.split_pattern(twice, ";")
        lengths = pc.list_value_length(parts)
        if pc.min(lengths).as_py() != len(_FIVE_COLUMNS) or pc.max(lengths).as_py() != len(_FIVE_COLUMNS):
            raise UserError(f"{path}: a record with semicolons has five parts", _WAY_OUT)
        texts = {f.name: pc.list_element(parts, place) for place, f in enumerate(_FIVE_COLUMNS)}
    else:
        table = read_events(path, _FIVE_COLUMNS, WIRE)
        texts = {f.name: table[f.name].combine_chunks() for f in _FIVE_COLUMNS}
    try:
        return looped(_typed(texts))
    except pa.ArrowInvalid as error:
        raise UserError(f"{path}: {str(error).splitlines()[0]}", _WAY_OUT) from None


_WAY_OUT = "Each line needs calling,called,2012-01-31T23:59:59,duration in seconds,true or false"


def _typed(texts: dict[str, pa.StringArray]) -> pa.Table:
    calling, called = (pc.replace_substring(texts[name], "+", "").cast(pa.int64()) for name in ("calling", "called"))
    stamps = pc.replace_substring(pc.utf8_slice_codeunits(texts["answer_time"], 0, 19), "T", " ")
    established = pc.utf8_lower(texts["established"]).cast(pa.bool_())
    columns = [
        pc.divide(calling, DIGITS_OF_A_SWITCH),
        calling,
        called,
        stamps.cast(pa.timestamp("s")),
        texts["duration_s"].cast(pa.int64()),
        established.cast(pa.int64()),
        pa.nulls(len(calling), pa.int64()),
    ]
    return pa.table(columns, schema=arrow_schema(FIELDS))


STREAM = Stream(
    name="call-records",
    about="Call detail records of 32 telephone switches: who called whom, when, for how long; some callers sell",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticCalls,
    recorded=_recorded,
    key="switch",
    papers=("BO14", "BO19"),
)
