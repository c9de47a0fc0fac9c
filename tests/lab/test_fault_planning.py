"""Faults in requests and suites: checked with the trial that they belong to, and scaled with it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamgauge.lab.expansion import expand, process_key
from streamgauge.lab.fault_planning import drained_s_of, laid_out
from streamgauge.lab.planning import plan, plan_trials, publishing_load
from streamgauge.lab.request import PlannedTrial, RunRequest
from streamgauge.lab.suite import LAPTOP, parse_scale
from streamgauge.lab.suite_file import read_suite
from streamgauge.model import EngineError, Trial, UserError
from streamgauge.model.trial import differences
from tests.report.sample_run import record

REQUEST = RunRequest(applications=("wordcount",), for_s=20, warmup_s=5, faults=("kill  driver at 10000ms",))


def test_a_trial_keeps_its_faults_in_their_one_spelling_and_comes_back_from_json() -> None:
    (planned,) = plan_trials(replace(REQUEST, failure_timeout_s=7, no_restart=True))
    assert planned.trial.faults == ("kill driver at 10s",)
    assert PlannedTrial.from_dict(json.loads(json.dumps(planned.as_dict()))) == planned
    assert Trial.from_dict({k: v for k, v in planned.trial.as_dict().items() if k != "faults"}).faults == ()


def test_faults_tell_trials_apart() -> None:
    broken = plan(REQUEST)[0]
    assert differences([broken, replace(broken, faults=())]) == ["kill driver at 10s", "no fault"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"faults": ("kill driver at 20s",)}, "20 s is not before the end of the trial, which is measured for 20 s"),
        ({"faults": ("kill worker at 3s",)}, "there is no worker of this run at local"),
        ({"faults": ("restart broker at 3s",), "kafka": "b:9092"}, "there is no broker of this run at local"),
        ({"faults": ("smash driver at 3s",)}, "unknown verb of a fault 'smash'"),
        ({"faults": ("kill broker at 3s",)}, "a log that stays away cannot be read back"),
        ({"faults": ("kill publisher at 3s",), "load": "preloaded", "for_s": None}, "has published everything before"),
        ({"faults": (), "no_restart": True}, "--no-restart needs --fault"),
        ({"failure_timeout_s": 0.0}, "--failure-timeout must be more than 0"),
    ],
)
def test_what_is_wrong_is_said_when_it_is_planned(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as raised:
        plan(replace(REQUEST, **changes))
    assert said in str(raised.value)


def test_half_counts_the_measured_time_alone() -> None:
    (planned,) = plan_trials(replace(REQUEST, faults=("kill driver at half",)))
    load = publishing_load(planned.trial.load, planned.warmup_s)
    (found,) = laid_out(planned.trial, load, planned.warmup_s, own_broker=True, drained_s=None)
    assert found.at_s == pytest.approx(10, abs=0.01)


def test_half_of_a_preloaded_trial_is_that_of_the_same_trial_unbroken_which_runs_first() -> None:
    request = replace(REQUEST, load="preloaded", for_s=None, events=9000, repeat=2, faults=("kill driver at half",))
    found = plan_trials(replace(request, thresholds=("lost==0",)))
    assert [(each.trial.repeat, len(each.trial.faults), len(each.thresholds)) for each in found] == [
        (1, 0, 0),
        (2, 0, 0),
        (1, 1, 1),
        (2, 1, 1),
    ]
    twin, trial = found[0].trial, found[2].trial
    stored = record("wordcount", "spark-microbatch", measured_events=9000)
    stored["trial"] = twin.as_dict()
    stored["throughput"]["events_per_s"] = 1500.0
    assert drained_s_of(trial, [None, stored]) == 6.0
    assert drained_s_of(trial, [stored, {**stored, "throughput": {"events_per_s": 4500.0}}]) == 4.0
    assert drained_s_of(trial, [{**stored, "valid": False}]) is None
    load = publishing_load(trial.load, 0)
    assert laid_out(trial, load, 0, own_broker=True, drained_s=6.0)[0].at_s == 3.0
    (to_the_millisecond,) = laid_out(trial, load, 0, own_broker=True, drained_s=3.738 + 1e-13)
    assert "at 1.869s" in to_the_millisecond.fault
    with pytest.raises(EngineError, match="half of the trial is not known"):
        laid_out(trial, load, 0, own_broker=True, drained_s=None)


def suite(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(f'title = "Mine"\n[[matrix]]\napplications = ["grep"]\n{text}\n')
    return path


def test_faults_are_an_axis_of_a_suite(tmp_path: Path) -> None:
    text = 'for = "20s"\nfaults = [[], "kill driver at 3s", ["suspend driver at 5s for 1s", "restart broker at 9s"]]\n'
    found = expand(read_suite(suite(tmp_path, text + 'failure-timeout = "9s"\nno-restart = true')), LAPTOP)
    assert [each.trial.faults for each in found] == [
        (),
        ("kill driver at 3s",),
        ("suspend driver at 5s for 1s", "restart broker at 9s"),
    ]
    assert [(each.trial.no_restart, each.trial.failure_timeout_s) for each in found] == [
        (False, None),
        *[(True, 9)] * 2,
    ]
    assert len({process_key(each) for each in found}) == 3


def test_times_of_faults_follow_the_scale(tmp_path: Path) -> None:
    text = 'for = "100s"\nfailure-timeout = "60s"\nfaults = ["suspend driver every 20s up to 2 after 10s for 4s"]'
    (found,) = expand(read_suite(suite(tmp_path, text)), parse_scale("10%", quick=False))
    assert found.trial.faults == ("suspend driver every 2s up to 2 after 1s for 400ms",)
    assert found.trial.failure_timeout_s == 6


def test_faults_of_a_cluster_are_checked_against_its_workers(tmp_path: Path) -> None:
    text = 'for = "20s"\nplaces = ["cluster:3"]\nfaults = ["{}"]'
    (found,) = expand(read_suite(suite(tmp_path, text.format("kill 2 workers at 3s"))), LAPTOP)
    assert found.gap is None and found.trial.faults == ("kill 2 workers at 3s",)
    with pytest.raises(
        UserError, match=r"mine.toml: matrix '1': fault 'kill 4 workers at 3s': cluster:3 has 3 workers"
    ):
        expand(read_suite(suite(tmp_path, text.format("kill 4 workers at 3s"))), LAPTOP)
    with pytest.raises(UserError, match="key 'faults': fault 'kill wroker at 3s': unknown target"):
        read_suite(suite(tmp_path, text.format("kill wroker at 3s")))


def test_a_given_log_leaves_a_suite_no_broker_to_break(tmp_path: Path) -> None:
    read = read_suite(suite(tmp_path, 'for = "20s"\nfaults = ["restart broker at 3s"]'))
    assert len(expand(read, LAPTOP)) == 1
    with pytest.raises(UserError, match="there is no broker of this run"):
        expand(read, LAPTOP, kafka="broker:9092")
