"""Traffic monitoring (BO3): how fast is each road of the city, and how many vehicles are on it?

Bordin's thesis (2017, section 3.3.3): GPS fixes outside a bounding box are dropped, each other one is matched to a road
of a stored network, and the average speed and the number of vehicles are kept per road. What the thesis leaves open is
said here:

* **Place.** Degrees become whole centimetres east and north of the box's south-west corner, rounded down; a degree of
  longitude is as long as at the box's middle latitude, which is wrong by less than 0.2 % in a city of 0.2 degrees.
* **Road.** The one with the nearest segment, if that is within `within_m`; of roads that are equally near, to the
  nearest centimetre, the one with the smaller number. A fix without a road in reach is dropped.
* **Search.** A grid of square cells lies over the box. A segment is listed in every cell that its bounding
  rectangle, widened by `within_m`, overlaps: all roads in reach of a fix are in the list of the fix's own cell.
* **Figures.** Per road and tumbling window of event time: fixes, different vehicles, mean speed over the fixes, each
  speed taken to a tenth of a km/h.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import latest_origin
from streamgauge.applications.parameters import WholeNumber
from streamgauge.applications.road_grid import (
    GENERATED_CITY,
    BoundingBox,
    Box,
    distance_of,
    grid_over,
    in_cells,
    nearest,
    place_cm,
    road_of,
)
from streamgauge.model import Application, Emits, Expected, LatestPerKey, Output, PerEvent, stage
from streamgauge.streams.gps_traces import STREAM
from streamgauge.streams.tables.roads import TABLE

WATERMARK = "6 hours"
"""The generated stream has 200 events in a second of event time: partitions may be read 4 million events apart."""
STRIP_CM = 20_000
"""How wide the oracle's strips are; segments that two strips share are in both, and an event is in one."""


@stage
def in_city(traces: DataFrame, *, box: str) -> DataFrame:
    """The fixes inside the box: vehicle, time, place in centimetres, speed in whole tenths of km/h."""
    city = Box.of(box)
    x, y = place_cm(city, "lon", "lat")
    inside = fn.col("lon").between(city.west, city.east) & fn.col("lat").between(city.south, city.north)
    tenths = fn.floor(fn.col("speed_kmh") * 10 + 0.5)
    return traces.filter(inside).select(
        "vehicle_id", "time", x.alias("x"), y.alias("y"), tenths.alias("speed_tenths"), "origin"
    )


@stage(uses=("static-join",), key=("road_id",))
def match(in_city: DataFrame, roads: DataFrame, *, box: str, within_m: int, cell_m: int) -> DataFrame:
    """Each fix with the nearest road in reach, found among the segments of its cell."""
    within_cm = 100 * within_m
    grid = grid_over(roads, Box.of(box), 100 * cell_m, within_cm)
    found = nearest(grid, within_cm).alias("found")
    matched = in_cells(in_city, grid).select("vehicle_id", "time", "speed_tenths", found, "origin")
    return matched.filter(distance_of("found") <= within_cm).select(
        road_of("found").alias("road_id"),
        "vehicle_id",
        "time",
        "speed_tenths",
        distance_of("found").alias("distance_cm"),
        "origin",
    )


@stage(uses=("aggregate", "window"), emits=Emits.UPDATES)
def road_speeds(match: DataFrame, *, window_minutes: int) -> DataFrame:
    """The running figures per road and window."""
    windows = match.withWatermark("time", WATERMARK).groupBy("road_id", fn.window("time", f"{window_minutes} minutes"))
    figures = windows.agg(
        fn.count("*").alias("fixes"),
        fn.size(fn.collect_set("vehicle_id")).alias("vehicles"),
        (fn.sum("speed_tenths") / fn.count("*") / 10).alias("average_kmh"),
        latest_origin(),
    )
    return figures.select(
        "road_id", fn.col("window.start").alias("window_start"), "fixes", "vehicles", "average_kmh", "origin"
    )


def _placed(box: str) -> str:
    """SQL: the events inside the box with their places."""
    city = Box.of(box)
    return f"""
        select partition, "offset", vehicle_id, time, round(speed_kmh * 10)::bigint as speed_tenths,
               {_east_cm(city, "lon")} as x, {_north_cm(city, "lat")} as y
        from traces
        where lon >= {city.west!r} and lon <= {city.east!r} and lat >= {city.south!r} and lat <= {city.north!r}
    """


def _east_cm(city: Box, lon: str) -> str:
    return f"floor(({lon} - {city.west!r}::double) * {city.cm_per_degree[0]!r}::double)::bigint"


def _north_cm(city: Box, lat: str) -> str:
    return f"floor(({lat} - {city.south!r}::double) * {city.cm_per_degree[1]!r}::double)::bigint"


