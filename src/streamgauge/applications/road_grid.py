"""A grid over a city for finding the nearest road: places in centimetres, segments listed per cell, distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.model.application import Parameter
from streamgauge.model.errors import UserError
from streamgauge.streams.tables.roads import (
    EAST,
    METRES_PER_DEGREE,
    NORTH,
    ROAD_ID_BITS,
    SOUTH,
    WEST,
    metres_per_degree_of_longitude,
)

GENERATED_CITY = f"{WEST},{SOUTH},{EAST},{NORTH}"
CELL_BITS = 20
"""Cells northward of one another: more than there are between the poles at the smallest side, 50 m."""
MOST_COLUMNS = 6
"""Segments of a cell up to which each gets columns of its own.

An expression over an array is not compiled, and Java compiles no method beyond 8,000 bytes: six segments take 7,500.
"""
FAR_AWAY = {"off": 1e12}
"""What stands in the columns of a cell that has fewer segments than another."""

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class Box:
    """The borders of a city in degrees."""

    west: float
    south: float
    east: float
    north: float

    @staticmethod
    def of(text: str) -> Box:
        """The box of `west,south,east,north`."""
        way_out = f"Write west,south,east,north in degrees, like {GENERATED_CITY}"
        try:
            west, south, east, north = (float(part) for part in text.split(","))
        except ValueError:
            raise UserError(f"'{text}' is no bounding box", way_out) from None
        if not (-180 <= west < east <= 180 and -90 < south < north < 90):
            raise UserError(f"the bounding box {text} has no inside", way_out)
        return Box(west, south, east, north)

    @property
    def cm_per_degree(self) -> tuple[float, float]:
        """Centimetres in a degree of longitude, at the middle latitude, and of latitude."""
        return 100 * metres_per_degree_of_longitude((self.south + self.north) / 2), 100 * METRES_PER_DEGREE


@dataclass(frozen=True)
class BoundingBox(Parameter):
    """A bounding box, written as `west,south,east,north`."""

    def parse(self, name: str, text: str) -> str:
        """The text, if it is a box."""
        Box.of(text)
        return text


def place_cm(box: Box, lon: str, lat: str) -> tuple[Column, Column]:
    """Whole centimetres east and north of the box's south-west corner, rounded down."""
    per_lon, per_lat = box.cm_per_degree
    return fn.floor((fn.col(lon) - box.west) * per_lon), fn.floor((fn.col(lat) - box.south) * per_lat)


def in_cells(rows: DataFrame, grid: Grid) -> DataFrame:
    """The rows whose place (x, y) has a cell with segments, joined with the columns of that cell."""
    cell = fn.shiftleft(fn.floor(fn.col("x") / grid.cell_cm), CELL_BITS) + fn.floor(fn.col("y") / grid.cell_cm)
    # A place is never null here; told so, Spark writes code that is short enough to be compiled.
    place = [fn.coalesce(fn.col(axis).cast("double"), fn.lit(0.0)).alias(f"{axis}_cm") for axis in ("x", "y")]
    return rows.select("*", cell.alias("cell"), *place).join(fn.broadcast(grid.cells), "cell")


@dataclass(frozen=True)
class Grid:
    """The cells that have segments in reach: in columns of their own, one set for each place of the longest list."""

    cells: DataFrame
    cell_cm: int
    longest: int
    """0 where the lists are too long for that, and the cell has one column `segments` with its list."""


def grid_over(roads: DataFrame, box: Box, cell_cm: int, within_cm: int) -> Grid:
    """The grid: a segment is listed in each cell that its rectangle, widened by `within_cm`, overlaps.

    It is built here and now, once for a query: as a plan of its own Spark would build it again in every batch, and
    real-time mode refuses the grouping in it.
    """
    rows = roads.select("road_id", "from_lon", "from_lat", "to_lon", "to_lat").toArrow()
    ends = {name: rows[name].to_numpy() for name in rows.column_names}
    segments, which, cell = _listed(ends, box, cell_cm, within_cm)
    order = np.argsort(cell, kind="stable")
    cells, starts, row = np.unique(cell[order], return_index=True, return_inverse=True)
    listed = {name: values[which[order]] for name, values in segments.items()}
    place = np.arange(len(order)) - starts[row]
    longest = int(place.max(initial=-1)) + 1
    columns: dict[str, Any] = {"cell": cells}
    if not 0 < longest <= MOST_COLUMNS:
        lists = pa.StructArray.from_arrays([pa.array(values) for values in listed.values()], names=list(listed))
        columns["segments"] = pa.ListArray.from_arrays(np.append(starts, len(order)).astype(np.int32), lists)
        return Grid(roads.sparkSession.createDataFrame(pa.table(columns)), cell_cm, 0)
    for number in range(longest):
        here = place == number
        for name, values in listed.items():
            column = np.full(len(cells), FAR_AWAY.get(name, 0), values.dtype)
            column[row[here]] = values[here]
            columns[f"{name}_{number}"] = column
    # Spark's code is a third as long, and short enough to be compiled, where no column may be null.
    types = {np.dtype(np.int64): "bigint", np.dtype(np.float64): "double"}
    ddl = ", ".join(f"{name} {types[values.dtype]} not null" for name, values in columns.items())
    return Grid(roads.sparkSession.createDataFrame(pa.table(columns), ddl), cell_cm, longest)


