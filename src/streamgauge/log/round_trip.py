"""The log's own round trip: the floor under every latency that is measured through it (OS3)."""

from __future__ import annotations

import threading
import time
import uuid
from typing import Any

import numpy as np
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from streamgauge.log.cluster import Cluster
from streamgauge.model.errors import LogError

_WARM_UP = 50
_PATIENCE_S = 10.0


def measure_round_trip(cluster: Cluster, count: int = 200) -> dict[str, Any]:
    """Records sent one at a time through a probe topic: min, median and p99 in ms until acknowledged and consumed."""
    topic = f"streamgauge-round-trip-{uuid.uuid4().hex[:12]}"
    cluster.create_topic(topic, 1)
    try:
        acknowledged_ns, consumed_ns = _exchange(cluster, topic, count + _WARM_UP)
    except KafkaException as error:
        raise LogError(
            f"the round trip failed ({error.args[0].str()})", f"Check Kafka at {cluster.bootstrap}"
        ) from None
    finally:
        cluster.delete_topics([topic])
    return {
        "records": count,
        "acknowledged_ms": _figures(acknowledged_ns[_WARM_UP:]),
        "consumed_ms": _figures(consumed_ns[_WARM_UP:]),
    }


def _exchange(cluster: Cluster, topic: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    sent, acknowledged, consumed = (np.zeros(count, np.int64) for _ in range(3))
    settings = cluster.client_settings()
    producer = Producer({**settings, "linger.ms": 0, "acks": "all"})
    arrived = threading.Semaphore(0)
    stop = threading.Event()

    def consume(consumer: Any) -> None:
        received = 0
        while received < count and not stop.is_set():
            message = consumer.poll(0.1)
            if message is not None and message.error() is None:
                consumed[received] = time.perf_counter_ns()
                received += 1
                arrived.release()

    consumer = Consumer({**settings, "group.id": topic, "enable.auto.commit": False, "fetch.wait.max.ms": 100})
    consumer.assign([TopicPartition(topic, 0, 0)])
    reader = threading.Thread(target=consume, args=(consumer,), daemon=True)
    reader.start()
    try:
        for index in range(count):
            sent[index] = time.perf_counter_ns()
            producer.produce(topic, value=b"round trip", partition=0, on_delivery=_stamp(acknowledged, index))
            if producer.flush(_PATIENCE_S) > 0 or acknowledged[index] == 0 or not arrived.acquire(timeout=_PATIENCE_S):
                raise LogError(
                    f"a record did not come back within {_PATIENCE_S:.0f} s", f"Check Kafka at {cluster.bootstrap}"
                )
    finally:
        stop.set()
        reader.join()
        consumer.close()
    return acknowledged - sent, consumed - sent


def _stamp(into: np.ndarray, index: int) -> Any:
    def on_delivery(error: Any, _message: Any) -> None:
        if error is None:
            into[index] = time.perf_counter_ns()

    return on_delivery


def _figures(durations_ns: np.ndarray) -> dict[str, float]:
    low, median, high = np.quantile(durations_ns / 1e6, [0.0, 0.5, 0.99], method="nearest")
    return {"min": round(float(low), 3), "median": round(float(median), 3), "p99": round(float(high), 3)}
