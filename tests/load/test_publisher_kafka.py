"""The publisher as a process against a real broker: every event arrives once, in order, in its partition."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from streamgauge.load.process import PublisherProcess
from streamgauge.load.specification import PublisherResult, PublisherSpec
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.model.errors import EXIT_ENGINE, EXIT_INTERRUPTED, EXIT_USER, LogError
from streamgauge.provision.guard import Guard
from streamgauge.streams import get_stream
from streamgauge.streams.reference import StreamReference
from streamgauge.streams.wire import encode

pytestmark = pytest.mark.kafka


@pytest.fixture
def spec(broker: Any, tmp_path: Path) -> PublisherSpec:
    """A preloaded publication into a new topic of two partitions."""
    topic = f"published-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result(30)
    return PublisherSpec(
        stream=StreamReference(name="aol-search"),
        seed=3,
        load="preloaded",
        events=70_001,
        topic=topic,
        partitions=2,
        bootstrap=broker.bootstrap,
        result_path=str(tmp_path / "result.json"),
        lateness_path=str(tmp_path / "lateness.parquet"),
        progress_path=str(tmp_path / "progress.json"),
    )


def _started(spec: PublisherSpec) -> PublisherProcess:
    return PublisherProcess.start(spec, Path(spec.result_path).with_name("stderr.txt"))


def _finished(spec: PublisherSpec) -> tuple[int, PublisherResult]:
    process = _started(spec)
    try:
        return process.wait(60), process.result()
    finally:
        process.stop()


def _read_back(spec: PublisherSpec, partition: int, count: int) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": spec.bootstrap, "group.id": "test", "enable.auto.commit": False})
    consumer.assign([TopicPartition(spec.topic, partition, 0)])
    values: list[bytes] = []
    deadline = time.monotonic() + 30
    while len(values) < count and time.monotonic() < deadline:
        values += [message.value() for message in consumer.consume(count - len(values), 1.0)]
    values += [message.value() for message in consumer.consume(1, 0.2)]
    consumer.close()
    return values


def test_preloaded_events_arrive_once_and_in_order(spec: PublisherSpec) -> None:
    spec = replace(spec, start_index=1001)
    code, result = _finished(spec)
    assert (code, result.error, result.kept_up, result.delivery_failures) == (0, None, True, 0)
    stream = get_stream("aol-search")
    expected = encode(stream, stream.synthetic(3).block(1001, 70_001)).to_pylist()
    assert result.events == 70_001 and result.bytes == sum(map(len, expected))
    assert result.partition_events == (35_000, 35_001)
    assert _read_back(spec, 0, 35_000) == expected[1::2]
    assert _read_back(spec, 1, 35_001) == expected[0::2]
    assert result.lateness_p99_ms is None and pq.read_table(spec.lateness_path).num_rows == 0


def test_paced_events_leave_when_they_are_due(spec: PublisherSpec) -> None:
    start = time.time_ns() + 4_000_000_000
    code, result = _finished(replace(spec, load="constant:2000/s", events=2000, start_at_epoch_ns=start))
    assert (code, result.error) == (0, None)
    assert result.start_at_epoch_ns == start <= result.first_sent_epoch_ns
    assert result.last_sent_epoch_ns >= start + 999_500_000
    assert pq.read_table(spec.lateness_path)["count"].to_numpy().sum() == 2000
    assert result.lateness_max_ms is not None and result.lateness_mean_ms is not None
    assert 0 <= result.lateness_mean_ms <= result.lateness_max_ms


def test_a_start_in_the_past_is_lateness(spec: PublisherSpec) -> None:
    start = time.time_ns() - 5_000_000_000
    code, result = _finished(replace(spec, load="constant:2000/s", events=100, start_at_epoch_ns=start))
    assert code == 0 and not result.kept_up and "fell behind" in result.kept_up_reason
    assert result.lateness_p50_ms is not None and result.lateness_p50_ms >= 4900


def test_two_publications_follow_each_other_in_one_topic(spec: PublisherSpec) -> None:
    assert _finished(replace(spec, events=100))[0] == 0
    code, result = _finished(replace(spec, events=50, start_index=100))
    assert (code, result.delivery_failures) == (0, 0)
    stream = get_stream("aol-search")
    assert _read_back(spec, 0, 75) == encode(stream, stream.synthetic(3).block(0, 150)).to_pylist()[::2]


def _running(spec: PublisherSpec) -> PublisherProcess:
    process = _started(replace(spec, load="constant:500/s", events=100_000))
    deadline = time.monotonic() + 30
    while process.progress()[0] == 0 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    return process


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_a_result(spec: PublisherSpec, how: signal.Signals) -> None:
    process = _running(spec)
    os.kill(process.pid, how)
    assert process.wait(20) == EXIT_INTERRUPTED
    result = process.result()
    assert result.interrupted and how.name in str(result.error) and 0 < result.events < 100_000
    assert result.delivery_failures == 0
    assert sum(len(_read_back(spec, p, n)) for p, n in enumerate(result.partition_events)) == result.events


def test_it_ends_when_its_parent_is_gone(spec: PublisherSpec, tmp_path: Path) -> None:
    spec_path = tmp_path / "orphan.json"
    replace(spec, load="constant:500/s", events=100_000).write(spec_path)
    parent = (
        "import subprocess, sys, time, pathlib\n"
        f"child = subprocess.Popen([sys.executable, '-m', 'streamgauge.load.publisher', {str(spec_path)!r}])\n"
        f"while not pathlib.Path({spec.progress_path!r}).exists(): time.sleep(0.05)\n"
        "print(child.pid)\n"
    )
    ended = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, timeout=60, check=True)
    deadline = time.monotonic() + 20
    while not Path(spec.result_path).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    result = PublisherResult.read(Path(spec.result_path))
    assert result.interrupted and "is gone" in str(result.error)
    assert int(ended.stdout) > 0


def test_a_topic_that_is_not_there_is_the_users_mistake(spec: PublisherSpec) -> None:
    code, result = _finished(replace(spec, topic="never-made"))
    assert code == EXIT_USER and "there is no topic 'never-made'" in str(result.error)
    code, result = _finished(replace(spec, partitions=5))
    assert code == EXIT_USER and "has 2 partitions, not 5" in str(result.error)


def test_a_bad_setting_is_named(spec: PublisherSpec) -> None:
    code, result = _finished(replace(spec, kafka_config={"linger.ms": "soon"}))
    assert code == EXIT_USER and "linger.ms" in str(result.error)


def test_nobody_at_the_address_is_told(spec: PublisherSpec) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, result = _finished(replace(spec, bootstrap=address, broker_timeout_s=2))
    assert code == EXIT_ENGINE and address in str(result.error) and result.events == 0


def test_a_broker_that_dies_ends_it_with_an_error(spec: PublisherSpec, guard: Guard, tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "broker", guard) as own:
        admin = AdminClient({"bootstrap.servers": own.bootstrap})
        admin.create_topics([NewTopic(spec.topic, 2, 1)])[spec.topic].result(30)
        process = _running(replace(spec, bootstrap=own.bootstrap, broker_timeout_s=2))
        own.stop()
        assert process.wait(30) == EXIT_ENGINE
    result = process.result()
    assert own.bootstrap in str(result.error) and "\n" not in str(result.error)
    assert not result.interrupted and not result.kept_up and result.delivery_failures > 0


def test_a_process_that_dies_without_a_result_is_told(spec: PublisherSpec) -> None:
    process = _running(spec)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(20)
    with pytest.raises(LogError, match="no result"):
        process.result()
