"""plug-loads (BO13): readings of smart plugs in the households of some houses, as in the DEBS 2014 grand challenge.

A reading is the load of a plug at that moment in watts (property 1) or the work it has passed on since it was set up in
kilowatt hours (property 0). Each generated plug drives one kind of appliance through days of 24 hours; it reports its
load about every quarter of an hour, where the real ones do so every second or two, so that a few minutes of a trial
tell of days. `--data FILE` replays a file of the challenge: id, seconds since 1970, value, property, plug, household,
house, with commas between them.
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
from streamgauge.streams.randomness import field, random_bits, random_bits_at
from streamgauge.streams.recorded import RecordedEvents, looped, read_events
from streamgauge.streams.schema import arrow_schema, column

FIELDS = (
    Field("id", FieldType.LONG, "number of the reading"),
    Field("timestamp", FieldType.LONG, "when it was taken, in seconds since 1970"),
    Field("value", FieldType.DOUBLE, "load in watts or work in kilowatt hours, with three decimals"),
    Field("property", FieldType.LONG, "what the value is: 0 for work, 1 for load"),
    Field("plug_id", FieldType.LONG, "number of the plug in its household"),
    Field("household_id", FieldType.LONG, "number of the household in its house"),
    Field("house_id", FieldType.LONG, "number of the house"),
)
WIRE = Delimited(",")
WORK, LOAD = 0, 1

_FIRST_SECOND = 1_377_986_400
"""2013-08-31 22:00:00 UTC, about when the recordings of the challenge begin."""
_SECONDS_PER_EVENT = 14
_HOUSES, _HOUSEHOLDS, _PLUGS = 8, 2, 3
"""Houses, households in each, plugs in each of these."""
_READINGS_PER_WORK = 4
"""One reading in four is of the work."""
_DECIMALS = 3
_DAY_S = 86_400

_APPLIANCES: dict[str, tuple[float, float, tuple[float, ...]]] = {
    "refrigerator": (90.0, 0.40, (1.0,) * 8),
    "television": (110.0, 0.85, (0.3, 0.02, 0.1, 0.2, 0.3, 0.5, 1.0, 0.9)),
    "lamp": (40.0, 0.90, (0.2, 0.05, 0.4, 0.1, 0.1, 0.3, 1.0, 0.9)),
    "kettle": (1800.0, 0.08, (0.05, 0.02, 1.0, 0.6, 0.5, 0.6, 0.7, 0.2)),
    "computer": (150.0, 0.70, (0.3, 0.1, 0.3, 0.8, 0.9, 1.0, 0.9, 0.6)),
    "standby": (3.0, 1.00, (1.0,) * 8),
}
"""Watts when on, share of the readings with it on at the busiest time, and how busy each eighth of a day is."""


@cache
def _profiles() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Watts when on for each appliance, and for each appliance and eighth of a day the chance that it is on."""
    watts = np.array([watts for watts, _, _ in _APPLIANCES.values()])
    chances = np.array([[share * busy for busy in day] for _, share, day in _APPLIANCES.values()])
    return watts, chances


@dataclass(frozen=True)
class SyntheticLoads:
    """Generated readings: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        index = np.arange(start, start + count, dtype=np.int64)
        plugs = _HOUSES * _HOUSEHOLDS * _PLUGS
        rounds, place = np.divmod(index, plugs)
        # Coprime to the number of plugs: each plug once in a round, and neighbours of different houses.
        plug = place * 7 % plugs
        of_plug = random_bits_at(self.seed, 0, plug)
        own = random_bits(self.seed, 1, start, count)
        seconds = _FIRST_SECOND + index * _SECONDS_PER_EVENT - field(own, 0, 4)
        watts, chances = _profiles()
        appliance = field(of_plug, 0, 16) % len(watts)
        usual_w = watts[appliance] * (0.6 + field(of_plug, 16, 10) / 1280.0)
        busy = chances[appliance, seconds % _DAY_S * 8 // _DAY_S]
        on = field(own, 4, 16) < busy * (1 << 16)
        standby_w = field(of_plug, 36, 2)
        load_w = np.where(on, usual_w, standby_w) * (0.8 + field(own, 20, 10) / 2560.0)
        mean_w = standby_w + usual_w * chances.mean(axis=1)[appliance]
        work_kwh = field(of_plug, 26, 10) + mean_w * (seconds - _FIRST_SECOND + _DAY_S) / 3.6e6
        is_work = (rounds + plug) % _READINGS_PER_WORK == 0
        house, rest = np.divmod(plug, _HOUSEHOLDS * _PLUGS)
        columns = (
            index + 1,
            seconds,
            np.round(np.where(is_work, work_kwh, load_w), _DECIMALS),
            np.where(is_work, WORK, LOAD),
            rest % _PLUGS,
            rest // _PLUGS,
            house,
        )
        return pa.RecordBatch.from_arrays([column(c) for c in columns], schema=arrow_schema(FIELDS))


@dataclass(frozen=True)
class RecordedLoads:
    """The readings of a file again and again, their instants as seconds since 1970."""

    events: RecordedEvents

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        return self.events.block(start, count).cast(arrow_schema(FIELDS))


def _recorded(path: Path) -> Source:
    readings = read_events(path, FIELDS, WIRE)
    instants = readings["timestamp"].cast(pa.timestamp("s"))
    return RecordedLoads(looped(readings.set_column(1, "timestamp", instants)))


STREAM = Stream(
    name="plug-loads",
    about="Smart plugs in the households of some houses: load and work of each",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticLoads,
    recorded=_recorded,
    papers=("BO13", "BO19"),
)
