"""Silence, failure and recovery of a watched topic, on a clock that the test moves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer

from streamgauge.model import LogError
from streamgauge.watch.offsets import OffsetWatcher


class Log:
    """A clock and the ends of topics, moved by the test."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.ends: dict[str, dict[int, int]] = {"in": {0: 0, 1: 0}, "out": {0: 0}}
        self.failing: dict[str, Exception] = {}

    def end_offsets(self, topic: str) -> dict[int, int]:
        if topic in self.failing:
            raise self.failing[topic]
        return self.ends[topic]

    def watcher(self) -> OffsetWatcher:
        return OffsetWatcher(self.end_offsets, ["in", "out"], clock_s=lambda: self.now_s)

    def after(self, seconds: float, look: Callable[[], None]) -> None:
        self.now_s += seconds
        look()


def test_nothing_is_known_before_the_first_answer() -> None:
    watcher = Log().watcher()
    assert watcher.latest("out") == {}
    assert watcher.silent_for_s("out") == 0
    assert watcher.failing_for_s == 0
    assert watcher.error is None
    assert watcher.history.num_rows == 0


def test_silence_grows_until_any_partition_moves() -> None:
    log = Log()
    watcher = log.watcher()
    for _ in range(5):
        log.after(0.5, watcher.look)
    assert watcher.silent_for_s("in") == watcher.silent_for_s("out") == 2.0
    log.ends["in"] = {0: 0, 1: 3}
    log.after(0.5, watcher.look)
    assert watcher.silent_for_s("in") == 0
    assert watcher.silent_for_s("out") == 2.5
    assert watcher.latest("in") == {0: 0, 1: 3}


def test_a_broker_that_is_away_is_not_silence() -> None:
    log = Log()
    watcher = log.watcher()
    watcher.look()
    log.after(1.0, watcher.look)
    log.failing = {"in": ConnectionError("first"), "out": ConnectionError("first")}
    log.after(1.0, watcher.look)
    log.failing = {"in": ConnectionError("second"), "out": ConnectionError("second")}
    log.after(30.0, watcher.look)
    assert watcher.silent_for_s("out") == 1.0
    assert watcher.failing_for_s == 30.0
    assert str(watcher.error) == "second"
    assert watcher.latest("out") == {0: 0}

    log.failing = {}
    log.after(5.0, watcher.look)
    assert watcher.failing_for_s == 0
    assert str(watcher.error) == "second"
    assert watcher.silent_for_s("out") == 1.0
    log.after(2.0, watcher.look)
    assert watcher.silent_for_s("out") == 3.0


def test_one_failing_topic_does_not_blind_the_other() -> None:
    log = Log()
    watcher = log.watcher()
    log.failing = {"in": ConnectionError("no leader")}
    log.ends["out"] = {0: 7}
    watcher.look()
    assert watcher.latest("out") == {0: 7}
    assert watcher.latest("in") == {}
    log.now_s += 3
    assert watcher.failing_for_s == 3


def test_history_holds_every_answer() -> None:
    log = Log()
    watcher = log.watcher()
    watcher.look()
    log.ends["in"] = {0: 4, 1: 3}
    watcher.look()
    history = watcher.history
    assert history.schema.types == [pa.int64(), pa.string(), pa.int64()]
    assert history.select(["topic", "total"]).to_pylist() == [
        {"topic": "in", "total": 0},
        {"topic": "out", "total": 0},
        {"topic": "in", "total": 7},
        {"topic": "out", "total": 0},
    ]
    assert history["at_ms"].to_pylist() == sorted(history["at_ms"].to_pylist())


def test_the_thread_looks_until_it_is_stopped() -> None:
    calls = 0
    enough = threading.Event()

    def end_offsets(topic: str) -> dict[int, int]:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise ConnectionError("away for a moment")
        if calls >= 4:
            enough.set()
        return {0: calls}

    watcher = OffsetWatcher(end_offsets, ["out"], interval_s=0.01)
    watcher.start()
    assert enough.wait(30)
    watcher.stop()
    seen = calls
    assert watcher.latest("out") == {0: seen}
    assert str(watcher.error) == "away for a moment"
    assert watcher.history.num_rows == seen - 1


def test_an_interval_must_be_above_zero() -> None:
    with pytest.raises(ValueError, match="above 0 s"):
        OffsetWatcher(lambda topic: {}, ["out"], interval_s=0)


def look_until(watcher: OffsetWatcher, topic: str, ends: dict[int, int]) -> None:
    """Look again and again: a topic just made has no leader for a moment."""
    deadline_s = time.monotonic() + 30
    while watcher.latest(topic) != ends:
        watcher.look()
        assert time.monotonic() < deadline_s, (watcher.latest(topic), watcher.error)


@pytest.mark.kafka
def test_a_real_topic_is_followed_to_its_end(cluster: Any, topic: Callable[..., str]) -> None:
    name = topic(partitions=2)
    watcher = OffsetWatcher(cluster.end_offsets, [name])
    look_until(watcher, name, {0: 0, 1: 0})
    producer = Producer(cluster.client_settings())
    for partition in (0, 1, 1):
        producer.produce(name, b"x", partition=partition)
    producer.flush(30)
    look_until(watcher, name, {0: 1, 1: 2})
    totals = watcher.history["total"].to_pylist()
    assert (totals[0], totals[-1]) == (0, 3)
    assert watcher.failing_for_s == 0


@pytest.mark.kafka
def test_a_real_topic_that_is_deleted_is_a_failure_that_is_kept(cluster: Any, topic: Callable[..., str]) -> None:
    name = topic()
    watcher = OffsetWatcher(cluster.end_offsets, [name])
    look_until(watcher, name, {0: 0})
    cluster.delete_topics([name])
    deadline_s = time.monotonic() + 30
    while not watcher.failing_for_s and time.monotonic() < deadline_s:
        watcher.look()
    assert isinstance(watcher.error, LogError)
    assert watcher.failing_for_s > 0
    assert watcher.latest(name) == {0: 0}
