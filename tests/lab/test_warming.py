"""When a job that began cold counts as warm: by its latency under a paced load, by its passes over a full log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.lab import warming
from streamgauge.lab.planning import plan_trials
from streamgauge.lab.request import RunRequest
from streamgauge.lab.warming import (
    MOST_AGAIN_S,
    MOST_BROKEN_CLUSTER_S,
    MOST_BROKEN_S,
    RARE_S,
    SPAN_S,
    ColdLatency,
    ColdPasses,
    Warmth,
    answered_after_s,
    longest_s,
    shortest_s,
)
from streamgauge.log.cluster import Cluster
from streamgauge.log.tail import TailRecord
from streamgauge.model import Trial

MOST_S = 60.0


def settled_at(latency_ms: Callable[[float], float | None]) -> float:
    """When a job whose latency follows that course is taken to be warm, looked at every half second."""
    cold, elapsed_s = ColdLatency(MOST_S), 0.0
    while not cold.settled(elapsed_s):
        seen = latency_ms(elapsed_s)
        cold.look(elapsed_s, [] if seen is None else [seen] * 3)
        elapsed_s += 0.5
    return elapsed_s


def test_a_latency_that_stands_still_or_rises_is_settled_after_three_spans() -> None:
    assert settled_at(lambda at_s: 300.0) == 3 * SPAN_S
    assert settled_at(lambda at_s: 300.0 + 100 * at_s) == 3 * SPAN_S


def test_a_latency_that_falls_is_waited_for() -> None:
    # As word count in micro-batches fell on two cores, in spans of eight seconds: to a half, then by a tenth at a time.
    course = [5000, 1500, 870, 690, 645, 630, 630]
    assert settled_at(lambda at_s: course[min(int(at_s // SPAN_S), 6)]) == 7 * SPAN_S


def test_one_slow_span_is_no_sign_that_it_has_settled() -> None:
    course = [5000, 1500, 1600, 800, 790, 780]
    assert settled_at(lambda at_s: course[min(int(at_s // SPAN_S), 5)]) == 6 * SPAN_S


def test_it_is_waited_for_until_the_time_is_up() -> None:
    assert settled_at(lambda at_s: 100_000 * 0.5**at_s + 1) < MOST_S, "a few milliseconds are no fall"
    assert settled_at(lambda at_s: 1e12 * 0.9**at_s) == MOST_S
    assert not ColdLatency(8.0).settled(7.5) and ColdLatency(8.0).settled(8.0)


def test_a_job_that_answers_late_or_rarely_is_given_some_time() -> None:
    assert settled_at(lambda at_s: None) == RARE_S
    assert settled_at(lambda at_s: None if at_s < 12 else 500.0) == 3 * SPAN_S


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e6)), min_size=121, max_size=121))
def test_no_latency_keeps_a_trial_from_beginning(course: list[float | None]) -> None:
    assert 3 * SPAN_S <= settled_at(lambda at_s: course[int(at_s * 2)]) <= MOST_S


@pytest.mark.parametrize(
    ("took_s", "passes"),
    [
        # Identity over 200,000 events, as it was on two cores: two passes that are no faster are no chance.
        ([5.4, 1.85, 1.36, 1.18, 1.07, 1.29, 1.18, 1.14, 0.9], 6),
        ([2.0, 1.9, 1.95], 3),
        ([2.0, 1.95, 1.7, 1.75, 1.72], 5),
        ([60.0, 1.0], 1),
        ([39.0, 27.0, 5.0], 2),
    ],
)
def test_passes_go_on_until_two_are_hardly_faster_or_time_is_up(took_s: list[float], passes: int) -> None:
    cold, left = ColdPasses(MOST_S), iter(took_s)
    assert not cold.settled
    while not cold.settled:
        cold.look(next(left))
    assert len(cold.taken_s) == passes


def test_how_long_a_process_is_warmed_depends_on_what_it_has_run_and_what_will_happen() -> None:
    (full,) = plan_trials(RunRequest(applications=("grep",), load="preloaded", events=1000))
    (paced,) = plan_trials(RunRequest(applications=("grep",), load="constant:10/s", for_s=1))
    assert (longest_s(full, again=False), longest_s(full, again=True)) == (30.0, MOST_AGAIN_S)
    assert (longest_s(paced, again=False), longest_s(paced, again=True)) == (30.0, 30.0)
    broken = [replace(each, trial=replace(each.trial, faults=("kill driver at 1s",))) for each in (full, paced)]
    assert [longest_s(each, again=False) for each in broken] == [MOST_AGAIN_S, MOST_BROKEN_S]
    spread = replace(broken[1], trial=replace(broken[1].trial, place="cluster:3"))
    assert longest_s(spread, again=False) == MOST_BROKEN_CLUSTER_S
    assert [shortest_s(full, again) for again in (False, True)] == [15.0, 0.0] and shortest_s(broken[0], False) == 0
    (without,) = plan_trials(RunRequest(applications=("grep",), load="preloaded", events=1000, warmup_s=0))
    assert longest_s(without, again=False) == 0


def test_passes_of_a_new_process_go_on_for_a_while() -> None:
    cold = ColdPasses(MOST_S, least_s=9.0)
    for _ in range(4):
        cold.look(2.0)
        assert not cold.settled
    cold.look(2.0)
    assert cold.settled


def test_passes_that_end_with_a_batch_are_compared_by_their_last_answer() -> None:
    cold = ColdPasses(MOST_S)
    for answered_s in (4.0, 3.0, 2.0, 1.9):
        cold.look(5.1, answered_s)
        assert not cold.settled, "all take five seconds, and the job still gets faster"
    cold.look(5.1, 1.9)
    assert cold.settled


def after(*trials: Trial) -> Warmth:
    """What a process is warm for that has run these."""
    warmth = Warmth()
    for trial in trials:
        warmth.add(trial)
    return warmth


def planned(application: str, load: str, **size: float) -> Trial:
    """The one trial of that application under that load."""
    (found,) = plan_trials(RunRequest(applications=(application,), load=load, **size))
    return found.trial


def test_a_process_is_warm_for_an_application_and_in_a_cluster_for_its_input() -> None:
    here = planned("grep", "preloaded", events=1000)
    there = replace(here, place="cluster:2")
    assert after().is_cold_for(here)
    assert not after(here).is_cold_for(replace(here, partitions=4, seed=7))
    assert after(here).is_cold_for(replace(here, parameters={"pattern": "x"}))
    assert not after(there).is_cold_for(replace(there, repeat=2))
    for other in ({"partitions": 4}, {"seed": 7}, {"events": 2000}):
        assert after(there).is_cold_for(replace(there, **other)), "other executors read it"


def test_a_process_is_warm_for_a_paced_load_after_any_other_but_not_after_a_full_log() -> None:
    paced, other = planned("grep", "constant:10/s", for_s=1), planned("wordcount", "burst:10/s:1s:5/s", for_s=2)
    full = planned("grep", "preloaded", events=1000)
    assert not after(other).is_cold_for(paced) and not after(paced).is_cold_for(other)
    assert after(full).is_cold_for(paced) and after(paced).is_cold_for(full)


def test_a_process_is_cold_for_a_rate_that_is_far_above_all_that_it_has_run_at() -> None:
    low, middle, high = (planned("grep", f"constant:{rate}/s", for_s=1) for rate in (100, 1000, 10_000))
    assert after(low).is_cold_for(high) and not after(low).is_cold_for(middle)
    assert not after(low, middle).is_cold_for(high) and not after(high).is_cold_for(low)
    assert not after(high, low).is_cold_for(high)


class LateTail:
    """A topic's tail whose broker answers at the third look."""

    looks = 0

    def __init__(self, *_: object) -> None:
        pass

    def look(self, ends: dict[int, int]) -> list[TailRecord]:
        LateTail.looks += 1
        return [TailRecord(0, 6, 7_500, None), TailRecord(0, 5, 6_000, None)] if LateTail.looks == 3 else []

    def close(self) -> None:
        pass


def test_the_last_answer_is_waited_for_where_a_broker_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "Tail", LateTail)
    monkeypatch.setattr(warming, "EVERY_S", 0.001)
    monkeypatch.setattr(Cluster, "end_offsets", lambda cluster, topic: {0: 7} if topic == "words" else {0: 0, 1: 0})
    LateTail.looks = 0
    assert answered_after_s(Cluster("nowhere:1"), ["words"], 5_000) == 2.5
    assert answered_after_s(Cluster("nowhere:1"), ["empty"], 5_000) is None
    assert LateTail.looks == 3, "a topic without records is not asked"
