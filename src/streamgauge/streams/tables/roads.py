"""roads (BO3): the roads of a city, cut into straight segments.

Without data a city is generated: streets on a lattice that is a little askew, each street a chain of named roads, and
ring roads around the centre. `--data roads=FILE` takes a real network: a shapefile of polylines (`.shp` with its `.dbf`
beside it, or both in a `.zip`) or GeoJSON of LineString and MultiLineString features, both in degrees of WGS 84. A
feature is a road. Its number is the first of the attributes road_id, osm_id, gid, fid, objectid and id that is a whole
number everywhere, or else its place in the file; its name is the attribute name, road_name, roadname, fullname or
street, if there is one.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamgauge.model.errors import UserError
from streamgauge.model.table import StoredTable
from streamgauge.model.wire import Field, FieldType
from streamgauge.streams.randomness import field, random_bits
from streamgauge.streams.schema import arrow_schema
from streamgauge.streams.tables.reading import text_of_file
from streamgauge.streams.vocabulary import words

FIELDS = (
    Field("road_id", FieldType.LONG, "number of the road, 0 or more and below 2^44"),
    Field("name", FieldType.STRING, "name of the road", optional=True),
    Field("segment", FieldType.LONG, "which of the road's segments, from 0"),
    Field("from_lon", FieldType.DOUBLE, "longitude of one end in degrees"),
    Field("from_lat", FieldType.DOUBLE, "latitude of one end in degrees"),
    Field("to_lon", FieldType.DOUBLE, "longitude of the other end in degrees"),
    Field("to_lat", FieldType.DOUBLE, "latitude of the other end in degrees"),
)
ROAD_ID_BITS = 44
"""A road's number and a distance in centimetres fit together into one whole number."""

WEST, SOUTH, EAST, NORTH = 116.25, 39.80, 116.50, 40.00
"""Borders of the generated city in degrees: about 21 by 22 km, where Beijing is."""
METRES_PER_DEGREE = 111_195.0
"""Length of a degree of latitude on a sphere of the Earth's mean radius, 6,371 km."""

_STREETS_NORTHWARD, _STREETS_EASTWARD = 43, 45
_MARGIN = 0.012
"""Share of the city's width that stays free of streets at each border."""
_ASKEW_M = 60
_BLOCKS_PER_ROAD = 9
_RING_RADII_M = (3000, 6000, 9000)
_RING_SEGMENTS = 72
_DECIMALS = 6

_ID_ATTRIBUTES = ("road_id", "osm_id", "gid", "fid", "objectid", "id")
_NAME_ATTRIBUTES = ("name", "road_name", "roadname", "fullname", "street")
_WAY_OUT = "Give a shapefile of polylines (.shp or .zip) or GeoJSON of LineStrings, in degrees"

Points = npt.NDArray[np.float64]
"""Rows of longitude and latitude."""


def metres_per_degree_of_longitude(latitude: float) -> float:
    """Length of a degree of longitude at a latitude."""
    return METRES_PER_DEGREE * float(np.cos(np.radians(latitude)))


@cache
def city() -> tuple[tuple[int, str, Points], ...]:
    """The generated roads: number, name and line of each."""
    lines = [*_streets(), *_rings()]
    names = words()[200:]
    kinds = ("Road", "Street", "Avenue", "Lane")
    return tuple(
        (number, f"{names[number].title()} {kinds[number % len(kinds)]}", np.round(line, _DECIMALS))
        for number, line in enumerate(lines, start=1)
    )


def _streets() -> Iterator[Points]:
    """The lattice, street by street, each cut into roads of a few blocks."""
    easts = np.linspace(WEST + _MARGIN * (EAST - WEST), EAST - _MARGIN * (EAST - WEST), _STREETS_NORTHWARD)
    norths = np.linspace(SOUTH + _MARGIN * (NORTH - SOUTH), NORTH - _MARGIN * (NORTH - SOUTH), _STREETS_EASTWARD)
    corners = np.stack(np.meshgrid(easts, norths), axis=-1)
    bits = random_bits(0, 0, 0, corners[..., 0].size).reshape(corners.shape[:2])
    askew = np.stack([field(bits, shift, 20) / (1 << 19) - 1.0 for shift in (0, 20)], axis=-1)
    corners += askew * _ASKEW_M / np.array(_metres_per_degree())
    for street in (*corners, *corners.swapaxes(0, 1)):
        for first in range(0, len(street) - 1, _BLOCKS_PER_ROAD):
            yield street[first : first + _BLOCKS_PER_ROAD + 1]


def _rings() -> Iterator[Points]:
    """Circles around the centre, each in four quarters."""
    centre = np.array([(WEST + EAST) / 2, (SOUTH + NORTH) / 2])
    angles = np.linspace(0, 2 * np.pi, _RING_SEGMENTS + 1)
    quarter = _RING_SEGMENTS // 4
    for radius_m in _RING_RADII_M:
        circle = centre + radius_m * np.stack([np.cos(angles), np.sin(angles)], axis=1) / np.array(_metres_per_degree())
        for first in range(0, _RING_SEGMENTS, quarter):
            yield circle[first : first + quarter + 1]


