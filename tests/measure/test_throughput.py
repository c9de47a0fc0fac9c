"""Throughput on literal timelines."""

import pytest

from streamgauge.measure.throughput import Commits, measure_tenths, measure_throughput
from streamgauge.measure.window import attach_inputs, largest_partition_share, measured_window
from tests.measure.small_trial import events_of, outputs_of


def throughput(connection, events, outputs, warmup_events=0, **more):
    window = measured_window(connection, [events], warmup_events)
    return measure_throughput(connection, [events], [outputs], window, **more)


def test_consumption_is_the_growth_of_the_furthest_origins(connection) -> None:
    events = events_of([(i % 2, i // 2, 10_000 + i * 250, None) for i in range(8)], size=1_000_000)
    outputs = outputs_of(
        [
            (10_900, 0, 0, 1, "w"),
            (10_950, 0, 0, 0, "w"),
            (11_100, 0, 1, 2, "w"),
            (12_500, 0, 0, 3, "w"),
            (12_500, 0, 1, 3, "w"),
        ]
    )
    found = throughput(connection, events, outputs, nodes=2)
    assert found.table.to_pydict() == {
        "second": [0, 1, 2],
        "in_events": [4, 4, 0],
        "consumed_events": [2, 3, 3],
        "out_records": [2, 1, 2],
    }
    assert found.as_dict() == pytest.approx(
        {
            "events_per_s": 8 / 2.5,
            "p5_events_per_s": 2.0,
            "mb_per_s": 8 / 2.5,
            "events_per_s_per_node": 4 / 2.5,
            "mb_per_s_per_node": 4 / 2.5,
            "time_to_first_output_s": 0.9,
            "drain_s": 0.75,
            "outputs_per_s": 5 / 2.5,
        }
    )


def test_events_without_an_output_of_their_own_are_consumed_when_they_are_committed(connection) -> None:
    # A join whose outputs carry the later event of each pair: those of partition 0 are the origin of none.
    events = events_of([(i % 2, i // 2, 10_000 + i * 250, None) for i in range(8)])
    outputs = outputs_of([(10_900, 0, 1, 1, "w"), (12_500, 0, 1, 3, "w")])
    commits = Commits.of(
        [(9_000, 0, 1), (10_950, 0, 2), (10_950, 1, 2), (12_100, 0, 3), (14_000, 0, 4), (14_000, 7, 9)]
    )
    assert throughput(connection, events, outputs).table["consumed_events"].to_pylist() == [2, 0, 2]
    found = throughput(connection, events, outputs, commits=commits)
    assert found.table["consumed_events"].to_pylist() == [2 + 1, 0, 2 + 2], "one of partition 0 was consumed before"
    tenths = measure_tenths(connection, [events], [outputs], 10_000, commits)["consumed_events"].to_pylist()
    assert {at: n for at, n in enumerate(tenths) if n} == {9: 3, 21: 1, 25: 3}
    nothing = throughput(connection, events, outputs_of([]), commits=commits)
    assert nothing.table["consumed_events"].to_pylist() == [3, 2], "without outputs the arrivals set the slots"


def test_what_was_consumed_before_the_window_is_not_in_its_slots(connection) -> None:
    events = events_of([(0, i, 10_000 + i * 500, None) for i in range(6)])
    outputs = outputs_of([(10_600, 0, 0, 1, "w"), (11_100, 0, 0, 2, "w"), (12_900, 0, 0, 5, "w")])
    found = throughput(connection, events, outputs, warmup_events=2)
    assert found.table["consumed_events"].to_pylist() == [1, 3]
    assert found.events_per_s == pytest.approx(4 / 1.9)
    assert found.time_to_first_output_s == pytest.approx(0.6)


def test_the_largest_partition_is_told_as_a_share(connection) -> None:
    events = events_of([(0, 0, 1_000, None), (0, 1, 1_001, None), (0, 2, 1_002, None), (1, 0, 1_003, None)])
    attach_inputs(connection, [events])
    assert largest_partition_share(connection) == 0.75


def test_a_preloaded_trial_counts_from_the_start_of_the_job(connection) -> None:
    events = events_of([(0, i, 1_000 + i, None) for i in range(10)])
    outputs = outputs_of([(61_500, 0, 0, 4, "w"), (62_000, 0, 0, 9, "w")])
    found = throughput(connection, events, outputs, job_started_ms=60_000)
    assert found.events_per_s == pytest.approx(10 / 2.0)
    assert found.time_to_first_output_s == pytest.approx(1.5)
    assert found.drain_s == pytest.approx(2.0)
    assert found.table["in_events"].to_pylist() == [0, 0, 0]
    assert found.table["consumed_events"].to_pylist() == [0, 5, 5]
    assert found.p5_events_per_s == 0


def test_offsets_that_do_not_begin_at_zero_are_counted_from_their_first(connection) -> None:
    events = events_of([(0, 500 + i, 1_000 + i, None) for i in range(3)])
    found = throughput(connection, events, outputs_of([(1_200, 0, 0, 502, "w")]))
    assert found.table["consumed_events"].to_pylist() == [3]
    assert found.p5_events_per_s is None


def test_without_outputs_there_is_no_rate(connection) -> None:
    found = throughput(connection, events_of([(0, 0, 1_000, None)]), outputs_of([]))
    assert set(found.as_dict().values()) == {None}
