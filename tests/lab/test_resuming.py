"""A run that was interrupted is gone on with: what is stored is not repeated, and nothing else is left out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamgauge.lab import run as lab_run
from streamgauge.lab.expansion import expand
from streamgauge.lab.inputs import PreparedInputs
from streamgauge.lab.planning import plan_run
from streamgauge.lab.request import Plan, PlannedTrial, RunRequest
from streamgauge.lab.resuming import left_of, stored_plan
from streamgauge.lab.run import conduct_plan, resume_run
from streamgauge.lab.suite import QUICK
from streamgauge.lab.suite_file import get_suite
from streamgauge.model import StoreError, UserError
from streamgauge.store import RunStore, trial_record
from tests.lab.listening import Remembering

MACHINE = {"cpu": "one", "cores": 2, "java": "17", "disk_free_bytes": 5}


class NoLaboratory:
    """Stands in for Kafka and Spark; trials are stored as failed, which needs no figures."""

    def __init__(self) -> None:
        self.conducted: list[tuple[int, str]] = []
        self.names: list[str] = []
        self.stop_at = 0
        self.stop_by: BaseException = KeyboardInterrupt()
        self.alive = True
        self.prepared = PreparedInputs(lambda topics: None)

    @contextmanager
    def laboratory(self, name: str, *_: Any) -> Iterator[Any]:
        self.names.append(name)
        yield self

    def describe_log(self) -> dict[str, Any]:
        return {"kind": "embedded"}

    def trial(
        self,
        lab: Any,
        planned: PlannedTrial,
        number: int,
        listener: Any,
        writer: Any,
        keep: bool,
        drained_s: float | None = None,
    ) -> Any:
        if number == self.stop_at:
            writer.begin_trial()
            raise self.stop_by
        self.conducted.append((number, planned.trial.title))
        record = trial_record(planned.trial, "failed", error={"cause": "x", "exit_code": 5})
        writer.add_trial(record)
        return record


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> NoLaboratory:
    made = NoLaboratory()
    monkeypatch.setattr(lab_run, "Laboratory", made.laboratory)
    monkeypatch.setattr(lab_run, "conduct_trial", made.trial)
    monkeypatch.setattr(lab_run, "log_is_gone", lambda lab: not made.alive)
    monkeypatch.setattr(lab_run, "check_before", lambda plan: None)
    monkeypatch.setattr(lab_run, "describe_machine", lambda: dict(MACHINE))
    monkeypatch.setattr("streamgauge.lab.resuming.describe_machine", lambda: {**dict.fromkeys(KNOWN), **MACHINE})
    return made


KNOWN = (
    "architecture",
    "python",
    "pyspark",
    "kafka_broker",
    "kafka_client_of_spark",
    "spark_kafka_connector",
    "streamgauge",
)


def plan(out: Path, **change: Any) -> Plan:
    suite = get_suite("streambench-performance")
    made = Plan(tuple(expand(suite, QUICK)), out=out, command="streamgauge run", suite=suite.facts(QUICK))
    return replace(made, **change)


def interrupted(lab: NoLaboratory, out: Path, at: int = 5) -> str:
    lab.stop_at = at
    listener = Remembering()
    with pytest.raises(KeyboardInterrupt):
        conduct_plan(plan(out), listener)
    assert f"to go on: streamgauge run --resume {listener.run} --out {out}" in listener.notes
    lab.stop_at = 0
    return listener.run


def test_an_interrupted_suite_repeats_nothing(lab: NoLaboratory, tmp_path: Path) -> None:
    run = interrupted(lab, tmp_path)
    before = RunStore(tmp_path).open(run)
    assert (before.run["status"], len(before.trials)) == ("interrupted", 4)
    listener = Remembering()
    outcome = resume_run(Plan((), out=tmp_path), run, listener)
    assert [number for number, _ in lab.conducted] == list(range(1, 15))
    assert (outcome.run, len(outcome.records), outcome.exit_code) == (run, 14, 5)
    assert "4 of 14 trials are stored and will not be repeated" in listener.notes
    after = RunStore(tmp_path).open(run)
    assert (after.run["status"], len(after.trials), after.problems) == ("complete", 14, [])
    assert [r["trial"] for r in after.trials] == [e.trial.as_dict() for e in plan(tmp_path).trials]
    assert after.run["suite"]["scale"] == "quick"
    assert len(after.run["resumed_at"]) == 1
    assert lab.names == [run, f"{run}-2"], "topics of the first attempt may still be there"


def test_a_complete_run_has_nothing_left(lab: NoLaboratory, tmp_path: Path) -> None:
    outcome = conduct_plan(plan(tmp_path), Remembering())
    with pytest.raises(StoreError, match="is complete: nothing of it is left"):
        resume_run(Plan((), out=tmp_path), outcome.run, Remembering())


def test_a_run_can_be_interrupted_again_and_when_the_broker_dies(lab: NoLaboratory, tmp_path: Path) -> None:
    run = interrupted(lab, tmp_path, at=1)
    lab.stop_at = 3
    with pytest.raises(KeyboardInterrupt):
        resume_run(Plan((), out=tmp_path), run, Remembering())
    lab.stop_at, lab.alive = 0, False
    outcome = resume_run(Plan((), out=tmp_path), run, Remembering())
    assert len(outcome.records) == 3
    assert RunStore(tmp_path).open(run).run["status"] == "failed"
    lab.alive = True
    assert len(resume_run(Plan((), out=tmp_path), run, Remembering()).records) == 14


def test_a_plain_run_is_resumed_like_a_suite(lab: NoLaboratory, tmp_path: Path) -> None:
    request = RunRequest(("grep", "identity"), load="preloaded", events=10, out=tmp_path, sink="redis://u:secret@h:1/0")
    lab.stop_at = 2
    listener = Remembering()
    with pytest.raises(KeyboardInterrupt):
        conduct_plan(plan_run(request), listener)
    stored = RunStore(tmp_path).open(listener.run)
    assert "secret" not in (stored.folder / "run.json").read_text()
    left = left_of(Plan((), out=tmp_path), stored, "redis://u:secret@h:1/0")
    assert [each.trial.application for each in left.trials] == ["identity"]
    assert left.trials[0].trial.sink == "redis://u:secret@h:1/0"


def test_the_plan_comes_back_as_it_was_stored(lab: NoLaboratory, tmp_path: Path) -> None:
    made = plan(tmp_path, kafka="h:1", kafka_config=Path("client.properties"), keep=True)
    lab.stop_at = 1
    with pytest.raises(KeyboardInterrupt):
        conduct_plan(made, Remembering())
    found = left_of(Plan((), out=tmp_path), RunStore(tmp_path).open("latest")).plan
    assert found == replace(made, kafka_config=Path("client.properties").absolute())
    assert left_of(Plan((), kafka="other:2", out=tmp_path), RunStore(tmp_path).open("latest")).plan.kafka == "other:2"
    assert stored_plan(found)["trials"] == stored_plan(made)["trials"]


def test_another_machine_and_a_run_without_a_plan_are_refused(
    lab: NoLaboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = interrupted(lab, tmp_path)
    monkeypatch.setitem(MACHINE, "disk_free_bytes", 7)
    left_of(Plan((), out=tmp_path), RunStore(tmp_path).open(run))
    monkeypatch.setitem(MACHINE, "cores", 4)
    with pytest.raises(UserError, match=r"in other circumstances \(cores 2 → 4\)"):
        resume_run(Plan((), out=tmp_path), run, Remembering())
    assert RunStore(tmp_path).open(run).run["status"] == "interrupted"
    bare = RunStore(tmp_path).create(command="x", trials=0)
    bare.finish("interrupted")
    with pytest.raises(StoreError, match="was stored without a plan"):
        resume_run(Plan((), out=tmp_path), bare.id, Remembering())


def test_a_plan_of_another_version_is_refused(lab: NoLaboratory, tmp_path: Path) -> None:
    stored = RunStore(tmp_path).open(interrupted(lab, tmp_path))
    del stored.run["plan"]["trials"][0]["settling_s"]
    with pytest.raises(StoreError, match="does not say 'settling_s': another version"):
        left_of(Plan((), out=tmp_path), stored)


def test_a_disk_that_fills_stops_the_run_and_what_is_stored_stays(lab: NoLaboratory, tmp_path: Path) -> None:
    lab.stop_at, lab.stop_by = 3, StoreError("the disk is full")
    with pytest.raises(StoreError, match="the disk is full"):
        conduct_plan(plan(tmp_path), Remembering())
    stored = RunStore(tmp_path).open("latest")
    assert (stored.run["status"], len(stored.trials)) == ("failed", 2)
    lab.stop_at = 0
    assert len(resume_run(Plan((), out=tmp_path), stored.id, Remembering()).records) == 14
    assert [number for number, _ in lab.conducted] == list(range(1, 15))
