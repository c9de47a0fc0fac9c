"""Traffic monitoring: fixes are matched to the nearest road in reach, whatever the size of the grid's cells."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from streamgauge.applications import traffic_monitoring
from streamgauge.model.errors import UserError

BOX = "0,-0.05,0.1,0.05"
"""Its middle is the equator, so a degree has 11,119,500 cm in both directions."""

ROADS = [
    # From (111195, 555975) to (333585, 555975), and northward from there to (333585, 778365).
    (1, "Equator Road", 0, 0.01, 0.0, 0.03, 0.0),
    (2, "North Road", 0, 0.03, 0.0, 0.03, 0.02),
    # Far from all fixes, but in the one cell of a grid with very large cells.
    *((5, None, part, 0.05 + part / 1000, 0.04, 0.051 + part / 1000, 0.04) for part in range(8)),
]

FIXES = [
    # (partition, offset, append_ms, vehicle, time, lon, lat, speed)
    (0, 0, 1000, 7, "2008-02-01 00:00:10", 0.02, 0.0002, 36.04),  # 22.23 m north of road 1
    (0, 1, 1002, 7, "2008-02-01 00:04:59", 0.0205, -0.0003, 40.0),  # 33.36 m south of it
    (0, 2, 1004, 8, "2008-02-01 00:05:00", 0.02, 0.0001, 50.1),
    (0, 3, 1006, 8, "2008-02-01 00:01:00", 0.0302, -0.0002, 20.0),  # the common end of 1 and 2 is nearest to both
    (0, 4, 1008, 9, "2008-02-01 00:01:00", 0.0304, 0.01, 30.5),  # 44.47 m east of road 2
    (1, 0, 1001, 9, "2008-02-01 00:01:00", 0.05, -0.04, 30.0),  # no road in reach
    (1, 1, 1003, 9, "2008-02-01 00:01:00", 0.2, 0.0, 30.0),  # outside
    (1, 2, 1005, 9, "2008-02-01 00:01:00", 0.1, 0.05, 30.0),  # on the border: inside, but no road
    (1, 3, 1007, 3, "2008-02-01 00:02:00", 0.0097, 0.0, 10.0),  # 33.36 m before road 1 begins
    (1, 4, 1009, 3, "2008-02-01 00:02:20", 0.0095, 0.0, 10.0),  # 55.60 m before it
]

PLACES = [
    # (partition, offset, vehicle, x, y, speed in tenths)
    (0, 0, 7, 222390, 558198, 360),
    (0, 1, 7, 227949, 552639, 400),
    (0, 2, 8, 222390, 557086, 501),
    (0, 3, 8, 335808, 553751, 200),
    (0, 4, 9, 338032, 667170, 305),
    (1, 0, 9, 555975, 111195, 300),
    (1, 2, 9, 1111950, 1111950, 300),
    (1, 3, 3, 107859, 555975, 100),
    (1, 4, 3, 105635, 555975, 100),
]

MATCHES = [
    # (partition, offset, road, distance in centimetres); 3145 is √(2223² + 2224²) = 3144.5… to the nearest
    (0, 0, 1, 2223),
    (0, 1, 1, 3336),
    (0, 2, 1, 1111),
    (0, 3, 1, 3145),
    (0, 4, 2, 4447),
    (1, 3, 1, 3336),
]

FIGURES = [
    # (road, window, fixes, vehicles, average): road 1 has 36.0, 40.0, 20.0 and 10.0 km/h before 00:05
    (1, "2008-02-01 00:00:00", 4, 3, 26.5),
    (1, "2008-02-01 00:05:00", 1, 1, 50.1),
    (2, "2008-02-01 00:00:00", 1, 1, 30.5),
]

ROAD_COLUMNS = (
    "road_id bigint, name {0}, segment bigint, from_lon double, from_lat double, to_lon double, to_lat double"
)


@pytest.fixture
def traces(spark, origin_type):
    rows = []
    for partition, offset, append_ms, vehicle, time, lon, lat, speed in FIXES:
        at = datetime.fromisoformat(time).replace(tzinfo=UTC)
        rows.append((vehicle, at, lon, lat, speed, (append_ms, partition, offset, 0)))
    columns = "vehicle_id bigint, time timestamp, lon double, lat double, speed_kmh double"
    return spark.createDataFrame(rows, f"{columns}, {origin_type}")


@pytest.fixture
def roads(spark):
    return spark.createDataFrame(ROADS, ROAD_COLUMNS.format("string"))


@pytest.fixture
def events(literal_events):
    columns = "vehicle_id bigint, time timestamp, lon double, lat double, speed_kmh double"
    rows = [(partition, offset, append_ms, "", *fields) for partition, offset, append_ms, *fields in FIXES]
    literal_events.add("traces", columns, rows)
    literal_events.add_table("roads", ROAD_COLUMNS.format("varchar"), ROADS)
    return literal_events


def _matched(traces, roads, cell_m):
    inside = traffic_monitoring.in_city(traces, box=BOX)
    return traffic_monitoring.match(inside, roads, box=BOX, within_m=50, cell_m=cell_m)


def _by_place(frame, *columns):
    return sorted(tuple(row) for row in frame.select("origin.partition", "origin.offset", *columns).collect())


@pytest.mark.spark
def test_fixes_outside_the_box_are_dropped(traces):
    inside = traffic_monitoring.in_city(traces, box=BOX)
    assert _by_place(inside, "vehicle_id", "x", "y", "speed_tenths") == PLACES


@pytest.mark.spark
@pytest.mark.parametrize("cell_m", [50, 250, 100_000])
def test_each_fix_gets_the_nearest_road_in_reach(traces, roads, cell_m):
    assert _by_place(_matched(traces, roads, cell_m), "road_id", "distance_cm") == MATCHES


@pytest.mark.spark
def test_the_figures_are_per_road_and_window(traces, roads, rows_of):
    figures = traffic_monitoring.road_speeds(_matched(traces, roads, 250), window_minutes=5)
    shown = figures.selectExpr("road_id", "string(window_start)", "fixes", "vehicles", "average_kmh", "origin")
    assert rows_of(shown, *shown.columns) == [
        (*FIGURES[0], (1007, 1, 3, 0)),
        (*FIGURES[1], (1004, 0, 2, 0)),
        (*FIGURES[2], (1008, 0, 4, 0)),
    ]


def test_the_oracle_of_the_box(events, rows_of):
    expected = traffic_monitoring.fixes_in_the_city(events, box=BOX).rows
    assert rows_of(expected, "partition", '"offset"', "vehicle_id", "x", "y", "speed_tenths") == PLACES


def test_the_oracle_of_the_match(events, rows_of):
    expected = traffic_monitoring.road_of_each_fix(events, box=BOX, within_m=50).rows
    assert rows_of(expected, "partition", '"offset"', "road_id", "distance_cm") == MATCHES


def test_the_oracle_of_the_figures(events, rows_of):
    expected = traffic_monitoring.figures_per_road(events, box=BOX, within_m=50, window_minutes=5)
    shown = expected.rows.select("road_id, window_start::varchar as window_start, fixes, vehicles, average_kmh")
    assert rows_of(shown, *shown.columns) == FIGURES
    touches = expected.touches.select('partition, "offset" as place, road_id, minute(window_start) as minute')
    assert rows_of(touches, *touches.columns) == [
        (0, 0, 1, 0),
        (0, 1, 1, 0),
        (0, 2, 1, 5),
        (0, 3, 1, 0),
        (0, 4, 2, 0),
        (1, 3, 1, 0),
    ]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("box", "116,39,117", "'116,39,117' is no bounding box"),
        ("box", "a,b,c,d", "is no bounding box"),
        ("box", "117,39,116,40", "has no inside"),
        ("within_m", "0", "not from 1 to 5000"),
        ("cell_m", "5", "not from 50 to 100000"),
        ("window_minutes", "half", "takes int"),
    ],
)
def test_parameters_are_refused_before_anything_starts(name, text, told):
    with pytest.raises(UserError, match=told):
        traffic_monitoring.APPLICATION.bind({name: text})
