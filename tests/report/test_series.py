"""Series from counts: exact against the plain definition, small whatever the number of events."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.report import series

samples = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 400)), min_size=1, max_size=400)


def counted(found: list[tuple[int, int]], kind: str = "event") -> pa.Table:
    """Samples (second, latency_ms) as a table of counts."""
    pairs, counts = np.unique(np.array(found), axis=0, return_counts=True)
    columns = {"kind": [kind] * len(pairs), "second": pairs[:, 0], "latency_ms": pairs[:, 1], "count": counts}
    return pa.table(columns)


@given(samples, st.sampled_from([0.5, 0.9, 0.99]))
def test_a_slot_has_the_exact_nearest_rank_quantile(found: list[tuple[int, int]], quantile: float) -> None:
    line = series.latency_over_time(counted(found), quantile)
    drawn = dict(zip(line.x, line.y, strict=True))
    seconds = {second for second, _ in found}
    assert set(drawn) == set(range(min(seconds), max(seconds) + 1))
    for second, value in drawn.items():
        mine = sorted(latency for at, latency in found if at == second)
        if not mine or (quantile > 0.5 and len(mine) * (1 - quantile) < 1 - 1e-9):
            assert math.isnan(value)
        else:
            assert value == mine[math.ceil(round(quantile * len(mine), 6)) - 1]


@given(samples)
def test_a_percentile_curve_rises_from_the_smallest_to_the_largest(found: list[tuple[int, int]]) -> None:
    curve = series.percentile_curve(counted(found))
    latencies = [latency for _, latency in found]
    assert curve.y[0] == min(latencies)
    # The last rank is the sample's n − 1 of n: the largest but one, or the only one.
    assert curve.y[-1] == sorted(latencies)[max(0, len(latencies) - 2)]
    assert (np.diff(curve.y) >= 0).all()
    assert curve.x[0] == 1
    assert len(curve.x) <= series.CURVE_POINTS


def test_kinds_are_kept_apart() -> None:
    both = pa.concat_tables([counted([(0, 5)]), counted([(0, 900)], "due")])
    assert series.latency_over_time(both, 0.5).y.tolist() == [5]
    assert series.latency_over_time(both, 0.5, "due").y.tolist() == [900]
    assert series.latency_over_time(both, 0.5, "output").empty


def test_a_second_without_events_breaks_the_latency_and_is_zero_in_the_throughput() -> None:
    line = series.latency_over_time(counted([(0, 5), (2, 7)]), 0.5)
    assert [None if math.isnan(v) else v for v in line.y] == [5, None, 7]
    throughput = pa.table({"second": [0, 2], "in_events": [10, 20]})
    assert series.events_over_time(throughput, "in_events").y.tolist() == [10, 0, 20]


def test_a_run_of_days_keeps_its_mean_rate_in_few_points() -> None:
    seconds = np.arange(200_000)
    line = series.events_over_time(pa.table({"second": seconds, "in_events": np.full(seconds.size, 7)}), "in_events")
    assert len(line.x) <= series.TIMELINE_POINTS + 1
    assert set(line.y[:-1]) == {7.0}


def test_resources_are_placed_in_time_and_missing_ones_are_not_drawn() -> None:
    table = pa.table(
        {
            "at_ms": [1000, 1500, 1500],
            "component": ["job", "job", "broker"],
            "cpu_cores": [0.5, 1.5, 9.0],
            "heap_used_bytes": pa.array([None, None, 5], pa.int64()),
        }
    )
    line = series.resource_over_time(table, "job", "cpu_cores", 1000)
    assert line.x.tolist() == [0, 0.5]
    assert line.y.tolist() == [0.5, 1.5]
    assert series.resource_over_time(table, "job", "heap_used_bytes", 1000).empty
    assert series.resource_over_time(table, "publisher", "cpu_cores", 1000).empty


def test_a_slot_without_an_answer_is_not_available() -> None:
    # Fifteen seconds of input; nothing is answered in seconds 5 to 9 while events wait.
    came, answered = [10] * 15, [9] * 5 + [0] * 5 + [21] * 5
    found = series.availability_over_time(pa.table({"in_events": came, "consumed_events": answered}))
    assert found.x.tolist() == [0, 5, 10, 15]
    assert found.y.tolist() == [1, 0, 1, 1]
    assert series.availability_over_time(pa.table({"in_events": [0], "consumed_events": [0]})).empty
