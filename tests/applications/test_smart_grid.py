"""Smart grid: plugs above the global median per house, and loads predicted from now and from earlier days."""

from __future__ import annotations

import pytest

from streamgauge.applications import smart_grid
from streamgauge.model.errors import UserError

T0 = 1_377_986_400
"""2013-08-31 22:00:00 UTC, where a slice of two hours begins."""
HOUR, DAY = 3600, 86_400
WORK, LOAD = 0, 1

FIELDS = "timestamp bigint, value double, property bigint, plug_id bigint, household_id bigint, house_id bigint"


def _readings(*rows):
    """(partition 0, offset, append_ms, timestamp, value, property, plug, household, house) in the order given."""
    return [(0, number, 1000 + number, *row) for number, row in enumerate(rows)]


FIRST_HOUR = _readings(
    (T0 + 5, 10.0, LOAD, 0, 0, 0),
    (T0 + 6, 100.0, LOAD, 1, 0, 0),
    (T0 + 7, 5.0, LOAD, 0, 0, 1),
    (T0 + 8, 60.0, LOAD, 0, 1, 1),
    (T0 + 9, 7000.0, WORK, 0, 0, 0),
    (T0 + 10, -1.0, LOAD, 0, 0, 0),
    (T0 + 11, 30.0, LOAD, 0, 0, 0),
    (T0 + 12, 40.0, LOAD, 0, 1, 1),
    (T0 + 13, 0.0, LOAD, 0, 1, 1),
    (T0 + 14, 200.0, LOAD, 1, 0, 0),
    (T0 + HOUR - 1, 20.0, LOAD, 0, 0, 0),
    (T0 + HOUR - 1, 20.0, LOAD, 0, 1, 1),
    (T0 + HOUR, 7.0, LOAD, 0, 0, 0),
)
"""The ten loads of the first hour are 0 5 10 20 | 20 30 | 40 60 100 200, their median 25. The plugs' medians are

house 0: plug 0 of 10 20 30: 20; plug 1 of 100 200: 150, above. House 1: household 0 of 5: 5; household 1 of 0 20 40 60:
30, above. In the second hour the one plug's median is the global one, not above it.
"""
OUTLIERS = [
    # (window, house, readings, plugs, outliers, percent)
    ("2013-08-31 22:00:00", 0, 10, 2, 1, 50.0),
    ("2013-08-31 22:00:00", 1, 10, 2, 1, 50.0),
    ("2013-08-31 23:00:00", 0, 1, 1, 0, 0.0),
]

SLICE = 2 * HOUR
FOUR_DAYS = _readings(
    (T0 + 2 * SLICE, 10.0, LOAD, 0, 0, 0),
    (T0 + 2 * SLICE + DAY + SLICE - 1, 50.0, LOAD, 0, 0, 0),
    (T0 + 2 * SLICE + 2 * DAY, 70.0, LOAD, 0, 0, 0),
    (T0 + 3 * DAY + 1, 100.0, LOAD, 0, 0, 0),
    (T0 + 3 * DAY + 2, 300.0, LOAD, 3, 1, 0),
    (T0 + 2 * SLICE + SLICE - 1, 30.0, LOAD, 0, 0, 0),
)
"""Slice 2 of the days 0, 1 and 2 has averages of 20, 50 and 70 W; slice 0 of day 3 predicts slice 2 of day 3.

The plug: (100 + 50) / 2. The house, with another plug's 300 W in that slice: (200 + 50) / 2. The other plug: no earlier
day, so 300 W. Slice 2 of the days 0 to 2 predicts slice 4, which has no earlier day: its own average.
"""
PREDICTIONS = [
    # (house, household, plug, slice, days known, readings, watts)
    (0, 0, 0, "2013-09-01 06:00:00", 0, 2, 20.0),
    (0, 0, 0, "2013-09-02 06:00:00", 0, 1, 50.0),
    (0, 0, 0, "2013-09-03 06:00:00", 0, 1, 70.0),
    (0, 0, 0, "2013-09-04 02:00:00", 3, 5, 75.0),
    (0, 1, 3, "2013-09-04 02:00:00", 0, 1, 300.0),
    (0, None, None, "2013-09-01 06:00:00", 0, 2, 20.0),
    (0, None, None, "2013-09-02 06:00:00", 0, 1, 50.0),
    (0, None, None, "2013-09-03 06:00:00", 0, 1, 70.0),
    (0, None, None, "2013-09-04 02:00:00", 3, 6, 125.0),
]
OF_PREDICTION = ("house_id", "household_id", "plug_id", "slice_start", "days_known", "readings", "predicted_w")


