"""A trial and a job as values that can be stored, and errors as one line with a way out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from streamgauge.model import EngineError, LogError, StoreError, StreamgaugeError, Trial, UserError, unknown
from streamgauge.model.errors import EXIT_ENGINE, EXIT_USER
from streamgauge.model.job import InputTopic, Job
from streamgauge.model.trial import differences, without_password


def test_a_trial_comes_back_from_json() -> None:
    trial = Trial("grep", "spark-realtime", "constant:500/s", 1, 1000, 100, parameters={"pattern": "a"})
    assert Trial.from_dict(json.loads(json.dumps(trial.as_dict()))) == trial


def test_a_title_names_the_repeat_only_from_the_second_on() -> None:
    first = Trial("grep", "spark-realtime", "preloaded", 1, 1000, 0)
    assert first.title == "grep · spark-realtime · preloaded"
    assert Trial("grep", "spark-realtime", "preloaded", 1, 1000, 0, repeat=2).title.endswith(" · repeat 2")


def test_a_job_file_comes_back(tmp_path: Path) -> None:
    job = Job(
        application="grep",
        engine="spark-realtime",
        inputs={"lines": InputTopic("in"), "clicks": InputTopic("more", first_partition=4)},
        outputs={"match": "out"},
        between={},
        bootstrap="127.0.0.1:9092",
        checkpoint=str(tmp_path),
        status_path=str(tmp_path / "status"),
        parameters={"pattern": "ä\n"},
        stop_after="match",
    )
    job.write(tmp_path / "job.json")
    assert Job.read(tmp_path / "job.json") == job


@pytest.mark.parametrize(
    ("kind", "code"),
    [(UserError, EXIT_USER), (StoreError, EXIT_USER), (LogError, EXIT_ENGINE), (EngineError, EXIT_ENGINE)],
)
def test_an_error_is_its_cause_and_the_way_out(kind: type[StreamgaugeError], code: int) -> None:
    error = kind("the port is taken", "Choose another")
    assert str(error) == "the port is taken. Choose another"
    assert str(kind("the port is taken")) == "the port is taken"
    assert (error.cause, error.way_out, error.exit_code) == ("the port is taken", "Choose another", code)


def test_an_unknown_name_is_met_with_what_is_known() -> None:
    assert str(unknown("engine", "spark-realtme", ["spark-realtime", "flink"])) == (
        "unknown engine 'spark-realtme'. Did you mean 'spark-realtime'? Known: flink, spark-realtime"
    )
    assert str(unknown("engine", "zzz", [])) == "unknown engine 'zzz'. Known: none"


def test_a_password_is_neither_stored_nor_shown() -> None:
    trial = Trial("a", "e", "preloaded", 1, 10, 0, sink="redis://me:secret@host:6379/0")
    assert trial.as_dict()["sink"] == "redis://host:6379/0"
    assert without_password("redis://host:6379") == "redis://host:6379"


def test_trials_are_told_apart_by_what_differs_alone() -> None:
    first = Trial("grep", "spark-microbatch", "preloaded", seed=1, events=1_000, warmup_events=0)
    assert differences([first, replace(first, repeat=2), replace(first, engine="spark-realtime")]) == ["", "", ""]
    others = [
        first,
        replace(first, partitions=4, settings={"trigger": "1s"}),
        replace(first, stop_after="split", seed=2),
    ]
    assert differences(others) == [
        "2 partitions, seed 1",
        "4 partitions, trigger=1s, seed 1",
        "up to split, 2 partitions, seed 2",
    ]
    assert differences([first, replace(first, events=5_000)]) == ["1,000 events", "5,000 events"]
    paced = replace(first, load="constant:5/s")
    assert differences([paced, replace(paced, events=5_000)]) == ["", ""]
