"""Estimators: they find what is there, through batches, pauses, switches and noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.paradigms.equations import SegmentFigures
from streamgauge.paradigms.smoothing import ArrivalRate, BatchSeen, BatchTimes, DataSpeed, MedianTime

KNOWN = SegmentFigures(20_000, 100_000, 0.3, 0.1, 0.008)


def test_a_producers_batches_are_no_burst() -> None:
    rate = ArrivalRate()
    # 200 records every 200 ms, looked at every 100 ms: nothing and 200 in turns.
    for tick in range(200):
        rate.look(tick / 10, 200 * (tick // 2), 5000)
    assert rate.baseline_per_s == pytest.approx(1000, rel=0.1)
    assert rate.hot_s == 0
    assert rate.calm_s == pytest.approx(19.9)


def test_a_burst_is_timed_and_leaves_the_baseline_alone() -> None:
    rate, arrived = ArrivalRate(), 0
    for tick in range(100):
        arrived += 8000 if 50 <= tick < 70 else 50
        rate.look(tick / 10, arrived, 40_000)
        if tick == 69:
            assert rate.hot_s == pytest.approx(2.0)
            assert rate.burst_per_s == pytest.approx(80_000)
            assert rate.baseline_per_s == pytest.approx(500)
    assert rate.hot_s == 0
    assert rate.fast_per_s == pytest.approx(500)


def test_a_stretch_too_short_to_measure_by_refutes_a_speed_that_was_known_much_too_low() -> None:
    slow, fast = DataSpeed(20_000, measured=True), DataSpeed(100_000, measured=True)
    for speed in (slow, fast):
        for tick in range(7):
            speed.look(tick / 10, tick * 8000, waiting=1 < tick < 6)
    assert slow.per_s == pytest.approx(60_000), "three quarters of the 80,000/s that were seen for 0.4 s"
    assert fast.per_s == 100_000
    barely = DataSpeed(20_000, measured=True)
    for tick in range(5):
        barely.look(tick / 10, tick * 8000, waiting=1 < tick < 4)
    assert barely.per_s == 20_000, "two looks are too few"


def test_a_clock_that_stands_still_is_ignored() -> None:
    rate = ArrivalRate()
    rate.look(1.0, 0, 10)
    rate.look(1.0, 500, 10)
    assert rate.fast_per_s == 0


def test_a_speed_is_taken_only_while_records_wait() -> None:
    speed = DataSpeed(20_000)
    for tick in range(50):
        speed.look(tick / 10, tick * 50, waiting=False)
    assert not speed.measured
    for tick in range(50, 150):
        speed.look(tick / 10, 2500 + (tick - 50) * 4000, waiting=True)
    assert speed.measured
    assert speed.per_s == pytest.approx(40_000, rel=0.03)


def test_progress_that_shows_late_and_at_once_makes_no_speed() -> None:
    # After a start outputs are recognised only at the first sight, half a second later.
    for measured in (False, True):
        speed, done = DataSpeed(20_000, measured), [0.0] * 6 + [4000.0 * tick for tick in range(6, 30)]
        for tick, answered in enumerate(done):
            speed.look(tick / 10, answered, waiting=True)
        assert speed.per_s <= 40_001
        assert speed.measured


@pytest.mark.parametrize("measured", [False, True])
def test_where_progress_only_shows_now_and_then_all_of_the_time_counts(measured: bool) -> None:
    speed = DataSpeed(20_000, measured)
    for tick in range(400):
        speed.look(tick / 10, 20_000.0 * (tick // 5), waiting=True)
    assert speed.per_s == pytest.approx(40_000, rel=0.05)


def test_the_pause_at_a_checkpoint_is_no_part_of_the_speed_but_a_standstill_is() -> None:
    speed, done = DataSpeed(20_000), 0.0
    for tick in range(300):
        done += 0 if tick % 50 < 5 else 4000
        speed.look(tick / 10, done, waiting=True)
    assert speed.per_s == pytest.approx(40_000)
    for tick in range(300, 400):
        speed.look(tick / 10, done + (400_000 if tick == 399 else 0), waiting=True)
    assert speed.per_s < 40_000


def test_a_doubted_speed_is_replaced_by_the_next_window() -> None:
    speed = DataSpeed(1_000, measured=True)
    speed.doubted()
    for tick in range(7):
        speed.look(tick / 10, tick * 5000, waiting=True)
    assert speed.measured
    assert speed.per_s == pytest.approx(50_000)


def test_a_switch_breaks_the_window() -> None:
    speed = DataSpeed(40_000, measured=True)
    speed.look(0.0, 0, True)
    speed.interrupted()
    speed.look(10.0, 40, True)
    assert speed.per_s == 40_000


@settings(max_examples=50, deadline=None)
@given(st.floats(20_000, 500_000), st.floats(0.05, 1.0), st.floats(0.01, 0.3), st.integers(0, 2**32 - 1))
def test_batches_of_different_sizes_tell_speed_and_fixed_time(
    per_s: float, schedule_s: float, transfer_s: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    times = BatchTimes(KNOWN)
    for records in rng.integers(100, int(per_s), 40):
        exact = schedule_s + transfer_s + records / per_s
        times.look(BatchSeen(int(records), exact * rng.uniform(0.98, 1.02), schedule_s))
    found = times.fitted(KNOWN)
    assert found.operation_per_s == pytest.approx(per_s, rel=0.25)
    assert found.fixed_s == pytest.approx(schedule_s + transfer_s, rel=0.25)
    assert found.schedule_s <= found.fixed_s + 1e-12


def test_batches_of_one_size_use_what_spark_says_of_its_schedule() -> None:
    times = BatchTimes(KNOWN)
    for _ in range(10):
        times.look(BatchSeen(40_000, 0.3 + 0.1 + 1.0, 0.3))
    found = times.fitted(KNOWN)
    assert found.operation_per_s == pytest.approx(40_000)
    assert found.schedule_s == pytest.approx(0.3)


@pytest.mark.parametrize("schedule_s", [0.2, None])
def test_batches_of_one_size_refute_a_speed_that_was_known_too_low(schedule_s: float | None) -> None:
    starved = SegmentFigures(10, 20, 0.2, 0.0, 0.008)
    times = BatchTimes(starved)
    for _ in range(10):
        times.look(BatchSeen(1000, 0.21, schedule_s))
    found = times.fitted(starved)
    assert found.operation_per_s >= 0.999 * 1000 / 0.21
    assert 0 <= found.fixed_s + 1000 / found.operation_per_s <= 0.22


def test_too_few_or_empty_batches_change_nothing() -> None:
    times = BatchTimes(KNOWN)
    for _ in range(9):
        times.look(BatchSeen(0, 0.2))
    times.look(BatchSeen(100, 0.2))
    assert times.fitted(KNOWN) == KNOWN


def test_one_slow_output_does_not_move_a_median() -> None:
    typical = MedianTime(0.5)
    assert typical.seconds == 0.5
    for seconds in (0.005, 0.006, 9.0):
        typical.look(seconds)
    assert typical.seconds == 0.006


def test_small_batches_at_a_low_rate_do_not_make_a_speed_of_their_noise() -> None:
    rng = np.random.default_rng(3)
    times = BatchTimes(KNOWN)
    for _ in range(30):
        times.look(BatchSeen(int(rng.integers(50, 110)), 0.15 * rng.uniform(0.8, 1.3), 0.05))
    found = times.fitted(KNOWN)
    assert found.operation_per_s == KNOWN.operation_per_s
    assert found.fixed_s == pytest.approx(0.157, rel=0.1)


def test_a_jvm_that_warms_up_is_known_by_its_last_batches() -> None:
    rng = np.random.default_rng(4)
    times = BatchTimes(KNOWN)
    for number in range(40):
        cold = 1 + 4 * max(0.0, 1 - number / 12)
        records = int(rng.integers(40_000, 160_000))
        times.look(BatchSeen(records, cold * (0.15 + records / 400_000), 0.05))
    found = times.fitted(KNOWN)
    assert found.operation_per_s == pytest.approx(400_000, rel=0.15)
    assert found.fixed_s == pytest.approx(0.15, rel=0.25)


def test_what_was_carried_is_not_undone_by_the_first_window() -> None:
    # 200,000/s had been carried for seconds when a long end of a batch made 123,000 of it, and a needless switch.
    speed = DataSpeed(20_000)
    speed.at_least(200_000)
    for number in range(8):
        speed.look(number / 10, 12_300 * number, waiting=True)
    assert speed.measured and speed.per_s == 200_000
    speed.doubted()
    for number in range(8, 20):
        speed.look(number / 10, 12_300 * number, waiting=True)
    assert speed.per_s == pytest.approx(123_000)
