"""What stands for a job that is brought back: the same checkpoint, a new status file, all that both said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamgauge.engines.supervisor import NoSlotsError
from streamgauge.lab.checkpoint_folder import CheckpointFolder
from streamgauge.lab.job_process import JobHandle
from streamgauge.lab.supervised_job import NO_SLOTS, SupervisedJob
from streamgauge.model import EngineError
from streamgauge.model.errors import LogError
from streamgauge.model.job import InputTopic, Job
from streamgauge.provision.guard import Guard


class FakeProcess:
    """A job process that says in the status file of each job what it is told to say."""

    def __init__(self, *said: list[dict[str, Any]]) -> None:
        self.running = True
        self.jobs: list[Job] = []
        self.said = list(said)
        self.stops = 0
        self.free = 48.0

    def slots(self) -> float:
        return self.free

    def alive(self) -> bool:
        return self.running

    def run(self, job: Job) -> JobHandle:
        self.jobs.append(job)
        lines = self.said.pop(0)
        with Path(job.status_path).open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        handle = JobHandle(job)
        handle.hear()
        return handle

    def stop_job(self) -> None:
        self.stops += 1

    def last_words(self) -> str:
        return "java.lang.OutOfMemoryError"


class FakeCluster:
    def __init__(self) -> None:
        self.first: dict[str, dict[int, int]] = {"in": {0: 0}}

    def start_offsets(self, topic: str) -> dict[int, int]:
        if topic not in self.first:
            raise LogError("no Kafka answers")
        return self.first[topic]


STARTED = {"what": "started", "starting_ms": 5, "reads": {"count": ["in"]}}
COMMITTED = {"what": "committed", "at_ms": 1, "offsets": {"count": {"in": {"0": 40}}}}
FAILED = {"what": "failed", "cause": "query 'count' ended", "way_out": "", "exit_code": 5}


def progress(number: int) -> dict[str, Any]:
    return {"what": "progress", "progress": {"batchId": number}}


Make = Callable[..., tuple[SupervisedJob, FakeProcess]]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    job = Job(
        application="wordcount",
        engine="spark-microbatch",
        inputs={"searches": InputTopic("in")},
        outputs={"count": "out"},
        between={},
        bootstrap="b:1",
        checkpoint=str(tmp_path / "checkpoint"),
        status_path=str(tmp_path / "status-measured.jsonl"),
    )

    def made(
        *said: list[dict[str, Any]], other: FakeProcess | None = None, checkpoint: Path | None = None
    ) -> tuple[SupervisedJob, FakeProcess]:
        process = FakeProcess(*said)
        Path(job.status_path).unlink(missing_ok=True)
        handle = process.run(replace(job, checkpoint=str(checkpoint or job.checkpoint)))
        cluster: Any = FakeCluster()
        found = SupervisedJob(process, handle, cluster, lambda: other, True, 6)  # type: ignore[arg-type,return-value]
        return found, process

    return made


def test_a_query_that_ended_is_started_again_in_its_process_from_its_checkpoint(make: Make) -> None:
    job, process = make([STARTED, progress(1), FAILED], [STARTED, COMMITTED, progress(2)])
    assert not job.alive() and job.cause() == "query 'count' ended"
    job.restart()
    first, second = process.jobs
    assert first.checkpoint == second.checkpoint and first.status_path != second.status_path
    assert job.alive()
    assert [each["batchId"] for each in job.progress] == [1, 2]
    assert [attempt.job for attempt in job.attempts] == process.jobs
    assert job.consumed(lambda topic: {0: 40}) and not job.consumed(lambda topic: {0: 41})


def decided(words: str) -> dict[str, Any]:
    return {"what": "decision", "decision": {"words": words}}


def test_a_process_that_died_is_followed_by_another(make: Make) -> None:
    other = FakeProcess([STARTED, decided("back")])
    job, process = make([STARTED, decided("there")], other=other)
    assert [each["words"] for each in job.decisions] == ["there"]
    process.running = False
    assert job.cause() == "the job process died: java.lang.OutOfMemoryError"
    job.restart()
    assert len(other.jobs) == 1 and job.alive()
    assert [each["words"] for each in job.decisions] == ["there", "back"], "what was told stays in its place"


def test_a_checkpoint_elsewhere_is_there_for_the_next_process_and_goes_with_the_trial(
    make: Make, tmp_path: Path, guard: Guard
) -> None:
    location = tmp_path / "fast"
    location.mkdir()
    checkpoints = CheckpointFolder(str(location), tmp_path, "run-001", guard)
    mine = Path(checkpoints.of("measured"))
    mine.mkdir()
    other = FakeProcess([STARTED])
    job, process = make([STARTED, COMMITTED], other=other, checkpoint=mine)
    process.running = False
    assert job.lacking() == []
    job.restart()
    assert Path(other.jobs[0].checkpoint) == mine and mine.is_dir()
    checkpoints.remove()
    assert list(location.iterdir()) == []


def test_too_few_slots_are_told_apart_from_a_failure(make: Make) -> None:
    refused = {**FAILED, "cause": f"[{NO_SLOTS}] the cluster has 2 slots"}
    job, _ = make([STARTED, FAILED], [refused], [FAILED])
    with pytest.raises(NoSlotsError):
        job.restart()
    with pytest.raises(EngineError) as raised:
        job.restart()
    assert not isinstance(raised.value, NoSlotsError)


def test_what_an_attempt_without_slots_said_is_not_heard_again(make: Make) -> None:
    refused = {**FAILED, "cause": f"[{NO_SLOTS}] the cluster has 2 slots"}
    job, _ = make([STARTED, FAILED], [refused], [STARTED])
    with pytest.raises(NoSlotsError):
        job.restart()
    job.restart()
    assert job.alive()


def test_a_query_is_restarted_when_its_process_has_enough_slots(make: Make) -> None:
    job, process = make([STARTED, FAILED], [STARTED])
    process.free = 5
    assert not job.slots_free()
    with pytest.raises(NoSlotsError, match="needs 6 task slots and there are 5"):
        job.restart()
    assert len(process.jobs) == 1, "the job is given when there are slots"
    process.free = 6
    assert job.slots_free()
    job.restart()
    assert job.alive()


def test_a_new_process_gets_the_job_when_its_executors_are_there(make: Make) -> None:
    other = FakeProcess([STARTED])
    other.free = 0
    job, process = make([STARTED], other=other)
    process.running = False
    assert job.slots_free(), "of a process that died nobody can tell"
    with pytest.raises(NoSlotsError):
        job.restart()
    assert not job.alive() and not job.slots_free() and other.jobs == []
    job.stop_job()
    assert job.stopped and other.stops == 0, "it has no job that could be stopped"
    other.free = 32
    job.restart()
    assert job.alive() and len(other.jobs) == 1


def test_what_recovery_needs_is_looked_up_in_the_log(make: Make) -> None:
    job, _ = make([STARTED, COMMITTED])
    assert job.lacking() == []
    job._cluster.first = {"in": {0: 41}}  # type: ignore[attr-defined]
    assert job.lacking() == ["query 'count' needs offset 40 of 'in', partition 0, and the log begins at 41"]
    job._cluster.first = {}  # type: ignore[attr-defined]
    assert job.lacking() == []


def test_a_dead_job_is_nothing_to_stop(make: Make) -> None:
    job, process = make([STARTED, FAILED])
    job.stop_job()
    assert process.stops == 0 and job.stopped
    job, process = make([STARTED])
    job.stop_job()
    assert process.stops == 1 and not job.stopped