def _listed(
    ends: dict[str, Numbers], box: Box, cell_cm: int, within_cm: int
) -> tuple[dict[str, Numbers], Numbers, Numbers]:
    """The segments, and for each entry of the cells' lists which segment it is and in which cell."""
    borders = {"lon": (box.west, box.east), "lat": (box.south, box.north)}
    place, low, count = {}, {}, {}
    for axis, per_degree in zip(("lon", "lat"), box.cm_per_degree, strict=True):
        near, far = borders[axis]
        a, b = (np.floor((ends[f"{end}_{axis}"] - near) * per_degree).astype(np.int64) for end in ("from", "to"))
        last = int((far - near) * per_degree) // cell_cm
        place[axis] = (a, b)
        low[axis] = np.maximum((np.minimum(a, b) - within_cm) // cell_cm, 0)
        count[axis] = np.maximum(np.minimum((np.maximum(a, b) + within_cm) // cell_cm, last) - low[axis] + 1, 0)
    cells_each = count["lon"] * count["lat"]
    which = np.repeat(np.arange(len(cells_each)), cells_each)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(cells_each) - cells_each, cells_each)
    column, row = np.divmod(nth, np.maximum(count["lat"], 1)[which])
    cell = ((low["lon"][which] + column) << CELL_BITS) + low["lat"][which] + row
    return {"road_id": ends["road_id"], **_lines(*place["lon"], *place["lat"])}, which, cell


def _lines(ax: Numbers, bx: Numbers, ay: Numbers, by: Numbers) -> dict[str, Numbers]:
    """Each segment as its direction, how far its line and its middle are from the corner of the box, and half of it.

    So a place is x · north − y · east − off from the line, and x · east + y · north − middle from the segment's middle.
    """
    dx, dy = (bx - ax).astype(np.float64), (by - ay).astype(np.float64)
    length = np.hypot(dx, dy)
    east, north = np.where(length > 0, dx, 1.0) / np.maximum(length, 1.0), dy / np.maximum(length, 1.0)
    middle = ((ax + bx) * east + (ay + by) * north) / 2
    return {"east": east, "north": north, "off": ax * north - ay * east, "middle": middle, "half": length / 2}


def nearest(grid: Grid, within_cm: int) -> Column:
    """The nearest segment for a row of `in_cells`, of two that are equally near that of the smaller road number.

    Distance and road are in one whole number, which orders as the pair does: `distance_of` and `road_of` part them. A
    distance beyond `within_cm`, which is at most 5 km, is one centimetre more than that: a larger one would not fit.
    """

    def measured(part: Callable[[str], Column]) -> Column:
        distance_cm = fn.least(_distance_cm(part), fn.lit(within_cm + 1))
        return fn.shiftleft(distance_cm, ROAD_ID_BITS) + part("road_id")

    if not grid.longest:
        return fn.array_min(fn.transform("segments", lambda segment: measured(segment.getField)))
    each = [measured(partial(_column, number)) for number in range(grid.longest)]
    return fn.least(*each, fn.lit(2**63 - 1))


def _column(number: int, name: str) -> Column:
    return fn.col(f"{name}_{number}")


def distance_of(found: str) -> Column:
    """The distance in whole centimetres."""
    return fn.shiftright(found, ROAD_ID_BITS)


def road_of(found: str) -> Column:
    """The number of the road."""
    return fn.col(found).bitwiseAND(fn.lit((1 << ROAD_ID_BITS) - 1))


def _distance_cm(part: Callable[[str], Column]) -> Column:
    """To the nearest centimetre; nothing is named twice, since Spark would work it out twice."""
    x, y = fn.col("x_cm"), fn.col("y_cm")
    across = x * part("north") - y * part("east") - part("off")
    from_middle = fn.abs(x * part("east") + y * part("north") - part("middle"))
    return fn.floor(fn.hypot(across, fn.greatest(from_middle - part("half"), fn.lit(0.0))) + 0.5)