def _matched(box: str, within_m: int) -> str:
    """SQL: every event with its road, by rectangles around segments; the city is cut into strips, not into cells."""
    city, reach = Box.of(box), 100 * within_m
    return f"""
        with fix as (select *, x // {STRIP_CM} as strip from ({_placed(box)})),
        segment as (
            select road_id, ax, ay, bx - ax as dx, by_ - ay as dy,
                   least(ax, bx) - {reach} as west, greatest(ax, bx) + {reach} as east,
                   least(ay, by_) - {reach} as south, greatest(ay, by_) + {reach} as north
            from (select road_id, {_east_cm(city, "from_lon")} as ax, {_north_cm(city, "from_lat")} as ay,
                         {_east_cm(city, "to_lon")} as bx, {_north_cm(city, "to_lat")} as by_ from roads)
        ),
        in_strip as (
            select *, unnest(generate_series(west // {STRIP_CM}, east // {STRIP_CM})) as strip from segment
        ),
        near as (
            select fix.*, road_id, dx, dy, dx * dx + dy * dy as length2, x - ax as px, y - ay as py
            from fix join in_strip using (strip) where x between west and east and y between south and north
        ),
        measured as (
            select *, round(sqrt(case
                when px * dx + py * dy <= 0 then (px * px + py * py)::double
                when px * dx + py * dy >= length2 then ((px - dx) * (px - dx) + (py - dy) * (py - dy))::double
                else (px * dy - py * dx)::double * (px * dy - py * dx)::double / length2::double
            end))::bigint as distance_cm
            from near
        )
        select partition, "offset", any_value(vehicle_id) as vehicle_id, any_value(time) as time,
               any_value(speed_tenths) as speed_tenths, arg_min(road_id, (distance_cm, road_id)) as road_id,
               min(distance_cm) as distance_cm
        from measured
        where distance_cm <= {reach}
        group by partition, "offset"
    """


def fixes_in_the_city(events: Any, *, box: str) -> Expected:
    """Place and speed of every event inside the box."""
    return Expected(events.sql(_placed(box)))


def road_of_each_fix(events: Any, *, box: str, within_m: int) -> Expected:
    """The nearest road of every event that has one in reach."""
    return Expected(events.sql(_matched(box, within_m)))


def figures_per_road(events: Any, *, box: str, within_m: int, window_minutes: int) -> Expected:
    """The figures over all events of a road and window; each of these events touches them."""
    start = f"time_bucket(to_minutes({window_minutes}), time::timestamp, timestamp '1970-01-01')"
    windowed = f"select *, {start} as window_start from ({_matched(box, within_m)})"
    return Expected(
        rows=events.sql(f"""
            select road_id, window_start, count(*) as fixes, count(distinct vehicle_id) as vehicles,
                   sum(speed_tenths) / count(*) / 10 as average_kmh
            from ({windowed})
            group by road_id, window_start
        """),
        touches=events.sql(f'select partition, "offset", road_id, window_start from ({windowed})'),
    )


APPLICATION = Application(
    name="traffic-monitoring",
    question="How fast is each road of the city, and how many vehicles are on it?",
    inputs={"traces": STREAM},
    tables={"roads": TABLE},
    stages=(in_city, match, road_speeds),
    outputs=(
        Output("in_city", fixes_in_the_city, PerEvent(("vehicle_id", "time", "x", "y", "speed_tenths"))),
        Output("match", road_of_each_fix, PerEvent(("road_id", "vehicle_id", "time", "speed_tenths", "distance_cm"))),
        Output(
            "road_speeds",
            figures_per_road,
            LatestPerKey(("road_id", "window_start"), {"fixes": "rises", "vehicles": "rises", "average_kmh": "any"}),
        ),
    ),
    parameters={
        "box": BoundingBox(GENERATED_CITY, "borders of the city in degrees: west,south,east,north"),
        "within_m": WholeNumber(50, "how far from a road a fix may be, in metres", 1, 5000),
        "cell_m": WholeNumber(250, "side of a cell of the grid, in metres", 50, 100_000),
        "window_minutes": WholeNumber(5, "minutes of event time in a window", 1, 1440),
    },
    papers=("BO3",),
    required={"traces": ("vehicle_id", "time", "lon", "lat", "speed_kmh")},
    deviations=(
        "The thesis counts per road without an end; here the figures belong to tumbling windows of event time, so that "
        "the vehicles counted are different ones and the state stays bounded.",
        "The thesis's own program leaves out speeds far from the road's mean so far, which depends on the order of the "
        "events; here every fix on a road counts.",
    ),
)
