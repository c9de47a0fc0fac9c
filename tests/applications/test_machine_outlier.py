"""Machine outlier: three machines that idle, a fourth that does not, and scores worked out by hand."""

from __future__ import annotations

import pytest

from streamgauge.applications.machine_outlier import (
    APPLICATION,
    abnormal_machines,
    alert_trigger,
    anomaly_score,
    observation_score,
    scores_of_periods,
)
from streamgauge.model.errors import UserError

IDLE, BUSY = 1_353_553, 2_060_660
"""One and √2/4, one and 3·√2/4: the distances from (¼, ¼) of three machines at (0, 0) and one at (1, 1)."""
FIRST_RACK = [
    # rack, start, machine, processor, memory, label; machine 4 is busy for five periods, then idle like the rest
    (1, 300 * period, machine, busy, busy, int(busy))
    for period in range(6)
    for machine, busy in ((1, 0.0), (2, 0.0), (3, 0.0), (4, 1.0 if period < 5 else 0.0))
] + [(1, 1800, 1, 0.0, 0.0, 0)]
SECOND_RACK = [
    (2, 0, 9, 0.1, 0.1, None),
    (2, 0, 8, 0.3, 0.1, None),
    (2, 300, 9, 0.5, 0.5, None),  # ends a period of two at (0.2, 0.1)
    (2, 0, 7, 0.5, 0.1, None),  # late
    (2, 300, 8, 0.5, 0.5, None),  # later than that: ends a period of three at (0.3, 0.1)
]
READINGS = [(0, offset, *reading) for offset, reading in enumerate(FIRST_RACK)] + [
    (1, offset, *reading) for offset, reading in enumerate(SECOND_RACK)
]
BUSY_PERIODS = [(1, 300 * k, [1, 2, 3, 4], [IDLE, IDLE, IDLE, BUSY], (0, 4 * k + 4)) for k in range(5)]
PERIODS = [
    *BUSY_PERIODS,
    (1, 1500, [1, 2, 3, 4], [1_000_000] * 4, (0, 24)),
    (2, 0, [9, 8], [1_100_000, 1_100_000], (1, 2)),
    (2, 0, [9, 8, 7], [1_200_000, 1_000_000, 1_200_000], (1, 4)),
]
COLUMNS = ("rack", "start_ms", "machine_ids", "scores")
PERIOD_TYPES = "rack bigint, start_ms bigint, machine_ids array<bigint>, scores array<bigint>"


@pytest.fixture
def readings(spark, origin_type):
    rows = [(*fields[:5], (1000 + offset, partition, offset, 0)) for partition, offset, *fields in READINGS]
    columns = "rack bigint, start_ms bigint, machine_id bigint, cpu double, memory double"
    return spark.createDataFrame(rows, f"{columns}, {origin_type}")


@pytest.fixture
def events(literal_events):
    rows = [(partition, offset, 1000 + offset, "", *rest) for partition, offset, *rest in READINGS]
    columns = "rack bigint, start_ms bigint, machine_id bigint, cpu double, memory double, abnormal bigint"
    literal_events.add("readings", columns, rows)
    return literal_events


def _by_event(found):
    """Rows with the event that ended the period last, in the order of the log."""
    return sorted(found, key=lambda row: row[-1])


def _scored(frame):
    rows = [tuple(row) for row in frame.select(*COLUMNS, "origin").collect()]
    return _by_event([(*row[:-1], (row[-1].partition, row[-1].offset)) for row in rows])


@pytest.mark.spark
def test_the_aggregate_scores_the_period_that_the_newest_reading_ends(readings):
    assert _scored(observation_score(readings, machines=8)) == [PERIODS[5], PERIODS[7]]


@pytest.mark.spark
def test_in_batches_every_period_is_scored(readings):
    assert _scored(observation_score.using_variant("stateful")(readings, machines=8)) == PERIODS


def test_the_oracle_scores_every_period(events):
    found = scores_of_periods(events, machines=8).rows.select(*COLUMNS, "partition", '"offset"').fetchall()
    assert _by_event([(*row[:4], row[4:]) for row in found]) == PERIODS


