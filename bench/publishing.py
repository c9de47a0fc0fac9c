"""Generating and publishing: events per second of one core, and the publisher beside Kafka's own tool."""

from __future__ import annotations

import re
import subprocess
import time

from bench.room import Figure, Room, ratio_interval
from streamgauge.load.publisher import FLAT_OUT_BATCH_BYTES
from streamgauge.provision.jars import jar_paths
from streamgauge.provision.java import find_java
from streamgauge.streams import get_stream
from streamgauge.streams.wire import encode

GENERATED = 3_000_000
PUBLISHED = 3_000_000
PAIRS = 4


def generating(room: Room) -> None:
    """Events generated and serialised per second in one thread."""
    stream = get_stream("aol-search")
    source = stream.synthetic(1)
    encode(stream, source.block(0, 100_000))
    rates = []
    for _ in range(3):
        began = time.thread_time()
        size = sum(encode(stream, source.block(start, 100_000)).nbytes for start in range(0, GENERATED, 100_000))
        rates.append(GENERATED / (time.thread_time() - began))
    best = max(rates)
    raw = f"{', '.join(f'{r:,.0f}/s' for r in rates)}; {size / GENERATED:.0f} B an event in memory"
    room.figures.append(
        Figure("aol-search generated and serialised, one core", f"{best:,.0f}/s", "≥ 1,000,000/s", best >= 1e6, raw)
    )


def publishing(room: Room) -> None:
    """Our publisher flat out and ProducerPerformance, in turn, with the same record and batch size."""
    ours, theirs = [], []
    for turn in range(PAIRS + 1):
        topic = room.topic("publish")
        result = room.publish(topic, "preloaded", PUBLISHED)
        seconds = (result.finished_epoch_ns - result.first_sent_epoch_ns) / 1e9
        bytes_each = round(result.bytes / result.events)
        other = room.topic("producer-performance")
        rate = producer_performance(room, other, bytes_each)
        room.cluster.delete_topics([topic, other])
        if turn:
            ours.append(result.events / seconds)
            theirs.append(rate)
    ratio, low, high = ratio_interval([a / b for a, b in zip(ours, theirs, strict=True)])
    raw = f"ours {_rates(ours)}; ProducerPerformance {_rates(theirs)}; {bytes_each} B"
    what = "publisher flat out ÷ Kafka's ProducerPerformance"
    room.figures.append(Figure(what, f"{ratio:.2f}× [{low:.2f}, {high:.2f}]", "≥ 1.0×", ratio >= 1.0, raw))


def producer_performance(room: Room, topic: str, record_bytes: int) -> float:
    """Records per second of Kafka's own producer tool, over the records that it sent."""
    settings = ["acks=all", "enable.idempotence=true", f"batch.size={FLAT_OUT_BATCH_BYTES}", "linger.ms=20"]
    said = kafka_tool(
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", topic, "--num-records", str(PUBLISHED), "--record-size", str(record_bytes), "--throughput", "-1"),
        *("--producer-props", f"bootstrap.servers={room.cluster.bootstrap}", *settings),
    )
    found = re.findall(r"([\d.,]+) records/sec", said)
    return float(found[-1].replace(",", ""))


def kafka_tool(name: str, *arguments: str) -> str:
    """What one of Kafka's own tools prints."""
    classpath = ":".join(str(jar) for group in ("broker", "tools") for jar in jar_paths(group))
    command = [str(find_java().path), "-Xmx1g", "-cp", classpath, name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout


def _rates(rates: list[float]) -> str:
    return " ".join(f"{r / 1e6:.2f}" for r in rates) + " M/s"
