"""Bursts: catching up, inflated seconds and waiting batches, on literal tables."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.measure.bursts import catching_up, inflation, scheduling_delay


def per_second(arrived: list[int], consumed: list[int]) -> pa.Table:
    return pa.table({"in_events": arrived, "consumed_events": consumed})


def medians(values: list[int]) -> pa.Table:
    """Counts with one sample per second."""
    rows = len(values)
    return pa.table({"kind": ["event"] * rows, "second": list(range(rows)), "latency_ms": values, "count": [1] * rows})


def test_a_burst_is_caught_up_when_the_queue_is_what_it_stays_at() -> None:
    # 1,000 events lie in the log; 100 arrive in each of nine seconds; the queue: 900, 600, 300, 100, 100, …
    arrived = [100] * 9 + [0]
    consumed = [200, 400, 400, 300, 100, 100, 100, 100, 100, 100]
    assert catching_up(per_second(arrived, consumed)) == {
        "waiting_events": 1000,
        "catch_up_s": 4.0,
        "burst_events_per_s": 1300 / 4,
        "peak_events_per_s": 400.0,
    }


def test_a_burst_that_is_worked_off_only_after_the_load_is_not_caught_up() -> None:
    found = catching_up(per_second([100, 100, 100, 0], [10, 10, 10, 1270]))
    assert found["waiting_events"] == 1000
    assert (found["catch_up_s"], found["burst_events_per_s"], found["peak_events_per_s"]) == (None, None, 1270)
    assert catching_up(per_second([], []))["catch_up_s"] is None


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=30))
def test_what_was_consumed_until_caught_up_is_never_more_than_there_was(rows: list[tuple[int, int]]) -> None:
    arrived, consumed = ([row[n] for row in rows] for n in (0, 1))
    found = catching_up(per_second(arrived, consumed))
    if found["catch_up_s"] is not None and found["burst_events_per_s"] is not None:
        assert found["burst_events_per_s"] * found["catch_up_s"] <= sum(consumed) + 1e-6
        assert 1 <= found["catch_up_s"] <= len(rows)


def test_latency_is_inflated_until_a_second_is_back_within_twice_the_base() -> None:
    # Base 10 ms over seconds 0–4. Burst at 5: 100, 50, 21, then 20 ms. Burst at 10: never back before it ends.
    values = [10, 12, 10, 8, 10, 100, 50, 21, 20, 10, 90, 90, 90, 90, 90]
    assert inflation(medians(values), [5.0, 10.0], 5.0) == {
        "bursts": 2,
        "base_p50_ms": 10.0,
        "peak_p50_ms": 95.0,
        "inflated_mean_s": 4.0,
        "inflated_max_s": 5.0,
    }


def test_a_burst_that_nothing_shows_inflates_no_second() -> None:
    found = inflation(medians([0, 0, 2, 1, 0, 0]), [2.0], 4.0)
    assert (found["inflated_max_s"], found["base_p50_ms"]) == (0.0, 0.0)
    assert inflation(medians([5, 5]), [], 5.0) == {}
    assert inflation(medians([5, 5]), [0.0], 5.0) == {}


def batch(at: str, took_ms: int) -> dict:
    return {"timestamp": f"2025-01-01T00:00:{at}Z", "durationMs": {"triggerExecution": took_ms}}


def test_a_batch_waits_while_the_one_before_runs_beyond_its_instant() -> None:
    # Due every two seconds. Begun at 10.000 for 1.5 s: nothing waits. At 12.100 for 2.4 s: the next waits 0.5 s.
    progress = [batch("08.000", 9_000), batch("10.000", 1_500), batch("12.100", 2_400)]
    start_ms = 1_735_689_610_000
    assert scheduling_delay(progress, 2.0, start_ms) == pytest.approx(
        {"batches": 2, "delay_mean_ms": 250.0, "delay_max_ms": 500.0, "batch_mean_ms": 1_950.0}
    )
    assert scheduling_delay(progress, 0.0, start_ms) == {}
    assert scheduling_delay(progress, 2.0, start_ms + 60_000) == {}
