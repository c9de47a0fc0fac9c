"""What the two traffic streams share: the measurement points, the generator and the reader of recorded observations.

Each (instant, point, lane) occurs once in each stream, at the same index, so equally many events of both make complete
pairs. An instant is a minute, as the Dutch road authority's data (NDW) has it; every lane of every point is measured at
every instant.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Source
from streamgauge.model.wire import Field, FieldType, Text
from streamgauge.streams.randomness import field, lookup_table, random_bits
from streamgauge.streams.recorded import looped, read_events
from streamgauge.streams.schema import arrow_schema, column

KEY = "measurement_id"

WHERE_AND_WHEN = (
    Field(KEY, FieldType.STRING, "the measurement point"),
    Field("lane", FieldType.STRING, "the lane at that point"),
    Field("observed_at", FieldType.TIMESTAMP, "the minute that was measured"),
    Field("lat", FieldType.DOUBLE, "latitude of the point", optional=True),
    Field("long", FieldType.DOUBLE, "longitude of the point", optional=True),
)
QUALITY = (
    Field("accuracy", FieldType.LONG, "how sure the measurement is, in percent", optional=True),
    Field("num_lanes", FieldType.LONG, "lanes at the point", optional=True),
)

_FIRST_MINUTE_S = 1_489_554_000
"""2017-03-15 05:00:00 UTC: the timeline begins before the morning peak."""
_POINTS = 120
_LANES_PER_POINT = (0.25, 0.45, 0.22, 0.08)
"""Chances of one, two, three and four lanes."""
_MINUTES_PER_DAY = 1440
_CARS_PER_HOUR = 60
"""One car in a minute: a flow is the minute's cars as a rate per hour."""


@dataclass(frozen=True)
class _Lanes:
    """Every lane of every point, in the order in which they are measured."""

    point: pa.StringArray
    lane: pa.StringArray
    lat: npt.NDArray[np.float64]
    long: npt.NDArray[np.float64]
    num_lanes: npt.NDArray[np.int64]
    usual_cars: npt.NDArray[np.float64]
    """Cars in a minute of the peak."""
    limit_kmh: npt.NDArray[np.int64]


@cache
def _lanes() -> _Lanes:
    bits = random_bits(0, 0, 0, _POINTS)
    width = 1 + lookup_table(_LANES_PER_POINT, 10)[field(bits, 0, 10)].astype(np.int64)
    point = np.repeat(np.arange(_POINTS), width)
    lane = np.concatenate([np.arange(n) for n in width])
    road, kilometre = 2 + field(bits, 10, 6), 100 + np.arange(_POINTS) * 17
    side = np.where(field(bits, 16, 1) == 1, "hrr", "hrl")
    names = [f"RWS01_MONIBAS_{r:03d}1{s}{k:04d}ra_1" for r, s, k in zip(road, side, kilometre, strict=True)]
    return _Lanes(
        point=pa.array(names, pa.string()).take(column(point)),
        lane=pa.array([f"lane{n + 1}" for n in lane], pa.string()),
        lat=np.round(51.0 + field(bits, 20, 16) / (1 << 16) * 2.0, 5)[point],
        long=np.round(4.2 + field(bits, 36, 16) / (1 << 16) * 2.0, 5)[point],
        num_lanes=width[point],
        usual_cars=(14.0 + field(bits, 52, 5))[point] * (1.0 - 0.18 * lane),
        limit_kmh=np.where(field(bits, 57, 2) == 0, 100, 120)[point] - 6 * lane,
    )


def lanes_per_instant() -> int:
    """How many events of each stream one instant has."""
    return len(_lanes().point)


@cache
def _busyness() -> npt.NDArray[np.float64]:
    """Share of the peak's cars in each minute of a day: two peaks, and little at night."""
    hour = np.arange(_MINUTES_PER_DAY) / 60.0
    peaks = np.exp(-(((hour - 7.5) / 1.6) ** 2)) + np.exp(-(((hour - 16.5) / 2.2) ** 2))
    return np.minimum(1.0, 0.08 + 0.35 * np.exp(-(((hour - 13.0) / 5.5) ** 2)) + 0.75 * peaks)


@dataclass(frozen=True)
class Observations:
    """A block of generated observations of either kind: where, when, and the figures that both kinds stem from."""

    where_and_when: list[pa.Array]
    quality: list[pa.Array]
    flow: npt.NDArray[np.int64]
    speed_hundredths: npt.NDArray[np.int64]


