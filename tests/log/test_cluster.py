from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from streamgauge.log.broker import EmbeddedBroker
from streamgauge.log.cluster import Cluster
from streamgauge.log.round_trip import measure_round_trip
from streamgauge.model.errors import LogError, UserError

pytestmark = pytest.mark.kafka


def test_topics_are_made_measured_and_deleted(cluster: Cluster, broker: EmbeddedBroker) -> None:
    cluster.create_topic("made", 3, {"segment.bytes": "1048576"})
    assert "made" in cluster.topics()
    assert cluster.partitions("made") == [0, 1, 2]
    assert cluster.end_offsets("made") == cluster.start_offsets("made") == {0: 0, 1: 0, 2: 0}
    producer = Producer(cluster.client_settings())
    for _ in range(5):
        producer.produce("made", b"x", partition=2)
    assert producer.flush(10) == 0
    assert cluster.end_offsets("made") == {0: 0, 1: 0, 2: 5}
    cluster.delete_topics(["made", "never-made"])
    assert "made" not in cluster.topics()
    deadline = time.monotonic() + 20
    while (left := _segments(broker.data_folder, "made")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _segments(data: Path, topic: str) -> list[Path]:
    return [path for path in data.iterdir() if path.name.startswith(f"{topic}-")]


def test_a_topic_is_stamped_by_the_log_and_keeps_everything(cluster: Cluster, topic: Callable[..., str]) -> None:
    resource = ConfigResource(ResourceType.TOPIC, topic())
    admin = AdminClient(cluster.client_settings())
    [answer] = admin.describe_configs([resource]).values()
    config = {name: entry.value for name, entry in answer.result(10).items()}
    assert config["message.timestamp.type"] == "LogAppendTime"
    assert config["retention.ms"] == config["retention.bytes"] == "-1"


def test_mistakes_are_told_from_failures(cluster: Cluster, topic: Callable[..., str]) -> None:
    with pytest.raises(UserError, match="already exists"):
        cluster.create_topic(topic(), 1)
    with pytest.raises(UserError, match="cannot be made"):
        cluster.create_topic("no spaces allowed", 1)
    with pytest.raises(UserError, match="cannot be made") as raised:
        Cluster(cluster.bootstrap, replication=3).create_topic("thrice", 1)
    assert "replication" in raised.value.way_out
    with pytest.raises(LogError, match="'absent' cannot be looked up"):
        cluster.end_offsets("absent")


def test_no_broker_is_said_with_the_address() -> None:
    with pytest.raises(LogError, match=r"no Kafka answers at 127\.0\.0\.1:9") as raised:
        Cluster("127.0.0.1:9").check()
    assert raised.value.way_out


def test_the_round_trip_is_measured_and_its_topic_gone(cluster: Cluster) -> None:
    before = cluster.topics()
    found = measure_round_trip(cluster, count=20)
    assert found["records"] == 20
    for figures in (found["acknowledged_ms"], found["consumed_ms"]):
        assert 0 < figures["min"] <= figures["median"] <= figures["p99"]
    assert cluster.topics() == before
