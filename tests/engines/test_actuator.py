"""A switch, step by step: prepared while the old query runs, stopped as ordered, started on the same checkpoint."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from streamgauge.engines.spark.actuator import SparkActuator
from streamgauge.engines.spark.live_segment import LiveSegment, ReadTopic, ends_of, progress_after
from streamgauge.model import EngineError
from streamgauge.paradigms.actuator import Order
from streamgauge.paradigms.paradigm import How, Paradigm
from tests.engines.fake_spark import FakeProgress, FakeQuery, FakeSession, NoObserver, commit_batch, plan_batch, segment
from tests.waiting import until

DATA, OPERATION = Paradigm.DATA_STREAM, Paradigm.OPERATION_STREAM


def started(*segments: LiveSegment, steps: list[Mapping[str, Any]] | None = None) -> SparkActuator:
    session: Any = FakeSession()
    observer: Any = NoObserver()
    actuator = SparkActuator(session, segments, observer, on_switch=([] if steps is None else steps).append)
    actuator.start()
    return actuator


def settle(actuator: SparkActuator) -> None:
    for thread in actuator._threads:
        thread.join(5)
        assert not thread.is_alive()


def test_a_replay_prepares_then_stops_at_once_then_starts_with_its_bound(tmp_path: Path) -> None:
    log: list[str] = []
    one = segment(tmp_path, log)
    actuator = started(one)
    actuator.switch(Order("count", OPERATION, How.REPLAY, 5_000))
    settle(actuator)
    assert log == [
        *("prepare data stream", "start data stream"),
        *("prepare operation stream", "stop data stream", "start operation stream ≤ 5000"),
    ]
    assert (one.paradigm, one.switching, one.changing) == (OPERATION, False, False)
    (done,) = actuator.done
    assert done.ordered_s <= done.prepared_s <= done.stopped_s <= done.ended_s <= done.started_s <= done.reading_s
    assert done.as_dict()["gap_s"] >= 0 and not done.warm
    assert one.warm == {DATA: True, OPERATION: True}
    actuator.stop()
    assert actuator.failure() is None
    assert log[-1] == "stop operation stream"


def test_the_middle_of_a_switch_is_told_before_the_old_query_is_stopped(tmp_path: Path) -> None:
    log: list[str] = []
    steps: list[Mapping[str, Any]] = []
    one = segment(tmp_path, log)
    actuator = started(one, steps=steps)
    held = one.handle
    assert isinstance(held, FakeQuery)
    told_by_then: list[str] = []
    stop = held.stop
    held.stop = lambda: (told_by_then.extend(step["what"] for step in steps), stop())[-1]  # type: ignore[method-assign]
    actuator.switch(Order("count", OPERATION, How.REPLAY, None))
    settle(actuator)
    assert told_by_then == ["began"], "a driver that dies now has told it"
    began, done = steps
    assert (began["segment"], began["to"], began["how"]) == ("count", "operation stream", "replay")
    assert done["what"] == "done" and done["stopped_s"] == began["stopped_s"]
    actuator.stop()


def test_a_drain_waits_for_the_next_commit(tmp_path: Path) -> None:
    log: list[str] = []
    one = segment(tmp_path, log)
    actuator = started(one)
    commit_batch(tmp_path / "count", 0)
    actuator.switch(Order("count", OPERATION, How.DRAIN, None))
    time.sleep(0.2)
    assert "stop data stream" not in log and one.changing and not one.switching
    commit_batch(tmp_path / "count", 1)
    settle(actuator)
    assert log[-2:] == ["stop data stream", "start operation stream"]


def test_a_drain_of_idle_micro_batches_waits_for_nothing(tmp_path: Path) -> None:
    log: list[str] = []
    one = segment(tmp_path, log)
    one.paradigm = OPERATION
    actuator = started(one)
    plan_batch(tmp_path / "count", 0, a=10)
    commit_batch(tmp_path / "count", 0)
    actuator.switch(Order("count", DATA, How.DRAIN, None))
    settle(actuator)
    assert one.paradigm is DATA


@pytest.mark.parametrize("begun", [True, False])
def test_a_batch_that_the_stop_broke_off_is_done_to_its_end_before_the_data_stream_starts(
    tmp_path: Path, begun: bool
) -> None:
    log: list[str] = []
    one = segment(tmp_path, log)
    one.paradigm = OPERATION
    session: Any = FakeSession()
    observer: Any = NoObserver()
    actuator = SparkActuator(session, [one], observer)
    actuator.start()
    held = one.handle
    assert isinstance(held, FakeQuery)
    stop = held.stop

    def stopped_too_late() -> None:
        # Between the boundary and the stop Spark has planned the next batch, and begun its job or not.
        plan_batch(tmp_path / "count", 1, a=20)
        session.jobs += begun
        stop()

    held.stop = stopped_too_late  # type: ignore[method-assign]
    plan_batch(tmp_path / "count", 0, a=10)
    actuator.switch(Order("count", DATA, How.DRAIN, None))
    time.sleep(0.1)
    assert "stop operation stream" not in log, "it waits for the batch"
    commit_batch(tmp_path / "count", 0)
    settle(actuator)
    ending = ("prepare operation stream", "one batch as operation stream") if begun else ()
    assert log[log.index("stop operation stream") :] == ["stop operation stream", *ending, "start data stream"]
    assert one.paradigm is DATA and [done.finished for done in actuator.done] == [begun]


def test_a_job_that_was_begun_before_a_late_look_is_one_of_the_next_batch(tmp_path: Path) -> None:
    one = segment(tmp_path, [])
    one.paradigm = OPERATION
    actuator = started(one)
    plan_batch(tmp_path / "count", 0, a=10)
    session: Any = actuator._session
    scheduler = session.sparkContext._jsc.sc().dagScheduler()

    def counted() -> int:
        # All of it happens between two looks: the commit, the next batch's plan, its job.
        asked.append(len(asked))
        if len(asked) == 5:
            commit_batch(tmp_path / "count", 0)
            plan_batch(tmp_path / "count", 1, a=20)
            session.jobs += 1
        return int(session.jobs)

    asked: list[int] = []
    scheduler.numTotalJobs = counted
    actuator.switch(Order("count", DATA, How.DRAIN, None))
    settle(actuator)
    assert [done.finished for done in actuator.done] == [True]


def test_on_the_way_there_what_was_planned_is_done_by_the_micro_batches_themselves(tmp_path: Path) -> None:
    log: list[str] = []
    one = segment(tmp_path, log)
    actuator = started(one)
    plan_batch(tmp_path / "count", 0, a=10)
    actuator.switch(Order("count", OPERATION, How.REPLAY, None))
    settle(actuator)
    assert "one batch as operation stream" not in log and not actuator.done[0].finished


def test_a_killed_driver_s_batch_is_finished_before_the_data_stream_starts(tmp_path: Path) -> None:
    log: list[str] = []
    one = segment(tmp_path, log)
    plan_batch(tmp_path / "count", 3, a=10)
    started(one)
    assert log == [
        "prepare operation stream",
        "one batch as operation stream",
        "prepare data stream",
        "start data stream",
    ]


def test_a_batch_that_cannot_be_finished_is_said(tmp_path: Path) -> None:
    one = segment(tmp_path, [], refused=OPERATION)
    plan_batch(tmp_path / "count", 3, a=10)
    with pytest.raises(EngineError, match="could not finish a batch: no such topic"):
        started(one)


def test_the_other_segments_run_on(tmp_path: Path) -> None:
    head_log: list[str] = []
    tail_log: list[str] = []
    head, tail = segment(tmp_path, head_log, name="split"), segment(tmp_path, tail_log)
    actuator = started(head, tail)
    actuator.switch(Order("count", OPERATION, How.REPLAY, 100))
    settle(actuator)
    assert head_log == ["prepare data stream", "start data stream"]
    assert head.paradigm is DATA and tail.paradigm is OPERATION


def test_a_paradigm_that_is_refused_is_left_for_good(tmp_path: Path) -> None:
    log: list[str] = []
    one = segment(tmp_path, log, refused=OPERATION)
    actuator = started(one)
    actuator.switch(Order("count", OPERATION, How.REPLAY, 100))
    settle(actuator)
    assert one.paradigm is DATA and one.pinned is DATA and actuator.failure() is None
    assert "not in the allowlist" in actuator.done[-1].failure
    actuator.switch(Order("count", OPERATION, How.REPLAY, 100))
    assert log.count("start operation stream ≤ 100") == 1


def test_one_order_at_a_time(tmp_path: Path) -> None:
    log: list[str] = []
    one = segment(tmp_path, log)
    actuator = started(one)
    actuator.switch(Order("count", OPERATION, How.DRAIN, None))
    actuator.switch(Order("count", OPERATION, How.REPLAY, None))
    assert len(actuator._threads) == 1
    actuator.stop()
    settle(actuator)


def test_a_query_that_ends_by_itself_is_a_failure_and_one_that_is_switched_is_not(tmp_path: Path) -> None:
    one = segment(tmp_path, [])
    actuator = started(one)
    assert one.handle is not None
    one.handle.stop()
    assert "query 'count' ended" in (actuator.failure() or "")
    one.switching = True
    assert actuator.failure() is None


def test_progress_is_told_once_and_that_of_an_idle_query_not_at_all() -> None:
    query: Any = FakeQuery(OPERATION, None, [])
    took = {"triggerExecution": 400, "addBatch": 300}
    query.told = [FakeProgress(batchId=0, durationMs=took), FakeProgress(batchId=1, durationMs={"triggerExecution": 2})]
    assert [each["batchId"] for each in progress_after(query, -1)] == [0]
    # The batch that an idle query tells of is run later under the same number.
    query.told.append(FakeProgress(batchId=1, durationMs=took))
    assert [each["batchId"] for each in progress_after(query, 0)] == [1]
    assert progress_after(query, 1) == []


def test_ends_count_partitions_over_all_topics() -> None:
    progress = {
        "sources": [{"endOffset": {"a": {"0": 5, "1": 6}}}, {"endOffset": {"b": {"0": 7}}}, {"endOffset": None}]
    }
    assert ends_of(progress, (ReadTopic("a"), ReadTopic("b", 2))) == {0: 5, 1: 6, 2: 7}


@pytest.mark.parametrize(("where", "local"), [("/tmp/a", True), ("file:///tmp/a", True), ("s3a://bucket/a", False)])
def test_only_a_checkpoint_of_this_machine_is_looked_into(where: str, local: bool) -> None:
    one = LiveSegment("a", "a", lambda *_: None, where, (), None)  # type: ignore[arg-type, return-value]
    assert (one.folder is not None) == local


def test_threads_do_not_outlive_a_stop(tmp_path: Path) -> None:
    before = threading.active_count()
    actuator = started(segment(tmp_path, []))
    actuator.switch(Order("count", OPERATION, How.DRAIN, None))
    actuator.stop()
    assert threading.active_count() == before


def test_what_was_prepared_is_not_built_again_by_the_switch(tmp_path: Path) -> None:
    log: list[str] = []
    one = segment(tmp_path, log)
    actuator = started(one)
    actuator.prepare(Order("count", OPERATION, How.REPLAY, 5_000))
    until(lambda: log[-1] == "prepare operation stream")
    actuator.switch(Order("count", OPERATION, How.REPLAY, 6_000))
    settle(actuator)
    assert log[-2:] == ["stop data stream", "start operation stream ≤ 5000"]
    actuator.stop()


def test_a_batch_that_may_have_to_be_finished_is_built_while_micro_batches_run(tmp_path: Path) -> None:
    log: list[str] = []
    one = segment(tmp_path, log)
    one.paradigm = OPERATION
    actuator = started(one)
    for _ in range(2):
        actuator.prepare(Order("count", DATA, How.DRAIN, None))
        until(lambda: log[1:] and sorted(log[2:]) == ["prepare data stream", "prepare operation stream"])
    plan_batch(tmp_path / "count", 0, a=10)
    assert actuator._finish_batch(one)
    assert log[4:] == ["one batch as operation stream"]
    actuator.stop()


def test_nothing_is_prepared_for_a_segment_that_never_changes(tmp_path: Path) -> None:
    log: list[str] = []
    one = segment(tmp_path, log)
    one.pinned = DATA
    actuator = started(one)
    actuator.prepare(Order("count", OPERATION, How.REPLAY, 5_000))
    actuator.stop()
    assert log == ["prepare data stream", "start data stream", "stop data stream"]