@pytest.fixture
def frame(spark, origin_type):
    def build(readings):
        rows = [(*fields, (append_ms, partition, offset, 0)) for partition, offset, append_ms, *fields in readings]
        return smart_grid.loads(spark.createDataFrame(rows, f"{FIELDS}, {origin_type}"))

    return build


@pytest.fixture
def events(literal_events):
    def build(readings):
        rows = [(partition, offset, append_ms, "", *fields) for partition, offset, append_ms, *fields in readings]
        literal_events.add("readings", FIELDS, rows)
        return literal_events

    return build


def _shown(frame, time, *columns):
    return frame.withColumn(time, frame[time].cast("string")).select(*columns)


@pytest.mark.spark
def test_loads_are_milliwatts_of_what_is_possible(spark, origin_type):
    rows = [
        (T0, 68.4515, LOAD, 11, 2, 39, (1, 0, 0, 0)),
        (T0, 68.4515, WORK, 11, 2, 39, (1, 0, 1, 0)),
        (T0, -0.001, LOAD, 11, 2, 39, (1, 0, 2, 0)),
        (T0, 34_000_001.0, LOAD, 11, 2, 39, (1, 0, 3, 0)),
        (T0, 1.0, LOAD, 256, 2, 39, (1, 0, 4, 0)),
        (T0, 1.0, LOAD, 11, 256, 39, (1, 0, 5, 0)),
        (T0, 1.0, LOAD, 11, 2, 4096, (1, 0, 6, 0)),
    ]
    kept = smart_grid.loads(spark.createDataFrame(rows, f"{FIELDS}, {origin_type}"))
    assert kept.columns == ["house_id", "household_id", "plug_id", "timestamp", "load_mw", "origin"]
    assert [tuple(row)[:-1] for row in kept.collect()] == [(39, 2, 11, T0, 68452)]


def test_the_oracle_of_the_loads(events, rows_of):
    expected = smart_grid.load_of_each_reading(events(FIRST_HOUR)).rows
    found = rows_of(expected, '"offset"', "house_id", "household_id", "plug_id", '"timestamp"', "load_mw")
    assert len(found) == 11
    assert found[:3] == [
        (0, 0, 0, 0, T0 + 5, 10_000),
        (1, 0, 0, 1, T0 + 6, 100_000),
        (10, 0, 0, 0, T0 + 3599, 20_000),
    ]


@pytest.mark.spark
def test_outliers_are_plugs_above_the_global_median(frame, rows_of):
    found = smart_grid.outliers(frame(FIRST_HOUR), window_minutes=60)
    columns = ("window_start", "house_id", "readings", "plugs", "outliers", "outlier_percent")
    assert rows_of(_shown(found, "window_start", *columns), *columns) == OUTLIERS
    assert {tuple(origin) for (origin,) in found.select("origin").collect()} == {
        (1011, 0, 11, 0),
        (1011, 0, 11, 1),
        (1012, 0, 12, 0),
    }


def test_the_oracle_of_the_outliers(events, rows_of):
    expected = smart_grid.outliers_per_house(events(FIRST_HOUR), window_minutes=60)
    shown = expected.rows.select("* replace (window_start::varchar as window_start)")
    assert rows_of(shown, "window_start", "house_id", "readings", "plugs", "outliers", "outlier_percent") == OUTLIERS
    touches = expected.touches.select('"offset" as place, house_id, hour(window_start) as hour')
    assert rows_of(touches, "place", "house_id", "hour") == [
        (0, 0, 22),
        (1, 0, 22),
        (10, 0, 22),
        (11, 1, 22),
        (12, 0, 23),
        (2, 1, 22),
        (3, 1, 22),
        (6, 0, 22),
        (7, 1, 22),
        (8, 1, 22),
        (9, 0, 22),
    ]