def generated(seed: int, start: int, count: int) -> Observations:
    """Observations start … start+count−1 of a seed; the denser the traffic, the slower it is."""
    lanes = _lanes()
    minute, row = np.divmod(np.arange(start, start + count, dtype=np.int64), len(lanes.point))
    seconds = _FIRST_MINUTE_S + 60 * minute
    counts, speeds = (random_bits(seed, lane, start, count) for lane in (0, 1))
    share = _busyness()[(seconds // 60) % _MINUTES_PER_DAY] * (0.6 + field(counts, 0, 16) / (1 << 16) * 0.8)
    cars = np.maximum(1, lanes.usual_cars[row] * share).astype(np.int64)
    slow = 1.0 - 0.2 * share**3
    speed = (lanes.limit_kmh[row] * slow * 100).astype(np.int64) + field(speeds, 0, 10) - 512
    # Two in three loops give whole kilometres per hour.
    whole = field(speeds, 10, 8) < 170
    take = column(row)
    return Observations(
        [
            lanes.point.take(take),
            lanes.lane.take(take),
            column(seconds).cast(pa.timestamp("s")),
            column(lanes.lat[row]),
            column(lanes.long[row]),
        ],
        [column(np.where(field(counts, 16, 4) == 0, 95, 100)), column(lanes.num_lanes[row])],
        cars * _CARS_PER_HOUR,
        np.where(whole, speed // 100 * 100, speed),
    )


def recorded_observations(path: Path, fields: tuple[Field, ...], value: str) -> Source:
    """One kind of observation out of a file of OSPBench's, looped.

    A line is `path/of/the/point/lane1= {"lat":…,"long":…,"flow":…,"timestamp":"2017-03-15 14:41:00.0",…}`. A file that
    has flows and speeds gives both streams the same pairs in the same order; a file of one kind is taken as it is.
    Observations are put in the order of their instants. One below 0, by which NDW says that nothing was measured, is
    left out, and so is a repetition.
    """
    lines = read_events(path, [Field("line", FieldType.STRING)], Text("line"))["line"].combine_chunks()
    lines = lines.filter(pc.not_equal(pc.utf8_trim_whitespace(lines), ""))
    parts = pc.extract_regex(lines, r"^(?P<point>.+)/(?P<lane>[^/=]+)=\s*(?P<body>\{.*\})\s*$")
    if parts.null_count:
        first = lines.filter(pc.is_null(parts))[0].as_py()
        raise UserError(
            f"{path} has a line that is no observation: {first[:60]}",
            'Each line looks like some/point/lane1= {"flow":360,"timestamp":"2017-03-15 14:41:00.0",…}',
        )
    table = _typed(path, parts)
    wanted = table.filter(pc.greater_equal(pc.fill_null(table[value], -1), 0))
    other = "speed" if value == "flow" else "flow"
    partners = table.filter(pc.greater_equal(pc.fill_null(table[other], -1), 0))
    names = ["measurement_id", "lane", "observed_at"]
    kept = _first_of_each(wanted, names)
    if table[other].null_count < len(table):
        kept = kept.join(partners.select(names), names, join_type="left semi")
    if kept.num_rows == 0:
        raise UserError(f"{path} has no observation of {value} that can be used", "Give a file with flows and speeds")
    kept = kept.sort_by([(name, "ascending") for name in ("observed_at", "measurement_id", "lane")])
    return looped(kept.select([f.name for f in fields]).cast(arrow_schema(fields)))


def _typed(path: Path, parts: pa.StructArray) -> pa.Table:
    members = {
        "lat": pa.float64(),
        "long": pa.float64(),
        "flow": pa.int64(),
        "period": pa.int64(),
        "speed": pa.float64(),
        "accuracy": pa.int64(),
        "num_lanes": pa.int64(),
        "timestamp": pa.string(),
    }
    text = "\n".join(pc.struct_field(parts, "body").to_pylist()).encode()
    try:
        bodies = pyarrow.json.read_json(
            pa.BufferReader(text),
            pyarrow.json.ReadOptions(use_threads=False, block_size=max(len(text) + 1, 1 << 20)),
            pyarrow.json.ParseOptions(
                explicit_schema=pa.schema(list(members.items())), unexpected_field_behavior="ignore"
            ),
        )
        seconds = pc.utf8_slice_codeunits(bodies["timestamp"], 0, 19).cast(pa.timestamp("s"))
    except pa.ArrowInvalid as error:
        raise UserError(f"{path}: {str(error).splitlines()[0]}", f"Members: {json.dumps(list(members))}") from None
    return (
        bodies.append_column("measurement_id", pc.struct_field(parts, "point"))
        .append_column("lane", pc.struct_field(parts, "lane"))
        .append_column("observed_at", seconds)
    )


def _first_of_each(table: pa.Table, names: list[str]) -> pa.Table:
    numbered = table.append_column("row", column(np.arange(len(table))))
    first = numbered.group_by(names, use_threads=False).aggregate([("row", "min")])["row_min"]
    return table.take(first.combine_chunks().sort())
