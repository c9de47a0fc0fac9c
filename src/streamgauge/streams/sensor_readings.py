"""sensor-readings (BO10): motes on the walls of a laboratory that tell temperature, humidity, light and voltage.

Lines are those of the Intel Berkeley Research Lab: date, time, epoch, mote, °C, relative humidity in percent, lux and
volt, with spaces between them. Behind them stands a label, which tells generated spikes of the temperature apart; a
recorded line has none. Generated: 128 motes, each once in 31 seconds, whose temperature follows the hour of the day;
with a key skew the mote of each reading is drawn, so that some tell more often, and the epoch counts rounds of 128.
`--data FILE` replays the laboratory's data.txt; what a line is cut off before is missing.
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
from streamgauge.streams.file_query import query_file
from streamgauge.streams.randomness import field, lookup_table, random_bits, zipf_weights
from streamgauge.streams.recorded import RecordedEvents, looped
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.wire import text_of

FIELDS = (
    Field("date", FieldType.STRING, "day of the reading, as 2004-03-31"),
    Field("time", FieldType.STRING, "time of day with fractions of a second, as 03:38:15.757551"),
    Field("epoch", FieldType.LONG, "number of the mote's reading"),
    Field("moteid", FieldType.LONG, "number of the mote"),
    Field("temperature", FieldType.DOUBLE, "in °C"),
    Field("humidity", FieldType.DOUBLE, "relative, in percent", optional=True),
    Field("light", FieldType.DOUBLE, "in lux", optional=True),
    Field("voltage", FieldType.DOUBLE, "of the mote's battery, in volt", optional=True),
    Field(
        "spike", FieldType.LONG, "label: 1 where a spike was made, 0 where not, missing where unknown", optional=True
    ),
)
WIRE = Delimited(" ")

_FIRST_SECOND = 1_077_926_400
"""2004-02-28 00:00:00 UTC."""
_MOTE_BITS = 7
_RANK_BITS = 16
_EPOCH_S = 31
_MINUTES_PER_DAY = 1440
_ONE_SPIKE_IN_BITS = 8
"""One reading in 2**8 is a spike."""

_COLUMNS = {
    "date": "varchar",
    "time": "varchar",
    "epoch": "bigint",
    "moteid": "bigint",
    "temperature": "double",
    "humidity": "double",
    "light": "double",
    "voltage": "double",
}
"""A line of the laboratory's file."""


@cache
def _counts_of_day() -> npt.NDArray[np.int64]:
    """What the minute of the day adds to a temperature, in counts of the sensor: warmest in the afternoon."""
    turn = 2 * np.pi * (np.arange(_MINUTES_PER_DAY) - 540) / _MINUTES_PER_DAY
    return np.round(250 * np.sin(turn)).astype(np.int64)


@cache
def _volts() -> npt.NDArray[np.float64]:
    """The battery's voltage for each reading of its converter."""
    return np.round(1252.352 / (440 + np.arange(128)), 5)


@dataclass(frozen=True)
class SyntheticReadings:
    """Generated readings: each is a function of seed and index alone."""

    seed: int
    key_skew: float | None = None
    """Without it every mote once in an epoch; with it each reading is of a mote drawn by Zipf's law."""

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        epoch, place = np.divmod(np.arange(start, start + count, dtype=np.int64), 1 << _MOTE_BITS)
        # An odd factor and a shift order the motes anew in every epoch.
        mote = (place * 37 + epoch * 11) & ((1 << _MOTE_BITS) - 1)
        if self.key_skew is not None:
            mote = _motes_by_rank(self.key_skew)[field(random_bits(self.seed, 2, start, count), 0, _RANK_BITS)]
        bits = random_bits(self.seed, 0, start, count)
        since_epoch_us = place * (_EPOCH_S * 1_000_000) // (1 << _MOTE_BITS) + field(bits, 0, 18)
        seconds = _FIRST_SECOND + epoch * _EPOCH_S + since_epoch_us // 1_000_000
        minute = seconds // 60 % _MINUTES_PER_DAY
        spike = field(bits, 18, _ONE_SPIKE_IN_BITS) == 0
        own_counts = field(random_bits(self.seed, 1, 0, 1 << _MOTE_BITS), 0, 9)[mote]
        jump = np.where(field(bits, 26, 2) == 0, -1, 1) * (300 + field(bits, 28, 9))
        counts = 5900 + own_counts + _counts_of_day()[minute] + field(bits, 39, 4) - 8 + np.where(spike, jump, 0)
        humidity = 400_000 - 5 * (own_counts + _counts_of_day()[minute]) * 16 + field(bits, 43, 12)
        daylight = np.maximum(_counts_of_day()[minute], 0) * 2
        columns = (
            epoch + 2,
            mote + 1,
            (98 * counts - 384_000) / 10_000,
            humidity / 10_000,
            92 * (daylight + field(bits, 55, 5)) / 100,
            _volts()[field(bits, 60, 4) + (mote & 63)],
            spike.astype(np.int64),
        )
        date, time = _texts(seconds, since_epoch_us % 1_000_000)
        return pa.RecordBatch.from_arrays([date, time, *map(column, columns)], schema=arrow_schema(FIELDS))


@cache
def _motes_by_rank(exponent: float) -> npt.NDArray[np.int64]:
    return lookup_table(zipf_weights(1 << _MOTE_BITS, exponent), _RANK_BITS).astype(np.int64)


def _texts(seconds: npt.NDArray[np.int64], micros: npt.NDArray[np.int64]) -> tuple[pa.StringArray, pa.StringArray]:
    fraction = pc.utf8_lpad(column(micros).cast(pa.string()), 6, "0")
    date, clock = _date_and_clock(column(seconds).cast(pa.timestamp("s")))
    return date, pc.binary_join_element_wise(clock, fraction, ".")


def _date_and_clock(instants: pa.TimestampArray) -> tuple[pa.StringArray, pa.StringArray]:
    text = text_of(instants)
    return pc.utf8_slice_codeunits(text, 0, 10), pc.utf8_slice_codeunits(text, 11, 19)


@dataclass(frozen=True)
class _RecordedReadings:
    """The readings of a file, looped; in `looping` a timestamp and the rest of a second stand for date and time."""

    looping: RecordedEvents

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        instant, fraction, *others = self.looping.block(start, count).columns
        date, clock = _date_and_clock(instant)
        return pa.RecordBatch.from_arrays(
            [date, pc.binary_join_element_wise(clock, fraction, ""), *others], schema=arrow_schema(FIELDS)
        )


def _recorded(path: Path) -> Source:
    lines = query_file(
        path,
        f"delim = ' ', header = false, auto_detect = false, quote = '', null_padding = true, columns = {_COLUMNS}",
        """
        select date_trunc('second', (date || ' ' || time)::timestamp)::timestamp_s as instant,
               time[9:] as fraction, columns(lines.* exclude (date, time)), null::bigint as spike
        from lines
        """,
        "a line like 2004-03-31 03:38:15.757551 2 1 122.153 -3.91901 11.04 2.03397",
    )
    return _RecordedReadings(looped(lines))


STREAM = Stream(
    name="sensor-readings",
    about="Temperature, humidity, light and voltage from the motes of a laboratory, with spikes now and then",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticReadings,
    recorded=_recorded,
    key="moteid",
    skewed=SyntheticReadings,
    papers=("BO10", "BO19"),
)
