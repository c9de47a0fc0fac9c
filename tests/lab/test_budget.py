"""The time that trials are expected to take follows from the plan: cold or warm, paced or preloaded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamgauge.lab.budget import RUN_S, expected_run_s, expected_s
from streamgauge.lab.planning import plan_trials
from streamgauge.lab.request import RunRequest
from streamgauge.model import Gap

PACED = RunRequest(applications=("grep",), load="constant:500/s", for_s=15, warmup_s=10)
PRELOADED = RunRequest(applications=("grep",), load="preloaded", events=200_000)


def test_a_warm_trial_takes_its_schedule_and_a_little_and_a_cold_one_more() -> None:
    cold, warm = expected_s(plan_trials(replace(PACED, repeat=2)))
    assert warm == pytest.approx(25 + 4.5, abs=0.5)
    assert cold == pytest.approx(warm + 6 + 30)
    cold, warm = expected_s(plan_trials(replace(PACED, engines=("spark-realtime",), repeat=2)))
    assert cold == pytest.approx(warm + 6 + 30)
    thorough, warm = expected_s(plan_trials(replace(PACED, engines=("spark-realtime",), repeat=2, settling_s=60)))
    assert thorough == pytest.approx(warm + 6 + 32), "records that take their own way settle sooner"
    without = expected_s(plan_trials(replace(PACED, warmup_s=0)))[0]
    assert without == pytest.approx(15 + 4.5 + 6, abs=0.5)


def test_a_real_time_trial_waits_for_the_end_of_its_batch() -> None:
    request = replace(PACED, engines=("spark-realtime",), repeat=2)
    short = replace(request, settings={"batch-duration": "2s"})
    assert expected_s(plan_trials(request))[1] - expected_s(plan_trials(short))[1] == pytest.approx(4)


def test_a_preloaded_trial_is_drained_several_times_by_a_process_that_has_not_seen_it() -> None:
    first, second = expected_s(plan_trials(replace(PRELOADED, repeat=2)))
    assert first - second == pytest.approx(6 + 15)
    other, *_ = expected_s(plan_trials(replace(PRELOADED, applications=("grep", "sample"))))[1:]
    assert other - second == pytest.approx(5 * 2)
    first, second = expected_s(plan_trials(replace(PRELOADED, events=20_000_000, repeat=2)))
    assert first - second == pytest.approx(6 + 101), "one long pass is enough"


def test_it_grows_with_the_work() -> None:
    small, large = (expected_run_s(plan_trials(replace(PRELOADED, events=n))) for n in (10**7, 10**9))
    assert 80 < large / small < 100


def test_a_gap_takes_no_time() -> None:
    (planned,) = plan_trials(PACED)
    gap = replace(planned, gap=Gap("not-yet", "no place"))
    assert expected_s([gap, planned])[0] == 0
    assert expected_run_s([gap]) == 0
    assert expected_run_s([gap, planned]) == expected_s([planned])[0] + RUN_S


def test_a_cluster_takes_its_time_and_again_when_it_was_broken() -> None:
    there, warm = expected_s(plan_trials(replace(PACED, place="cluster:2", repeat=2)))
    here, _ = expected_s(plan_trials(replace(PACED, repeat=2)))
    assert there - here == pytest.approx(5 + 4)
    assert warm == pytest.approx(there - 5 - 4 - 6 - 30)
    for fault, again in (("kill worker at 5s", 5), ("kill driver at 5s", 0)):
        first, second = expected_s(plan_trials(replace(PACED, place="cluster:2", repeat=2, faults=(fault,))))
        assert first - second == pytest.approx(5 - again), fault
