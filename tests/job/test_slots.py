"""A job process tells its task slots between jobs, and the conductor trusts none that it was told before a job."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamgauge.engines import get_engine
from streamgauge.engines.execution import RunningJob
from streamgauge.job import __main__ as job_main
from streamgauge.lab.job_process import JobProcess
from streamgauge.model.job import InputTopic, Job


class Running(RunningJob):
    """A job that ends by itself when it is told to."""

    starting_ms = 5
    problem: str | None = None

    def reads(self) -> dict[str, list[str]]:
        return {"count": ["in"]}

    def committed(self) -> dict[str, Any]:
        return {}

    def failure(self) -> str | None:
        return self.problem

    def stop(self) -> None:
        pass


class Session:
    """A session whose executors come and go."""

    def __init__(self) -> None:
        self.now: int | None = 32
        self.asked = 0
        self.running = Running()

    @property
    def facts(self) -> dict[str, Any]:
        return {"version": "1"}

    def slots(self) -> int | None:
        self.asked += 1
        if self.now == -1:
            raise RuntimeError("the context was stopped")
        return self.now

    def start(self, job: Job) -> Running:
        return self.running


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Session, job_main.JobProcess, JobProcess]]:
    """The session, the process that serves it, and the conductor's side of that."""
    session = Session()

    class Engine:
        def open(self, given: Any) -> Session:
            return session

    monkeypatch.setattr(job_main, "get_engine", lambda name: Engine())
    status = tmp_path / "session.jsonl"
    (tmp_path / "session.json").write_text(json.dumps({"engine": "x", "status_path": str(status)}))
    conductor = JobProcess(get_engine("spark-realtime"), "spark://here", {}, tmp_path)
    monkeypatch.setattr(conductor, "_say", lambda line: None)
    yield session, job_main.JobProcess(tmp_path / "session.json"), conductor


def job(folder: Path) -> Job:
    return Job(
        *("wordcount", "spark-realtime", {"searches": InputTopic("in")}, {"count": "out"}, {}, "b:1"),
        *(str(folder / "checkpoint"), str(folder / "status.jsonl")),
    )


def test_slots_are_told_when_they_change_and_not_while_a_job_runs(both: Any, tmp_path: Path) -> None:
    session, process, conductor = both
    assert conductor.slots() == 32
    session.now = 48
    process.look()
    process.look()
    assert conductor.slots() == 48
    assert len((tmp_path / "session.jsonl").read_text().splitlines()) == 2
    conductor.run(job(tmp_path))
    process.start(tmp_path / "job-1.json")
    asked = session.asked
    process.look()
    assert session.asked == asked and conductor.slots() == 0
    session.running.problem = "an executor was lost"
    session.now = 32
    process._next_progress_at = 0.0
    process.look()
    assert conductor.slots() == 0, "what was told before the job counts no more"
    process.look()
    assert conductor.slots() == 32


def test_slots_that_a_setting_hides_are_enough(both: Any) -> None:
    session, process, conductor = both
    session.now = None
    process.look()
    assert conductor.slots() > 10**9


def test_a_session_that_has_ended_ends_its_process(both: Any) -> None:
    session, process, _ = both
    session.now = -1
    with pytest.raises(SystemExit):
        process.look()
