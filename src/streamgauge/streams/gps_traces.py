"""gps-traces (BO3): where vehicles are and how fast they go, as their GPS receivers report it.

Generated vehicles drive on the generated roads: some trips long to and fro on one road, then on another, as a taxi that
is seen again elsewhere. A fix is a few metres off, now and then by far more, and some trips lead out of the city.

`--data FILE` replays Beijing taxis in the style of T-Drive (taxi, `2008-02-02 15:36:08`, longitude, latitude), Dublin
buses (fifteen columns: microseconds since 1970 first, longitude and latitude in the ninth and tenth, the vehicle in the
thirteenth), or lines of this stream, told apart by their number of columns. Taxis and buses do not tell their speed: it
is the way from the vehicle's fix before, in a straight line, over the time between the two, and the bearing is that
way's direction. A fix with none before it, at the same second or more than ten minutes later, or that would be a speed
above 200 km/h, is left out. Fixes are replayed in the order of their times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Delimited, Field, FieldType
from streamgauge.streams.randomness import Bits, field, lookup_table, random_bits, random_bits_at, zipf_weights
from streamgauge.streams.recorded import first_line, looped, read_events
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.tables.roads import (
    EAST,
    METRES_PER_DEGREE,
    NORTH,
    SOUTH,
    WEST,
    city,
    metres_per_degree_of_longitude,
)

FIELDS = (
    Field("vehicle_id", FieldType.LONG, "number of the vehicle"),
    Field("time", FieldType.TIMESTAMP, "when the fix was taken"),
    Field("lon", FieldType.DOUBLE, "longitude in degrees"),
    Field("lat", FieldType.DOUBLE, "latitude in degrees"),
    Field("speed_kmh", FieldType.DOUBLE, "speed in km/h, with one decimal"),
    Field("bearing", FieldType.LONG, "direction of travel in degrees, clockwise from north", optional=True),
)
WIRE = Delimited(",")

_TAXI_FIELDS = FIELDS[:4]
_BUS_COLUMNS = (
    *("time_us", "line", "direction", "journey_pattern", "time_frame", "vehicle_journey", "operator", "congestion"),
    *("lon", "lat", "delay", "block", "vehicle_id", "stop", "at_stop"),
)
_BUS_TYPES = {"time_us": FieldType.LONG, "vehicle_id": FieldType.LONG, "lon": FieldType.DOUBLE, "lat": FieldType.DOUBLE}
_BUS_FIELDS = tuple(Field(name, _BUS_TYPES.get(name, FieldType.STRING)) for name in _BUS_COLUMNS)
_LONGEST_GAP_S = 600
_FASTEST_KMH = 200

_FIRST_SECOND = 1_201_824_000
"""2008-02-01 00:00:00 UTC."""
_FIXES_PER_SECOND = 200
_VEHICLE_BITS = 12
_SECONDS_PER_ROUND = (1 << _VEHICLE_BITS) / _FIXES_PER_SECOND
"""Each vehicle reports once in a round."""
_ROUNDS_PER_TRIP_BITS = 5
_OUTSIDE, _GROSS, _STANDING = 8, 4, 13
"""Of 256: trips out of the city, fixes that are far off, fixes of a vehicle that stands."""
_NOISE_M, _GROSS_NOISE_M = 8.0, 160.0
_DECIMALS = 5

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Tables:
    """What fixes are looked up in: all roads laid end to end."""

    roads: npt.NDArray[np.int32]
    """Road by 12 random bits: the first ones of a shuffled list are the busy ones."""
    road_start_m: npt.NDArray[np.float64]
    """Where each road begins on the way over all of them, and where the last ends."""
    segment_start_m: npt.NDArray[np.float64]
    start: npt.NDArray[np.float64]
    """Longitude and latitude at which each segment begins."""
    slope: npt.NDArray[np.float64]
    """Degrees of longitude and latitude for each metre along it."""
    bearing: npt.NDArray[np.int64]


@cache
def _tables() -> _Tables:
    lines = [line for _, _, line in city()]
    start = np.concatenate([line[:-1] for line in lines])
    way = np.concatenate([np.diff(line, axis=0) for line in lines])
    way_m = way * _metres_per_degree()
    length_m = np.hypot(way_m[:, 0], way_m[:, 1])
    segment_start_m = np.concatenate([[0.0], np.cumsum(length_m)])
    first_segment = np.cumsum([0, *(len(line) - 1 for line in lines)])
    busy = np.argsort(random_bits(0, 1, 0, len(lines)))
    return _Tables(
        roads=busy[lookup_table(zipf_weights(len(lines), 0.6), 12)].astype(np.int32),
        road_start_m=segment_start_m[first_segment],
        segment_start_m=segment_start_m[:-1],
        start=start,
        slope=way / length_m[:, np.newaxis],
        bearing=_bearing(way_m),
    )


def _metres_per_degree() -> npt.NDArray[np.float64]:
    return np.array([metres_per_degree_of_longitude((SOUTH + NORTH) / 2), METRES_PER_DEGREE])


def _bearing(way_m: npt.NDArray[np.float64]) -> Numbers:
    return np.rint(np.degrees(np.arctan2(way_m[:, 0], way_m[:, 1]))).astype(np.int64) % 360


def _normal(bits: Bits, shift: int) -> npt.NDArray[np.float64]:
    """About normal with a standard deviation of 1: the sum of four bytes."""
    total = sum(field(bits, shift + 8 * byte, 8) for byte in range(4))
    return np.asarray((total - 510.0) / 147.8)


@dataclass(frozen=True)
class SyntheticTraces:
    """Generated fixes: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        tables = _tables()
        index = np.arange(start, start + count, dtype=np.int64)
        vehicles = 1 << _VEHICLE_BITS
        vehicle = index * 1_597 % vehicles
        rounds = (index >> _VEHICLE_BITS) + field(random_bits_at(self.seed, 0, vehicle), 0, _ROUNDS_PER_TRIP_BITS)
        trip = random_bits_at(self.seed, 1, (rounds >> _ROUNDS_PER_TRIP_BITS) * vehicles + vehicle)
        own = random_bits(self.seed, 2, start, count)
        noise = random_bits(self.seed, 3, start, count)
        cruise_kmh = 15.0 + field(trip, 12, 10) / 16.0
        along_m, back = self._along(tables, rounds & ((1 << _ROUNDS_PER_TRIP_BITS) - 1), trip, cruise_kmh)
        segment = np.searchsorted(tables.segment_start_m, along_m, side="right") - 1
        place = tables.start[segment] + tables.slope[segment] * (along_m - tables.segment_start_m[segment])[:, None]
        place += self._outside(trip) + self._off(own, noise)
        place = np.round(place, _DECIMALS)
        speed = np.where(field(own, 8, 8) < _STANDING, 0.0, cruise_kmh * (0.75 + field(own, 16, 10) / 2048.0))
        return pa.RecordBatch.from_arrays(
            [
                column(1 + vehicle),
                column(_FIRST_SECOND + index // _FIXES_PER_SECOND - (field(own, 32, 8) < 24)).cast(pa.timestamp("s")),
                column(place[:, 0]),
                column(place[:, 1]),
                column(np.round(speed, 1)),
                column((tables.bearing[segment] + 180 * back + field(own, 40, 4) - 8) % 360),
            ],
            schema=arrow_schema(FIELDS),
        )

    @staticmethod
    def _along(
        tables: _Tables, step: Numbers, trip: Bits, cruise_kmh: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """How far along all roads the vehicle is, to and fro on the road of its trip, and whether on its way back."""
        road = tables.roads[field(trip, 0, 12)]
        length_m = tables.road_start_m[road + 1] - tables.road_start_m[road]
        driven_m = length_m * field(trip, 22, 20) / (1 << 19) + cruise_kmh / 3.6 * _SECONDS_PER_ROUND * step
        turn = driven_m % (2 * length_m)
        back = turn > length_m
        return tables.road_start_m[road] + np.where(back, 2 * length_m - turn, turn), back.astype(np.int64)

    @staticmethod
    def _outside(trip: Bits) -> npt.NDArray[np.float64]:
        """A whole city's width or height in one of four directions for the trips that lead out of it."""
        sides = np.array([[EAST - WEST, 0.0], [WEST - EAST, 0.0], [0.0, NORTH - SOUTH], [0.0, SOUTH - NORTH]])
        return np.where((field(trip, 42, 8) < _OUTSIDE)[:, None], sides[field(trip, 50, 2)], 0.0)

    @staticmethod
    def _off(own: Bits, noise: Bits) -> npt.NDArray[np.float64]:
        """The error of the receiver in degrees."""
        metres = np.where(field(own, 0, 8) < _GROSS, _GROSS_NOISE_M, _NOISE_M)
        errors = np.stack([_normal(noise, 0), _normal(noise, 32)], axis=1)
        return np.asarray(errors * metres[:, None] / _metres_per_degree())


def _recorded(path: Path) -> Source:
    columns = len(first_line(path).split(",")) if path.is_file() else len(FIELDS)
    if columns == len(_TAXI_FIELDS):
        fixes = read_events(path, _TAXI_FIELDS, WIRE)
    elif columns == len(_BUS_FIELDS):
        fixes = read_events(path, _BUS_FIELDS, WIRE)
        fixes = fixes.append_column("time", pc.divide(fixes["time_us"], 1_000_000).cast(pa.timestamp("s")))
    else:
        return looped(read_events(path, FIELDS, WIRE))
    return looped(_with_speed(fixes.select([f.name for f in _TAXI_FIELDS]), path))


def _with_speed(fixes: pa.Table, path: Path) -> pa.Table:
    """The fixes with speed and bearing, each from the vehicle's fix before, in the order of their times."""
    fixes = fixes.drop_null().sort_by([("vehicle_id", "ascending"), ("time", "ascending")])
    vehicle = fixes["vehicle_id"].to_numpy()
    seconds = fixes["time"].cast(pa.int64()).to_numpy()
    place = np.stack([fixes["lon"].to_numpy(), fixes["lat"].to_numpy()], axis=1)
    way_m = np.diff(place, axis=0) * METRES_PER_DEGREE
    way_m[:, 0] *= np.cos(np.radians((place[1:, 1] + place[:-1, 1]) / 2))
    gap_s = np.diff(seconds)
    speed = np.round(3.6 * np.hypot(way_m[:, 0], way_m[:, 1]) / np.maximum(gap_s, 1), 1)
    kept = (np.diff(vehicle) == 0) & (gap_s > 0) & (gap_s <= _LONGEST_GAP_S) & (speed <= _FASTEST_KMH)
    if not kept.any():
        raise UserError(
            f"{path} has no vehicle with two fixes within {_LONGEST_GAP_S // 60} minutes",
            "A vehicle's speed comes from its fix before: give a longer file",
        )
    derived = (
        fixes.slice(1).append_column("speed_kmh", pa.array(speed)).append_column("bearing", pa.array(_bearing(way_m)))
    )
    order = np.flatnonzero(kept)[np.argsort(seconds[1:][kept], kind="stable")]
    return derived.take(order).cast(arrow_schema(FIELDS))


STREAM = Stream(
    name="gps-traces",
    about="Vehicles on the roads of a city: place, speed and bearing of each, as its GPS receiver reports them",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticTraces,
    recorded=_recorded,
    papers=("BO3", "BO19"),
)
