"""What is seen of running segments: ends and tails in one numbering, batches, and where a later segment stands."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from streamgauge.engines.spark.live_segment import LiveSegment, ReadTopic
from streamgauge.engines.spark.observing import Observer, Passage, batch_seen
from streamgauge.log.tail import TailRecord
from streamgauge.paradigms.paradigm import Paradigm
from tests.engines.fake_spark import FakeProgress, FakeQuery, commit_batch, plan_batch


class FakeLog:
    """A log whose ends are set by the test."""

    def __init__(self, **ends: dict[int, int]) -> None:
        self.ends = {name.replace("_", "-"): each for name, each in ends.items()}

    def partitions(self, topic: str) -> list[int]:
        return sorted(self.ends[topic])

    def ends_of(self, partitions: dict[str, list[int]], timeout_s: float) -> dict[str, dict[int, int]]:
        return {topic: dict(self.ends[topic]) for topic in partitions}


class FakeTail:
    def __init__(self, log: Any, topic: str) -> None:
        self.records: list[TailRecord] = []

    def look(self, ends: dict[int, int]) -> list[TailRecord]:
        found, self.records = self.records, []
        return found

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _no_consumer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamgauge.engines.spark.observing.Tail", FakeTail)


def live(folder: Path, name: str, reads: tuple[ReadTopic, ...], output: str) -> LiveSegment:
    made = LiveSegment(name, name, lambda *_: None, str(folder / name), reads, output)  # type: ignore[arg-type, return-value]
    made.begin(FakeQuery(Paradigm.DATA_STREAM, None, []), Paradigm.DATA_STREAM)  # type: ignore[arg-type]
    return made


def record(origin_ms: int, offset: int, append_ms: int, partition: int = 0) -> TailRecord:
    return TailRecord(partition, offset, append_ms, (origin_ms, 0, offset, 0))


def test_partitions_of_several_inputs_are_numbered_on(tmp_path: Path) -> None:
    log: Any = FakeLog(a={0: 10, 1: 20}, b={0: 5}, out={0: 33})
    one = live(tmp_path, "join", (ReadTopic("a"), ReadTopic("b", 2)), "out")
    observer = Observer(log, [one], 10.0)
    observer._tails["out"].records = [record(1000, 9, 1008)]  # type: ignore[attr-defined]
    seen = observer.observe().segments["join"]
    assert seen.ends == {0: 10, 1: 20, 2: 5}
    assert seen.outputs == 33
    assert [(each.partition, each.offset, each.latency_s) for each in seen.tail] == [(0, 9, 0.008)]
    assert seen.since_boundary_s >= 0 and seen.since_boundary_s + seen.to_boundary_s == pytest.approx(10)


def test_a_segment_is_behind_as_long_as_its_newest_outputs_had_waited(tmp_path: Path) -> None:
    log: Any = FakeLog(a={0: 10}, out={0: 33})
    one = live(tmp_path, "count", (ReadTopic("a"),), "out")
    observer = Observer(log, [one], 10.0)
    seen = []
    for latencies_ms in ((8, 9), (900, 800), (), (9, 8)):
        observer._tails["out"].records = [record(1000, 9, 1000 + each) for each in latencies_ms]  # type: ignore[attr-defined]
        observer.observe()
        seen.append(one.behind)
    assert seen == [False, True, True, False], "where nothing new is seen nothing has changed"
    one.behind, one.paradigm = True, Paradigm.OPERATION_STREAM
    observer.observe()
    assert not one.behind


def test_a_micro_batch_tells_its_time_and_what_it_consumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log: Any = FakeLog(a={0: 100}, out={0: 0})
    one = live(tmp_path, "count", (ReadTopic("a"),), "out")
    one.paradigm = Paradigm.OPERATION_STREAM
    query: Any = one.handle
    query.told = [
        FakeProgress(
            batchId=0,
            numInputRows=70,
            durationMs={"triggerExecution": 500, "addBatch": 300},
            sources=[{"endOffset": {"a": {"0": 70}}}],
        )
    ]
    commit_batch(tmp_path / "count", 0)
    plan_batch(tmp_path / "count", 0, a=70)
    plan_batch(tmp_path / "count", 1, a=95)
    folder = tmp_path / "count" / "offsets"
    (folder / "0").write_text((folder / "0").read_text().replace('"in"', '"a"'))
    (folder / "1").write_text((folder / "1").read_text().replace('"in"', '"a"'))
    os.utime(folder / "1", (1000.0, 1000.0))
    observer = Observer(log, [one], 10.0)
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: 1000.2)
        seen = observer.observe().segments["count"]
    assert seen.consumed == {0: 70}
    assert [(b.records, b.duration_s, b.schedule_s) for b in seen.batches] == [(70, 0.5, pytest.approx(0.2))]
    assert seen.in_batch == 25
    assert seen.to_boundary_s == pytest.approx(0.3)
    assert observer.taken_progress()[0]["flowing"] is False
    assert observer.taken_progress() == []
    assert observer.observe().segments["count"].batches == ()


def test_the_first_look_says_where_a_segment_begins(tmp_path: Path) -> None:
    log: Any = FakeLog(a={0: 100, 1: 50}, out={0: 0})
    fresh = live(tmp_path, "fresh", (ReadTopic("a", 4),), "out")
    resumed = live(tmp_path, "resumed", (ReadTopic("a"),), "out")
    late = live(tmp_path, "late", (ReadTopic("a"),), "out")
    late.earliest = False
    folder = tmp_path / "resumed"
    plan_batch(folder, 3, a=70)
    (folder / "offsets" / "3").write_text((folder / "offsets" / "3").read_text().replace('"in"', '"a"'))
    commit_batch(folder, 3)
    observer = Observer(log, [fresh, resumed, late], 10.0)
    seen = observer.observe().segments
    assert seen["fresh"].consumed == {4: 0, 5: 0}
    assert seen["resumed"].consumed == {0: 70, 1: 0}
    assert seen["late"].consumed is None
    assert all(each.consumed is None for each in observer.observe().segments.values())


def test_an_origin_is_a_position_in_the_topic_between() -> None:
    passage = Passage()
    assert passage.translated([record(1500, 0, 1600)]) == ()
    passage.note([record(1000, 10, 1005)], {0: 100, 1: 200})
    passage.note([record(2000, 20, 2005)], {0: 200, 1: 400})
    (first, second) = passage.translated([record(1200, 1, 1500), record(1500, 2, 1530)])
    # Half of the way between the two looks: half of what was written between them.
    assert (first.partition, first.offset, first.append_ms) == (0, 149, 1505)
    assert (second.partition, second.offset) == (1, 299)
    assert first.latency_s == pytest.approx(0.025)


def test_an_origin_from_before_all_looks_says_nothing() -> None:
    passage = Passage()
    for at in (1000, 2000):
        passage.note([record(at, 1, at)], {0: at})
    assert passage.translated([record(500, 1, 600)]) == ()
    assert passage.translated([TailRecord(0, 1, 600, None)]) == ()


def test_a_later_segment_is_followed_through_the_topic_it_reads(tmp_path: Path) -> None:
    log: Any = FakeLog(a={0: 100}, mid={0: 0}, out={0: 0})
    head = live(tmp_path, "split", (ReadTopic("a"),), "mid")
    tail = live(tmp_path, "count", (ReadTopic("mid", 1024, between=True),), "out")
    observer = Observer(log, [head, tail], 10.0)
    for at, end in ((1000, 300), (2000, 600)):
        log.ends["mid"] = {0: end}
        observer._tails["mid"].records = [record(at, at, at + 5)]  # type: ignore[attr-defined]
        observer._tails["out"].records = [record(1500, 7, 1600)]  # type: ignore[attr-defined]
        seen = observer.observe().segments
    assert seen["split"].ends == {0: 100} and seen["count"].ends == {1024: 600}
    assert [(each.partition, each.offset) for each in seen["count"].tail] == [(1024, 449)]


def test_a_batch_that_tells_no_times_has_none() -> None:
    assert batch_seen({"numInputRows": 5}).duration_s == 0.0


def test_a_look_takes_no_time_worth_mentioning(tmp_path: Path) -> None:
    log: Any = FakeLog(a={0: 100}, out={0: 0})
    observer = Observer(log, [live(tmp_path, "count", (ReadTopic("a"),), "out")], 10.0)
    began = time.thread_time()
    for _ in range(100):
        observer.observe()
    assert (time.thread_time() - began) / 100 < 0.01