@pytest.mark.spark
def test_of_too_many_readings_the_last_make_up_the_period(readings, events):
    second_rack = [(2, 0, [9, 8], [1_100_000, 1_100_000], (1, 2)), (2, 0, [7], [1_000_000], (1, 4))]
    found = scores_of_periods(events, machines=2).rows.select(*COLUMNS, "partition", '"offset"').fetchall()
    assert _by_event([(*row[:4], row[4:]) for row in found])[-2:] == second_rack
    assert _scored(observation_score.using_variant("stateful")(readings, machines=2))[-2:] == second_rack
    assert _scored(observation_score(readings, machines=2))[-1:] == second_rack[-1:]


PERIODS_OF_THREE = [
    (5, 0, [1, 2], [10, 20], (1, 0, 3, 0)),
    (5, 300, [2, 3], [5, 7], (1, 0, 5, 0)),
    (5, 300, [2, 3], [5, 7], (1, 0, 5, 0)),  # again, after a restart
    (5, 600, [3, 1, 3], [1, 2, 4], (1, 0, 9, 0)),
    (6, 600, [4], [1], (1, 0, 8, 0)),
]


@pytest.mark.spark
def test_scores_are_summed_over_the_last_periods_of_the_rack(spark, origin_type, rows_of):
    periods = spark.createDataFrame(PERIODS_OF_THREE, f"{PERIOD_TYPES}, {origin_type}")
    newest = [(5, 600, [3, 1, 3], [1, 2, 4], [12, 2, 12]), (6, 600, [4], [1], [1])]
    assert rows_of(anomaly_score(periods, window=2), *COLUMNS, "sums") == newest
    assert rows_of(anomaly_score.using_variant("stateful")(periods, window=2), *COLUMNS, "sums") == [
        (5, 0, [1, 2], [10, 20], [10, 20]),
        (5, 300, [2, 3], [5, 7], [25, 7]),
        *newest,
    ]


@pytest.mark.spark
@pytest.mark.parametrize("variant", ["default", "sorted"])
def test_an_alert_needs_all_three_conditions(spark, origin_type, rows_of, variant):
    million = 1_000_000
    scores = [million, million, million, million + 100_001, million + 100_000]
    summed = [
        # least 1, median 1.2: above 3.828427; machine 5 has returned to normal
        (1, 0, [1, 2, 3, 4, 5], scores, [million, 1_200_000, 1_100_000, 3_828_428, 5_000_000], (7, 0, 3, 0)),
        (1, 300, [1, 2, 3, 4, 5], scores, [million, 1_200_000, 1_100_000, 3_828_427, 5_000_000], (7, 0, 4, 0)),
        # least 1, median 5: above 9
        (2, 0, [1, 2, 3, 4, 5], scores, [5_000_000, million, 4_000_000, 9_000_001, 8_000_000], (7, 1, 3, 0)),
        (2, 300, [1, 2, 3, 4, 5], scores, [5_000_000, million, 4_000_000, 9_000_000, 8_000_000], (7, 1, 4, 0)),
    ]
    periods = spark.createDataFrame(summed, f"{PERIOD_TYPES}, sums array<bigint>, {origin_type}")
    found = alert_trigger.using_variant(variant)(periods)
    assert rows_of(found, "rack", "start_ms", "machine_id", "anomaly_score", "observation_score", "origin") == [
        (1, 0, 4, 3.828428, 1.100001, (7, 0, 3, 0)),
        (2, 0, 4, 9.000001, 1.100001, (7, 1, 3, 0)),
    ]


def test_the_oracle_expects_alerts_until_the_machine_is_back_to_normal(events, rows_of):
    expected = abnormal_machines(events, machines=8, window=5)
    assert rows_of(
        expected.rows, "partition", '"offset"', "rack", "start_ms", "machine_id", "anomaly_score", "observation_score"
    ) == [(0, 16, 1, 900, 4, 8.24264, 2.06066), (0, 20, 1, 1200, 4, 10.3033, 2.06066)]
    assert expected.quality == {"precision": 1.0, "recall": 0.4}


@pytest.mark.parametrize("given", [{"window": "0"}, {"machines": "0"}, {"machines": "a few"}])
def test_no_periods_and_no_machines_are_refused(given):
    with pytest.raises(UserError, match="parameter"):
        APPLICATION.bind(given)
