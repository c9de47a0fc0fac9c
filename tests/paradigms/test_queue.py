"""The queue as it is seen live: dense and sparse outputs, silent partitions, idle inputs, a stalled query."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.paradigms.queue import SKEW_S, OriginSeen, QueueEstimator

START_S = 1_700_000_000.0


def origin(at_s: float, offset: int, partition: int = 0) -> OriginSeen:
    return OriginSeen(round((START_S + at_s) * 1000), partition, offset)


def test_by_hand() -> None:
    queue = QueueEstimator()
    queue.look(START_S, {0: 0})
    seen = queue.look(START_S + 1, {0: 1000}, [origin(0.8, 799)])
    assert (seen.length, seen.answered, seen.arrived) == (200, 800, 1000)
    assert seen.age_s == pytest.approx(0.2)
    assert seen.newest_output_age_s == pytest.approx(0.2)
    seen = queue.look(START_S + 2, {0: 3000})
    # Nothing more came out: the oldest of them has waited since 0.8 s.
    assert seen.length == 2200
    assert seen.age_s == pytest.approx(1.2)


def test_an_older_origin_moves_nothing_back() -> None:
    queue = QueueEstimator({0: 0})
    queue.look(START_S, {0: 100}, [origin(0, 79)])
    assert queue.look(START_S + 1, {0: 100}, [origin(-1, 10)]).length == 20


def test_what_was_there_before_the_start_does_not_wait() -> None:
    assert QueueEstimator().look(START_S, {0: 5000}).length == 0
    assert QueueEstimator({0: 4000}).look(START_S, {0: 5000}).length == 1000


def test_an_idle_input_has_no_queue() -> None:
    queue = QueueEstimator({0: 0})
    queue.look(START_S, {0: 100}, [origin(0, 99)])
    seen = queue.look(START_S + 50, {0: 100})
    assert (seen.length, seen.age_s) == (0, 0)


def grep(every: int, rate: int, seconds: int, stalled_from_s: float = np.inf) -> list[float]:
    """Lengths that are seen of a filter that lets one of `every` records pass at random, without any delay."""
    rng = np.random.default_rng(7)
    hits = np.flatnonzero(rng.random(rate * seconds) < 1 / every)
    queue, found = QueueEstimator({0: 0}), []
    for tick in range(1, seconds * 10):
        at_s = tick / 10
        arrived = int(at_s * rate)
        done = int(min(at_s, stalled_from_s) * rate)
        passed = int(np.searchsorted(hits, done))
        tail = [origin(hits[passed - 1] / rate, int(hits[passed - 1]))] if passed else []
        found.append(queue.look(START_S + at_s, {0: arrived}, tail, outputs=passed).length)
    return found


@pytest.mark.parametrize("every", [1, 10, 1000])
def test_a_filter_without_a_queue_shows_none_to_speak_of(every: int) -> None:
    # L_switch is a matter of ten thousands; a filter may hide, or show, a few times its own distance.
    assert max(grep(every, 2000, 60)) < 8 * every + 1


@pytest.mark.parametrize("every", [1, 10, 1000])
def test_a_stalled_filter_shows_its_queue(every: int) -> None:
    found = grep(every, 20_000, 20, stalled_from_s=10)
    assert found[98] < 8 * every + 1
    # One second after the stall 20,000 records wait.
    assert found[109] == pytest.approx(20_000, abs=8 * every + 2000)


def test_a_filter_that_lets_nothing_pass_says_nothing() -> None:
    queue = QueueEstimator({0: 0})
    for second in range(1, 100):
        assert queue.look(START_S + second, {0: second * 1000}, (), outputs=0).length == 0


def test_what_is_expected_to_pass_says_something_before_it_did() -> None:
    queue = QueueEstimator({0: 0}, magnification=1.0)
    assert queue.look(START_S + 1, {0: 1000}, (), outputs=0).length == 1000


def test_what_the_engine_says_of_its_position_is_believed() -> None:
    queue = QueueEstimator({0: 0})
    assert queue.look(START_S, {0: 1000}, (), outputs=0, consumed={0: 400}).length == 600


def test_a_partition_without_outputs_is_taken_to_be_near_the_others() -> None:
    queue = QueueEstimator({0: 0, 1: 0})
    for tick in range(1, 100):
        at_s = tick / 10
        count = int(1000 * at_s)
        seen = queue.look(START_S + at_s, {0: count, 1: count}, [origin(at_s, count - 1)])
    assert seen.length <= 1000 * (SKEW_S + 0.2)
    assert seen.age_s <= SKEW_S + 0.2


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 4000)), min_size=1, max_size=60))
def test_a_dense_output_gives_the_queue_exactly(ticks: list[tuple[int, int]]) -> None:
    queue, arrived, done = QueueEstimator({0: 0}, magnification=1.0), 0, 0
    queue.look(START_S, {0: 0}, outputs=0)
    for number, (came, worked) in enumerate(ticks, 1):
        arrived += came
        done = min(arrived, done + worked)
        tail = [origin(number, done - 1)] if done else []
        seen = queue.look(START_S + number, {0: arrived}, tail, outputs=done)
        assert seen.length == arrived - done
        assert (seen.age_s > 0) == (arrived > done)


def test_what_lies_in_the_input_before_the_first_look_waits_if_the_engine_says_where_it_begins() -> None:
    told, untold = QueueEstimator(), QueueEstimator()
    assert told.look(10.0, {0: 1_000, 1: 500}, consumed={0: 100, 1: 0}).length == 1_400
    assert untold.look(10.0, {0: 1_000, 1: 500}).length == 0


def steady(rate: int, seconds: float, sights_to_s: float = np.inf) -> list[float]:
    """Lengths seen each 100 ms of a data stream that answers at once with 3 outputs a record, seen twice a second."""
    queue, found = QueueEstimator({0: 0, 1: 0}), []
    for tick in range(1, round(seconds * 10) + 1):
        at_s, count = tick / 10, rate * tick // 20
        sight = tick % 5 == 0 and at_s <= sights_to_s
        tail = [origin(at_s, count - 1, partition) for partition in (0, 1)] if sight else []
        found.append(queue.look(START_S + at_s, {0: count, 1: count}, tail, outputs=6 * count).length)
    return found


def test_between_two_sights_outputs_say_that_nothing_waits() -> None:
    # Without counting them up to half a second of records would seem to wait.
    assert max(steady(20_000, 10)[20:]) <= 1


def test_a_tail_that_is_late_on_a_busy_machine_shows_no_queue() -> None:
    assert max(steady(20_000, 10, sights_to_s=7)[20:]) <= 1


def test_a_stall_is_seen_although_outputs_are_counted() -> None:
    queue = QueueEstimator({0: 0}, magnification=2.0)
    for tick in range(1, 21):
        queue.look(START_S + tick / 10, {0: 100 * tick}, [origin(tick / 10, 100 * tick - 1)], outputs=200 * tick)
    assert queue.look(START_S + 3, {0: 3000}, outputs=4000).length == 1000


def test_a_partition_that_is_not_in_this_sight_is_counted_with_the_others() -> None:
    queue = QueueEstimator({0: 0, 1: 0}, magnification=1.0)
    for tick in range(1, 21):
        both = [origin(tick / 10, 100 * tick - 1, p) for p in (0, 1)]
        queue.look(START_S + tick / 10, {0: 100 * tick, 1: 100 * tick}, both, outputs=200 * tick)
    seen = queue.look(START_S + 2.5, {0: 2500, 1: 2500}, [origin(2.5, 2499, 0)], outputs=4950)
    assert seen.length == 50, "2500 of one, 2450 of the other by the number of outputs"


def test_outputs_that_come_again_after_a_replay_are_not_counted_as_progress() -> None:
    queue = QueueEstimator({0: 0}, magnification=1.0)
    queue.look(START_S, {0: 1000}, [origin(0, 999)], outputs=1000)
    queue.look(START_S + 0.5, {0: 2000}, outputs=1000, flowing=False)
    # The new query does the 500 records before again: the newest origin has been there already.
    queue.look(START_S + 1, {0: 2000}, [origin(-0.2, 700)], outputs=1200)
    assert queue.look(START_S + 1.1, {0: 2000}, outputs=1400).length == 1000


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2000), st.integers(0, 2000), st.booleans(), st.booleans()), min_size=1, max_size=60
    )
)
def test_the_queue_stays_within_what_is_certain(ticks: list[tuple[int, int, bool, bool]]) -> None:
    queue, arrived, done, told = QueueEstimator({0: 0, 1: 0}, magnification=1.0), [0, 0], [0, 0], 0
    for number, (came, worked, *shown) in enumerate(ticks, 1):
        for partition in (0, 1):
            arrived[partition] += came
            done[partition] = min(arrived[partition], done[partition] + worked)
        tail = [origin(number / 1000, done[p] - 1, p) for p in (0, 1) if shown[p] and done[p]]
        told = max(told, sum(origin.offset + 1 for origin in tail))
        seen = queue.look(START_S + number / 10, dict(enumerate(arrived)), tail, outputs=sum(done))
        assert 0 <= seen.length <= sum(arrived) - told
        if all(shown) and len(tail) == 2:
            assert seen.answered == sum(done)
