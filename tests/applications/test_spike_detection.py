"""Spike detection: averages over the last values of a device, worked out by hand with a window of three."""

from __future__ import annotations

import pytest

from streamgauge.applications.spike_detection import APPLICATION, averages, far_readings, moving_average, spikes
from streamgauge.model.errors import UserError

READINGS = [
    # partition, offset, device, °C, label; device 7 has the averages 10, 10, 20, 20, 24.000333…
    (0, 0, 7, 10.0, 0),
    (0, 1, 9, 5.0, 0),
    (0, 2, 7, 10.0, 0),
    (0, 3, 7, 40.0, 1),
    (0, 4, 7, 10.0, 1),
    (0, 5, 9, -20.0, 0),
    (1, 0, 8, 0.0, None),
    (0, 6, 7, 22.0006, 0),
]
AVERAGES = [
    (7, 10.0, 10.0, (1000, 0, 0, 0)),
    (7, 10.0, 10.0, (1002, 0, 2, 0)),
    (7, 10.0, 20.0, (1004, 0, 4, 0)),
    (7, 22.001, 72.001 / 3, (1006, 0, 6, 0)),
    (7, 40.0, 20.0, (1003, 0, 3, 0)),
    (8, 0.0, 0.0, (1000, 1, 0, 0)),
    (9, -20.0, -7.5, (1005, 0, 5, 0)),
    (9, 5.0, 5.0, (1001, 0, 1, 0)),
]
COLUMNS = ("moteid", "value", "average", "origin")


@pytest.fixture
def readings(spark, origin_type):
    rows = [(mote, celsius, (1000 + offset, partition, offset, 0)) for partition, offset, mote, celsius, _ in READINGS]
    return spark.createDataFrame(rows, f"moteid bigint, temperature double, {origin_type}")


@pytest.fixture
def events(literal_events):
    rows = [(partition, offset, 1000 + offset, "", *rest) for partition, offset, *rest in READINGS]
    literal_events.add("readings", "moteid bigint, temperature double, spike bigint", rows)
    return literal_events


@pytest.mark.spark
def test_the_aggregate_averages_the_last_values_of_each_device(readings, rows_of):
    newest = {(0, 5), (0, 6), (1, 0)}
    assert rows_of(moving_average(readings, window=3), *COLUMNS) == [
        row for row in AVERAGES if (row[3][1], row[3][2]) in newest
    ]


@pytest.mark.spark
def test_in_batches_every_reading_has_its_average(readings, rows_of):
    assert rows_of(moving_average.using_variant("stateful")(readings, window=3), *COLUMNS) == AVERAGES


@pytest.mark.spark
def test_a_spike_is_farther_than_the_threshold_and_not_just_as_far(spark, origin_type, rows_of):
    averaged = spark.createDataFrame(AVERAGES, f"moteid bigint, value double, average double, {origin_type}")
    assert rows_of(spikes(averaged, threshold=0.5), "moteid", "value") == [(7, 40.0), (9, -20.0)]


def test_the_oracle_averages_every_reading(events, rows_of):
    assert rows_of(averages(events, window=3).rows, "moteid", "value", "average", "partition", '"offset"') == [
        (mote, value, average, partition, offset) for mote, value, average, (_, partition, offset, _) in AVERAGES
    ]


def test_the_oracle_expects_the_spikes(events, rows_of):
    expected = far_readings(events, window=3, threshold=0.5)
    assert rows_of(expected.rows, "partition", '"offset"', "moteid", "value", "average") == [
        (0, 3, 7, 40.0, 20.0),
        (0, 5, 9, -20.0, -7.5),
    ]
    assert expected.quality == {"precision": 0.5, "recall": 0.5}


@pytest.mark.parametrize(
    "given", [{"window": "0"}, {"window": "many"}, {"window": "20000"}, {"threshold": "0"}, {"threshold": "nan"}]
)
def test_a_window_without_values_and_a_threshold_of_nothing_are_refused(given):
    with pytest.raises(UserError, match="parameter"):
        APPLICATION.bind(given)