def _metres_per_degree() -> tuple[float, float]:
    return metres_per_degree_of_longitude((SOUTH + NORTH) / 2), METRES_PER_DEGREE


def _table(roads: Iterable[tuple[int, str | None, Sequence[Points]]]) -> pa.Table:
    """A row per segment; a segment whose ends are one point is left out."""
    columns: dict[str, list[Any]] = {f.name: [] for f in FIELDS}
    for number, name, lines in roads:
        ends = [(a, b) for line in lines for a, b in pairwise(line.tolist()) if a != b]
        for place, (start, end) in enumerate(ends):
            for column, value in zip(columns.values(), (number, name, place, *start, *end), strict=True):
                column.append(value)
    return pa.table(columns, schema=arrow_schema(FIELDS))


def _rows() -> pa.Table:
    return _table((number, name, [line]) for number, name, line in city())


def _recorded(path: Path) -> pa.Table:
    if not path.is_file():
        raise UserError(f"there is no file {path}", _WAY_OUT)
    is_shapefile = path.suffix.lower() in (".shp", ".zip")
    features = _features_of_shapefile(path) if is_shapefile else _features_of_geojson(path)
    lines = [(_attributes(each), _lines(each, path)) for each in features]
    roads = [(attributes, found) for attributes, found in lines if found]
    numbers = _numbers([attributes for attributes, _ in roads])
    named = [next((str(a[n]) for n in _NAME_ATTRIBUTES if a.get(n)), None) for a, _ in roads]
    table = _table((number, name, found) for number, name, (_, found) in zip(numbers, named, roads, strict=True))
    if table.num_rows == 0:
        raise UserError(f"{path} has no roads", _WAY_OUT)
    return table


def _features_of_shapefile(path: Path) -> list[dict[str, Any]]:
    import shapefile  # type: ignore[import-untyped]

    try:
        with shapefile.Reader(path, encodingErrors="replace") as reader:
            if reader.shapeType not in (shapefile.POLYLINE, shapefile.POLYLINEZ, shapefile.POLYLINEM):
                raise UserError(f"{path} holds {reader.shapeTypeName.lower()} shapes, no polylines", _WAY_OUT)
            shapes = list(reader.iterShapes())
            try:
                attributes = [record.as_dict() for record in reader.iterRecords()]
            except shapefile.ShapefileException:  # there is no .dbf
                attributes = [{} for _ in shapes]
            return [
                {"geometry": shape.__geo_interface__, "properties": properties}
                for shape, properties in zip(shapes, attributes, strict=True)
                if shape is not None and shape.points
            ]
    except (shapefile.ShapefileException, OSError, ValueError, struct.error) as error:
        raise UserError(f"{path} cannot be read as a shapefile: {error}", _WAY_OUT) from None


def _features_of_geojson(path: Path) -> list[dict[str, Any]]:
    try:
        content = json.loads(text_of_file(path))
    except ValueError as error:
        raise UserError(f"{path} is no GeoJSON: {error}", _WAY_OUT) from None
    features = content.get("features") if isinstance(content, dict) else None
    if not isinstance(features, list):
        raise UserError(f"{path} is no GeoJSON FeatureCollection", _WAY_OUT)
    return [each for each in features if isinstance(each, dict) and each.get("geometry")]


def _attributes(feature: dict[str, Any]) -> dict[str, Any]:
    properties = feature.get("properties") or {}
    return {"id": feature.get("id"), **{str(name).lower(): value for name, value in properties.items()}}


def _lines(feature: dict[str, Any], path: Path) -> list[Points]:
    """The lines of a feature, none of one that is no line; heights are left out."""
    geometry = feature["geometry"]
    parts = {"LineString": [geometry.get("coordinates")], "MultiLineString": geometry.get("coordinates")}
    found = []
    for part in parts.get(geometry.get("type")) or ():
        try:
            line = np.array([point[:2] for point in part], dtype=np.float64).reshape(-1, 2)
        except (TypeError, ValueError):
            raise UserError(f"{path} has a line that is not made of points", _WAY_OUT) from None
        if not (np.abs(line) <= (180, 90)).all():
            lon, lat = line[~(np.abs(line) <= (180, 90)).all(axis=1)][0]
            raise UserError(f"{path} has a point ({lon:g}, {lat:g}) that is not in degrees", "Convert it to WGS 84")
        found.append(line)
    return found


def _numbers(attributes: Sequence[dict[str, Any]]) -> list[int]:
    for name in _ID_ATTRIBUTES:
        numbers = [_whole(each.get(name)) for each in attributes]
        if all(number is not None for number in numbers):
            return [int(number) for number in numbers if number is not None]
    return list(range(1, len(attributes) + 1))


def _whole(value: Any) -> int | None:
    """A road's number, if the attribute is one."""
    text = str(value).removesuffix(".0")
    return int(text) if text.isascii() and text.isdigit() and int(text) < 1 << ROAD_ID_BITS else None


TABLE = StoredTable(
    name="roads",
    about="The roads of a city as straight segments: number, name and the two ends of each",
    fields=FIELDS,
    synthetic=_rows,
    recorded=_recorded,
)
