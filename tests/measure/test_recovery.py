"""Recovery figures from small trials whose answer is worked out by hand."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.measure.recovery import (
    Disturbance,
    Recovery,
    measure_recovery,
    recovery_class,
    recovery_figures,
    with_reprocessed,
)
from streamgauge.measure.throughput import measure_tenths
from streamgauge.model.fault import InjectedFault
from tests.measure.small_trial import events_of, outputs_of

START = 1_000_000
FAULT = START + 10_000


def injected(at_ms: int | None = FAULT, **changes: Any) -> InjectedFault:
    values: dict[str, Any] = {"number": 1, "pid": 7, "lasting": "transient", "planned_at_ms": at_ms, "at_ms": at_ms}
    return InjectedFault(
        **{"fault": "kill driver", "verb": "kill", "target": "driver", "effect": "gone", **values, **changes}
    )


def tenths(gap_s: float = 4.0, rate: int = 10, seconds: int = 20, catch_up: int = 3) -> pa.Table:
    """`rate` events are answered in every tenth; from 10.0 s on none are, and then `catch_up` times as many."""
    arrived = np.zeros(400, np.int64)
    arrived[: seconds * 10] = rate
    consumed = np.zeros(400, np.int64)
    waiting = 0
    for slot in range(400):
        waiting += int(arrived[slot])
        if not 100 <= slot < 100 + round(gap_s * 10):
            behind = slot >= 100 and waiting > rate
            consumed[slot] = min(waiting, rate * (catch_up if behind else 1))
            waiting -= int(consumed[slot])
    used = int(np.flatnonzero(consumed)[-1]) + 1
    at = START + np.arange(used) * 100
    silent = consumed[:used] == 0
    return pa.table(
        {
            "at_ms": at,
            "in_events": arrived[:used],
            "consumed_events": consumed[:used],
            "out_records": consumed[:used],
            "first_out_ms": pa.array(at + 20, mask=silent),
            "last_out_ms": pa.array(at + 80, mask=silent),
        }
    )


def latency(by_second: dict[int, int], count: int = 100) -> pa.Table:
    rows = [{"kind": "event", "second": s, "latency_ms": v, "count": count} for s, v in by_second.items()]
    other = {"kind": "output", "second": 0, "latency_ms": 9_999, "count": 10**6}
    return pa.Table.from_pylist([*rows, other])


STEADY = {second: 20 + second % 3 for second in range(20)}


def one(flow: pa.Table, counts: pa.Table, notices: list[int] | None = None) -> Recovery:
    (found,) = measure_recovery(flow, counts, Disturbance.of([injected()]), notices or [], START)
    return found


def test_the_longest_wait_is_that_of_the_fault_even_where_other_tasks_go_on_answering() -> None:
    before = [{"kind": "event", "second": 3, "latency_ms": 9_000, "count": 1}]
    waited = [{"kind": "event", "second": 10, "latency_ms": 2_500, "count": 3}]
    found = one(tenths(gap_s=0), pa.concat_tables([latency(STEADY), pa.Table.from_pylist([*before, *waited])]))
    assert found.longest_wait_s == 2.5
    assert found.output_gap_s == pytest.approx(0.04)


def test_where_no_event_came_after_the_fault_none_has_waited() -> None:
    found = one(tenths(), latency(dict.fromkeys(range(10), 20)))
    assert found.longest_wait_s is None


def test_the_output_gap_is_exact_to_the_millisecond() -> None:
    found = one(tenths(), latency(STEADY))
    assert found.gap_end_ms == START + 14_020
    assert found.output_gap_s == pytest.approx((14_020 - 9_980) / 1000)
    assert found.usual_gap_s == pytest.approx(0.04)


def test_the_backlog_is_drained_at_the_rate_of_the_catch_up() -> None:
    found = one(tenths(), latency(STEADY))
    # 400 events wait after 4 s; 30 are taken and 10 come in every tenth, so 20 tenths later all is as before.
    assert found.backlog_peak == 400
    assert found.drained_s == pytest.approx(6.0, abs=0.1)
    assert found.catch_up_per_s == 300


def test_a_fault_that_nobody_felt_costs_nothing() -> None:
    found = one(tenths(gap_s=0), latency(STEADY))
    assert (found.drained_s, found.latency_back_s, found.detect_s) == (0.0, 0.0, None)
    assert found.output_gap_s == pytest.approx(0.04)


def test_latency_is_back_with_three_seconds_in_a_row_within_the_band() -> None:
    seconds = {**STEADY, 10: 4000, 11: 3000, 12: 22, 13: 900, 14: 22, 15: 23}
    found = one(tenths(), latency(seconds))
    # Medians before are 20, 21, 22 in turn: median 21, MAD 1, so the band ends at 21 + 3 · 1.4826.
    assert found.band_ms == pytest.approx(21 + 3 * 1.4826)
    assert found.latency_back_s == 4.0
    assert found.peak_p50_ms == 4000


def test_a_constant_latency_has_a_band_of_a_tenth() -> None:
    assert one(tenths(), latency(dict.fromkeys(range(20), 500))).band_ms == 550
    assert one(tenths(), latency(dict.fromkeys(range(20), 4))).band_ms == 5


def test_seconds_whose_events_were_never_answered_are_not_back() -> None:
    found = one(tenths(), latency({s: v for s, v in STEADY.items() if s < 10}))
    assert found.latency_back_s is None


def test_a_second_that_was_answered_after_the_fault_is_no_reference() -> None:
    waiting = {**dict.fromkeys(range(8), 500), 8: 2500, 9: 4500, **dict.fromkeys(range(10, 20), 500)}
    assert one(tenths(), latency(waiting)).band_ms == 550
    few = dict.fromkeys(range(6, 20), 500)
    assert one(tenths(), latency(few)).band_ms is None


def test_p99_needs_a_hundred_samples_in_a_second() -> None:
    assert one(tenths(), latency(STEADY)).p99_back_s == 0.0
    assert one(tenths(), latency(STEADY, count=99)).p99_back_s is None


def test_a_preloaded_job_is_drained_when_all_is_consumed() -> None:
    arrived, consumed = np.zeros(200, np.int64), np.zeros(200, np.int64)
    arrived[0] = 1_500
    consumed[50:100], consumed[140:190] = 10, 20
    at = START + np.arange(190) * 100
    silent = consumed[:190] == 0
    flow = pa.table(
        {
            "at_ms": at,
            "in_events": arrived[:190],
            "consumed_events": consumed[:190],
            "out_records": consumed[:190],
            "first_out_ms": pa.array(at + 20, mask=silent),
            "last_out_ms": pa.array(at + 80, mask=silent),
        }
    )
    found = one(flow, latency({0: 9_000}))
    assert found.output_gap_s == pytest.approx((14_020 - 9_980) / 1000)
    assert (found.drained_s, found.catch_up_per_s) == (pytest.approx(9.0), 200)
    assert (found.band_ms, found.latency_back_s) == (None, None)


def test_detection_is_the_first_word_after_the_fault() -> None:
    found = one(tenths(), latency(STEADY), [FAULT - 5, FAULT + 900, FAULT + 400])
    assert found.detect_s == 0.4


def test_a_job_that_stays_down_has_no_end_of_its_gap() -> None:
    flow = tenths()
    down = flow.slice(0, 100)
    rest = pa.table(
        {n: ([*range(START + 10_000, START + 20_000, 100)] if n == "at_ms" else [0] * 100) for n in flow.column_names}
    )
    rest = rest.set_column(1, "in_events", pa.array([10] * 100))
    for name in ("first_out_ms", "last_out_ms"):
        rest = rest.set_column(rest.column_names.index(name), name, pa.nulls(100, pa.int64()))
    whole = pa.concat_tables([down, rest.cast(flow.schema)])
    found = one(whole, latency({s: v for s, v in STEADY.items() if s < 10}))
    assert (found.output_gap_s, found.latency_back_s, found.catch_up_per_s) == (None, None, None)


def test_faults_of_one_instant_are_one_disturbance_and_going_on_is_none() -> None:
    both = [injected(at_ms=FAULT + 3, planned_at_ms=FAULT, until_ms=FAULT + 900), injected(until_ms=FAULT + 500)]
    on = injected(FAULT + 800, verb="continue", effect="running")
    missed = injected(None, planned_at_ms=FAULT + 900, effect=None)
    assert Disturbance.of([*both, on, missed]) == [Disturbance("kill driver", "driver", FAULT, FAULT + 900)]


def test_each_disturbance_is_measured_up_to_the_next() -> None:
    later = FAULT + 2_000
    found = measure_recovery(
        tenths(), latency(STEADY), Disturbance.of([injected(), injected(later)]), [later + 100], START
    )
    assert [each.detect_s for each in found] == [None, 0.1]
    assert [each.drained_s for each in found] == [None, pytest.approx(4.0, abs=0.1)]
    assert (
        recovery_figures(
            found, {"lost": 0, "expected": 5, "wrong": 0, "unexpected": 0, "duplicated": 0, "out_of_order": 0}
        )["drained_s"]
        is None
    )


def test_tenths_hold_the_first_and_last_output_of_each(connection: duckdb.DuckDBPyConnection) -> None:
    events = events_of([(0, 0, START, START), (0, 1, START + 40, START), (0, 2, START + 250, START)])
    outputs = outputs_of(
        [
            (START - 10, START, 0, 0, "a"),
            (START + 110, START, 0, 1, "b"),
            (START + 190, START, 0, 1, "b"),
            (START + 305, START, 0, 2, "c"),
        ]
    )
    found = measure_tenths(connection, [events], [outputs], START).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        (START, 2, 0, 0, None, None),
        (START + 100, 0, 1, 2, START + 110, START + 190),
        (START + 200, 1, 0, 0, None, None),
        (START + 300, 0, 1, 1, START + 305, START + 305),
    ]


def test_events_that_come_again_behind_the_gap_were_reprocessed(connection: duckdb.DuckDBPyConnection) -> None:
    outputs = outputs_of(
        [
            (START, 0, 0, 5, "a"),
            (START + 1, 0, 1, 8, "a"),
            (START + 90, 0, 0, 3, "a"),
            (START + 91, 0, 0, 6, "a"),
            (START + 92, 0, 1, 9, "a"),
        ]
    )
    recovery = recovered(gap_end_ms=START + 90)
    (found,) = with_reprocessed(connection, [outputs], [recovery])
    assert found.events_reprocessed == 3
    assert with_reprocessed(connection, [outputs], [recovered(gap_end_ms=None)])[0].events_reprocessed is None


def test_events_whose_outputs_came_twice_were_reprocessed_wherever_the_longest_silence_was(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    outputs = outputs_of(
        [
            (START, 0, 0, 5, "a"),
            (START + 1, 0, 0, 6, "a"),
            (START + 2, 0, 0, 6, "b"),
            (START + 50, 0, 0, 5, "a"),
            (START + 51, 0, 0, 6, "a"),
            (START + 52, 0, 0, 6, "b"),
            (START + 90, 0, 0, 7, "a"),
            (START + 95, 0, 0, 7, "a"),
        ]
    )
    first = recovered(at_ms=START + 40, gap_end_ms=START + 90)
    second = recovered(at_ms=START + 93, gap_end_ms=None)
    found = with_reprocessed(connection, [outputs], [first, second])
    assert [each.events_reprocessed for each in found] == [2, 1]


def recovered(**changes: Any) -> Recovery:
    base = one(tenths(), latency(STEADY))
    return Recovery(**{**base.as_dict(), **changes})


def verdict(**changes: int) -> dict[str, int]:
    return {"expected": 200, "lost": 0, "wrong": 0, "unexpected": 0, "duplicated": 0, "out_of_order": 0, **changes}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, "precise"),
        ({"duplicated": 3}, "rollback"),
        ({"wrong": 1}, "rollback"),
        ({"lost": 1, "duplicated": 3}, "gap"),
    ],
)
def test_the_class_of_a_recovery_follows_from_the_verdict(changes: dict[str, int], named: str) -> None:
    assert recovery_class(verdict(**changes)) == named


def test_a_trial_is_told_by_the_worst_of_its_faults() -> None:
    found = recovery_figures(
        [recovered(output_gap_s=2.0, events_reprocessed=5), recovered(output_gap_s=3.5, events_reprocessed=7)],
        verdict(lost=4),
    )
    assert (found["output_gap_s"], found["events_reprocessed"], found["lost_share"]) == (3.5, 12, 0.02)
    assert found["class"] == "gap" and found["detect_s"] is None


@given(st.integers(0, 40), st.integers(2, 6), st.integers(1, 50))
def test_a_longer_stop_takes_longer_to_drain_and_never_drains_before_it_ends(
    gap: int, catch_up: int, rate: int
) -> None:
    found = one(tenths(gap / 10, rate, catch_up=catch_up), latency(STEADY))
    assert found.backlog_peak == max(0, gap * rate)
    assert found.drained_s is not None and found.drained_s >= (gap / 10 if gap else 0)
    assert (found.catch_up_per_s is None) == (gap == 0)
    assert found.catch_up_per_s is None or rate * 10 <= found.catch_up_per_s <= rate * 10 * catch_up
