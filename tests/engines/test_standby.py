"""A standby runs until a process is warm, is in nobody's way, and leaves nothing, whatever it found."""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from streamgauge.engines.spark import standby
from streamgauge.engines.spark.live_segment import LiveSegment, Standby
from streamgauge.engines.spark.standby import ENOUGH_BATCHES, PASS_BATCHES, Standbys, Warmth
from streamgauge.paradigms.paradigm import Paradigm
from tests.engines.fake_spark import FakeProgress, FakeQuery, commit_batch, segment


class Topics:
    """A log with an input, in which a topic cannot be made twice."""

    def __init__(self, *names: str) -> None:
        self.names = {"in", *names}
        self.made: list[str] = []

    def topics(self) -> set[str]:
        return set(self.names)

    def create_topic(self, name: str, partitions: int) -> None:
        assert name not in self.names
        self.made.append(name)
        self.names.add(name)

    def delete_topics(self, names: list[str]) -> None:
        self.names -= set(names)

    def end_offsets(self, topic: str) -> dict[int, int]:
        return {0: 1000}


class Copies:
    """Starts copies of a segment that have done all batches of a pass."""

    def __init__(self) -> None:
        self.found: list[list[Path]] = []
        self.started: list[FakeQuery] = []
        self.on_start = lambda: None

    def __call__(self, _: LiveSegment, where: Standby) -> Any:
        assert where.topic == "out-standby" and where.records == standby.LARGE_RECORDS
        self.found.append(sorted(Path(where.checkpoint).glob("*/*")))
        for number in range(PASS_BATCHES):
            commit_batch(Path(where.checkpoint), number)
        query = FakeQuery(Paradigm.OPERATION_STREAM, None, [])
        query.told = [FakeProgress(batchId=number, durationMs={"addBatch": 100}) for number in range(PASS_BATCHES)]
        self.started.append(query)
        self.on_start()
        return query


@pytest.fixture(autouse=True)
def a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standby, "_warmth", defaultdict(Warmth))


def run_through(standbys: Standbys) -> None:
    standbys.begin()
    standbys._thread.join(20)
    assert not standbys._thread.is_alive()


@pytest.mark.parametrize("left", [False, True])
def test_a_segment_is_warmed_up_whatever_a_killed_driver_left(tmp_path: Path, left: bool) -> None:
    one = segment(tmp_path, [])
    checkpoint = Path(f"{one.checkpoint}-standby")
    log: Any = Topics(*(["out-standby"] if left else []))
    if left:
        commit_batch(checkpoint, 7)
    start = Copies()
    run_through(Standbys(log, [one], ("wordcount",), start))
    assert start.found == [[]] * len(start.started), "each begins without a checkpoint"
    assert len(start.started) == ENOUGH_BATCHES // PASS_BATCHES
    assert one.warm[Paradigm.OPERATION_STREAM]
    assert log.made == ([] if left else ["out-standby"]), "what one pass still has to send is not lost with its topic"
    assert log.names == {"in"} and not checkpoint.exists()
    again = Copies()
    one.warm[Paradigm.OPERATION_STREAM] = False
    run_through(Standbys(log, [one], ("wordcount",), again))
    assert again.started == [] and one.warm[Paradigm.OPERATION_STREAM], "once in a process"


def test_it_is_in_no_switch_s_way_and_the_next_job_goes_on_with_it(tmp_path: Path) -> None:
    one, log = segment(tmp_path, []), Topics()
    start = Copies()

    def ordered() -> None:
        one.changing = True

    start.on_start = ordered
    run_through(Standbys(log, [one], ("wordcount",), start))  # type: ignore[arg-type]
    assert len(start.started) == 1 and log.names == {"in"}
    one.changing, one.paradigm = False, Paradigm.OPERATION_STREAM
    run_through(Standbys(log, [one], ("wordcount",), start))  # type: ignore[arg-type]
    assert len(start.started) == 1, "micro-batches are running already"
    one.paradigm = Paradigm.DATA_STREAM
    run_through(Standbys(log, [one], ("wordcount",), start))  # type: ignore[arg-type]
    assert len(start.started) == 2


def test_it_takes_no_longer_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standby, "LONGEST_S", 0.2)
    start = Copies()
    start.on_start = lambda: time.sleep(0.15)
    run_through(Standbys(Topics(), [segment(tmp_path, [])], ("wordcount",), start))  # type: ignore[arg-type]
    assert len(start.started) == 2


def test_it_waits_while_records_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standby, "ASK_S", 0.01)
    one, start = segment(tmp_path, []), Copies()

    def overloaded() -> None:
        if len(start.started) == 1:
            one.behind = True

    start.on_start = overloaded
    standbys = Standbys(Topics(), [one], ("wordcount",), start)  # type: ignore[arg-type]
    standbys.begin()
    standbys._thread.join(0.3)
    assert standbys._thread.is_alive() and len(start.started) == 1
    one.behind = False
    standbys._thread.join(20)
    assert len(start.started) == ENOUGH_BATCHES // PASS_BATCHES