@pytest.mark.spark
def test_averages_are_of_plugs_and_of_houses(frame, rows_of):
    found = smart_grid.averages(frame(FOUR_DAYS[3:5]), slice_minutes=120)
    columns = ("house_id", "household_id", "plug_id", "slice_start_s", "total_mw", "readings")
    assert rows_of(found, *columns) == [
        (0, 0, 0, T0 + 3 * DAY, 100_000, 1),
        (0, 1, 3, T0 + 3 * DAY, 300_000, 1),
        (0, None, None, T0 + 3 * DAY, 400_000, 2),
    ]


@pytest.mark.spark
def test_predictions_are_half_now_and_half_the_median_of_earlier_days(frame, rows_of):
    averages = smart_grid.averages(frame(FOUR_DAYS), slice_minutes=120)
    found = smart_grid.predict(averages, slice_minutes=120, days=3)
    assert rows_of(_shown(found, "slice_start", *OF_PREDICTION), *OF_PREDICTION) == PREDICTIONS
    two_days = _shown(smart_grid.predict(averages, slice_minutes=120, days=2), "slice_start", *OF_PREDICTION)
    assert (0, 0, 0, "2013-09-04 02:00:00", 2, 3, 80.0) in rows_of(two_days, *OF_PREDICTION)


@pytest.mark.spark
def test_the_slice_with_the_most_readings_is_the_latest(spark, origin_type, rows_of):
    columns = "house_id bigint, household_id bigint, plug_id bigint, slice_start_s bigint, total_mw bigint"
    rows = [
        (1, 0, 0, T0, 90_000, 2, (1002, 0, 2, 0)),
        (1, 0, 0, T0, 10_000, 1, (1001, 0, 1, 0)),
        (1, 0, 0, T0 + 2 * SLICE - DAY, 20_000, 1, (1003, 0, 3, 0)),
        (1, 0, 0, T0 + 2 * SLICE - DAY, 10_000, 2, (1005, 0, 4, 0)),
    ]
    averages = spark.createDataFrame(rows, f"{columns}, readings bigint, {origin_type}")
    found = smart_grid.predict(averages, slice_minutes=120, days=1)
    # Now 45 W from two readings, the day before 5 W from two.
    assert ("2013-09-01 02:00:00", 1, 4, 25.0, (1005, 0, 4, 0)) in rows_of(
        _shown(found, "slice_start", *OF_PREDICTION[3:], "origin"), *OF_PREDICTION[3:], "origin"
    )


def test_the_oracle_of_the_predictions(events, rows_of):
    seen = events(FOUR_DAYS)
    expected = smart_grid.predictions(seen, slice_minutes=120, days=3)
    as_text = "* replace (slice_start::varchar as slice_start)"
    assert rows_of(expected.rows.select(as_text), *OF_PREDICTION) == PREDICTIONS
    two_days = smart_grid.predictions(seen, slice_minutes=120, days=2).rows.select(as_text)
    assert (0, 0, 0, "2013-09-04 02:00:00", 2, 3, 80.0) in rows_of(two_days, *OF_PREDICTION)
    touches = rows_of(expected.touches.select(as_text), '"offset"', *OF_PREDICTION[:4])
    assert touches[:2] == [(0, 0, 0, 0, "2013-09-01 06:00:00"), (0, 0, None, None, "2013-09-01 06:00:00")]
    assert len(touches) == 12


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("slice_minutes", "7", "a day is no multiple of it"),
        ("slice_minutes", "180", "not from 1 to 120"),
        ("days", "0", "not from 1 to 14"),
        ("window_minutes", "1441", "not from 1 to 1440"),
    ],
)
def test_parameters_are_refused_before_anything_starts(name, text, told):
    with pytest.raises(UserError, match=told):
        smart_grid.APPLICATION.bind({name: text})
