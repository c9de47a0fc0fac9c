"""`run` of suites and of what is left of a run, and `list suites`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from streamgauge.lab import run as lab_run
from streamgauge.lab.request import Listener, Plan, PlannedTrial, RunOutcome
from streamgauge.lab.resuming import stored_plan
from streamgauge.model import Trial
from streamgauge.store import RunStore, trial_record
from tests.cli.conftest import Said
from tests.report.sample_run import record, store_sample, tables

Say = Callable[..., Said]

SUITE = """
title = "Mine"
papers = ["SB4"]
[[matrix]]
name = "drain"
applications = ["grep", "identity"]
loads = ["preloaded"]
events = { laptop = ["10k", "20k"], paper = ["1M", "2M"], quick = "1k" }
places = ["local", "cluster:2"]
thresholds = ["lost==0"]
"""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    (tmp_path / "mine.toml").write_text(SUITE)
    return "mine.toml"


@pytest.fixture
def conducted(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Plans that reached the laboratory."""
    heard: list[Plan] = []

    def conduct(plan: Plan, listener: Listener) -> RunOutcome:
        heard.append(plan)
        listener.planned("a-run", [each.trial for each in plan.trials])
        made = record("grep", "spark-microbatch")
        listener.finished(2, plan.trials[1].trial, made)
        folder = store_sample(plan.out, [(made, tables("spark-microbatch", 1))])
        return RunOutcome(folder.name, folder, (made,), 0)

    monkeypatch.setattr(lab_run, "conduct_plan", conduct)
    return heard


def test_a_suite_is_conducted_as_a_plan(say: Say, suite: str, conducted: list[Plan]) -> None:
    said = say("run", suite, "--quick", "--threshold", "p50<1s", "--kafka", "h:1", "--keep", "--out", "kept")
    assert said.code == 0, said.err
    (plan,) = conducted
    assert (len(plan.trials), plan.kafka, plan.keep, plan.out) == (4, "h:1", True, Path("kept"))
    assert plan.trials[0].thresholds == ("lost==0", "p50<1s")
    assert plan.suite is not None
    assert (plan.suite["name"], plan.suite["scale"], plan.suite["papers"]) == ("mine", "quick", ["SB4"])
    assert plan.command.startswith("streamgauge run mine.toml --quick")
    assert "run a-run: 4 trials" in said.err
    assert "2/4 identity · spark-microbatch · preloaded · local: " in said.err
    assert said.out.splitlines()[-1].endswith("report.html")


def test_a_dry_run_shows_the_trials_their_gaps_and_the_time(
    say: Say, suite: str, conducted: list[Plan], tmp_path: Path
) -> None:
    gap = '[[matrix]]\napplications = ["wordcount"]\nengines = ["spark-continuous"]\nloads = ["preloaded"]\n'
    (tmp_path / suite).write_text(SUITE + gap + 'events = { laptop = "10k", paper = "1M" }\n')
    said = say("run", suite, "--dry-run")
    assert (said.code, conducted) == (0, [])
    assert "9 trials would be run, in about " in said.out
    assert "10,000 events, cluster:2" in said.out
    assert "gap (never): stage 'count' uses aggregate" in said.out
    shown = json.loads(say("run", suite, "--dry-run", "--json", "--scale", "0.5").out)
    assert sorted({t["events"] for t in shown["trials"]}) == [500_000, 1_000_000]
    assert shown["expected_s"] > sum(t["expected_s"] for t in shown["trials"]) > 0
    assert {(t["gap"] or {}).get("kind") for t in shown["trials"]} == {None, "never"}


MISTAKES: dict[str, tuple[list[str], str]] = {
    "unknown suite": (["streambench-performanc"], "unknown suite 'streambench-performanc'. Did you mean"),
    "beside an application": (["mine.toml", "grep"], "the suite 'mine.toml' is named beside others"),
    "own load": (["mine.toml", "--load", "preloaded"], "--load does not go with a suite"),
    "own setting": (["mine.toml", "-s", "trigger=1s"], "--set does not go with a suite"),
    "quick paper": (["mine.toml", "--quick", "--scale", "paper"], "--quick and --scale paper contradict"),
    "no scale": (["mine.toml", "--scale", "big"], "'big' is not a scale"),
    "scale of an application": (["grep", "--scale", "paper"], "--scale is for suites"),
    "quick application": (["grep", "--quick"], "--quick is for suites"),
    "seeds of an application": (["grep", "--seeds", "3"], "--seeds is for suites"),
    "no seeds": (["mine.toml", "--seeds", "0"], "--seeds must be at least 1"),
    "no such engine": (["mine.toml", "-e", "spark-realtime"], "the suite 'mine' has no trial on spark-realtime"),
    "no such figure": (["mine.toml", "--threshold", "p98<1s"], "unknown figure in a threshold 'p98'"),
    "nothing to keep": (["mine.toml", "--keep"], "--keep needs --kafka"),
    "no configuration": (["mine.toml", "--kafka-config", "none"], "cannot read the Kafka configuration"),
    "no file": (["none.toml"], "there is no file none.toml"),
    "nothing to resume": (["--resume", "latest"], "there is no run in runs"),
    "resume and more": (["grep", "--resume", "latest"], "APPLICATION does not go with --resume"),
    "resume and an option": (["--resume", "latest", "--repeat", "3"], "--repeat does not go with --resume"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line(say: Say, suite: str, mistake: str) -> None:
    arguments, line = MISTAKES[mistake]
    said = say("run", *arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said.err
    assert line in said.err


def test_partitions_of_the_logs_configuration_hold_where_the_suite_says_none(say: Say, suite: str) -> None:
    Path("client.properties").write_text("partitions=5\n")
    shown = json.loads(say("run", suite, "--dry-run", "--json", "--kafka-config", "client.properties").out)
    assert {trial["partitions"] for trial in shown["trials"]} == {5}


def test_what_is_left_of_a_run_is_shown(say: Say) -> None:
    trials = [Trial("grep", "spark-microbatch", "preloaded", seed=1, events=n, warmup_events=0) for n in (10, 20)]
    plan = Plan(tuple(PlannedTrial(trial) for trial in trials))
    writer = RunStore("runs").create(command="x", trials=2, plan=stored_plan(plan))
    writer.add_trial(trial_record(trials[0], "failed", error="x"))
    writer.finish("interrupted")
    shown = json.loads(say("run", "--resume", "latest", "--dry-run", "--json").out)
    assert [t["events"] for t in shown["trials"]] == [20]


def test_a_list_of_suites_has_titles_rows_trials_and_times(say: Say) -> None:
    rows = {row["name"]: row for row in json.loads(say("list", "suites", "--json").out)["suites"]}
    assert rows["streambench-performance"]["papers"] == ["SB1", "SB4", "SB8"]
    for name, row in rows.items():
        assert 0 < row["scales"]["quick"]["expected_s"] < (600 if name == "dual-paradigm" else 180)
        assert row["scales"]["laptop"]["trials"] > row["scales"]["laptop"]["gaps"]
    said = say("list", "suites")
    assert said.code == 0
    lines = [line for line in said.out.splitlines() if line.strip()]
    assert len(lines) == len(rows) + 3, "a line for each suite, a heading, a rule and a note"
    (line,) = [line for line in lines if "streambench-performance" in line]
    assert re.search(r"StreamBench: performance +SB1 SB4 SB8 +56 +1[0-9] min [0-9]+ s +14 +1 min [0-9]+ s", line), line
