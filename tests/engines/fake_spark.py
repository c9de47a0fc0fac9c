"""Queries that are not there: they keep a checkpoint's folders as Spark does, and remember what was done to them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from streamgauge.engines.spark.live_segment import LiveSegment, ReadTopic
from streamgauge.paradigms.paradigm import Paradigm


class FakeProgress:
    """One progress as the JVM holds it."""

    def __init__(self, **told: Any) -> None:
        self._told = told

    def batchId(self) -> int:  # noqa: N802
        return int(self._told["batchId"])

    def json(self) -> str:
        return json.dumps(self._told)


class FakeQuery:
    """A started query."""

    def __init__(self, paradigm: Paradigm, bound: int | None, log: list[str]) -> None:
        self.paradigm, self.bound, self._log = paradigm, bound, log
        self.isActive, self.runId = True, "run"
        self.status = {"message": "Waiting for data to arrive"}
        self.told: list[FakeProgress] = []
        self.failed: Exception | None = None
        self._jsq = SimpleNamespace(
            lastProgress=lambda: self.told[-1] if self.told else None, recentProgress=lambda: list(self.told)
        )

    def stop(self) -> None:
        self._log.append(f"stop {self.paradigm.value}")
        self.isActive = False

    def exception(self) -> Exception | None:
        return self.failed


class FakeWriter:
    """A query that is ready to be started; one that is refused ends at once."""

    def __init__(self, paradigm: Paradigm, bound: int | None, log: list[str], refused: bool) -> None:
        self._made = (paradigm, bound, log)
        self._refused = refused
        self._once = False

    def trigger(self, once: bool) -> FakeWriter:
        """One batch alone."""
        assert once
        self._once = True
        return self

    def start(self) -> FakeQuery:
        paradigm, bound, log = self._made
        if self._once:
            log.append(f"one batch as {paradigm.value}")
            query = FakeQuery(paradigm, bound, log)
            query.isActive = False
            query.failed = RuntimeError("no such topic") if self._refused else None
            return query
        log.append(f"start {paradigm.value}{f' ≤ {bound}' if bound else ''}")
        if self._refused:
            raise RuntimeError("the operator is not in the allowlist")
        return FakeQuery(paradigm, bound, log)


class FakeSession:
    """A session whose queries always have a running task."""

    def __init__(self) -> None:
        stage = SimpleNamespace(numActiveTasks=1)
        tracker = SimpleNamespace(
            getJobIdsForGroup=lambda group: [1],
            getJobInfo=lambda job: SimpleNamespace(stageIds=[1]),
            getStageInfo=lambda number: stage,
        )
        self.jobs = 0
        scheduler = SimpleNamespace(numTotalJobs=lambda: self.jobs)
        jvm = SimpleNamespace(sc=lambda: SimpleNamespace(dagScheduler=lambda: scheduler))
        self.sparkContext = SimpleNamespace(statusTracker=lambda: tracker, _jsc=jvm)


class NoObserver:
    """Sees nothing."""

    def take(self, segment: LiveSegment) -> list[Any]:
        return segment.new_progress()


def segment(folder: Path, log: list[str], refused: Paradigm | None = None, name: str = "count") -> LiveSegment:
    def make(paradigm: Paradigm, bound: int | None, standby: Any = None) -> Any:
        log.append(f"prepare {paradigm.value}")
        return FakeWriter(paradigm, bound, log, paradigm is refused)

    return LiveSegment(name, name, make, str(folder / name), (ReadTopic("in"),), "out")


def plan_batch(folder: Path, number: int, **ends: int) -> None:
    """Write a batch's offsets as Spark plans them."""
    (folder / "offsets").mkdir(parents=True, exist_ok=True)
    topics = json.dumps({"in": {str(place): end for place, end in enumerate(ends.values())}})
    (folder / "offsets" / str(number)).write_text(f"v1\n{{}}\n{topics}\n")


def commit_batch(folder: Path, number: int) -> None:
    """Write that a batch is done."""
    (folder / "commits").mkdir(parents=True, exist_ok=True)
    (folder / "commits" / str(number)).write_text("v1\n{}\n")
