"""What the measurements share: one broker, published topics, a bare process, and the table at the end."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from streamgauge.load.process import PublisherProcess
from streamgauge.load.specification import PublisherResult, PublisherSpec
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.log.cluster import Cluster
from streamgauge.log.reading import read_records
from streamgauge.provision.guard import Guard
from streamgauge.provision.jars import jar_paths
from streamgauge.provision.processes import end_process, start_child
from streamgauge.provision.work import WorkFolder
from streamgauge.streams.reference import StreamReference


@dataclass(frozen=True)
class Figure:
    """One line of the table: what, the ratio or rate that was seen, the goal, and the raw figures."""

    what: str
    seen: str
    goal: str
    reached: bool
    raw: str


@dataclass
class Room:
    """A running broker and a folder that is removed at the end."""

    folder: Path
    guard: Guard
    cluster: Cluster
    figures: list[Figure] = field(default_factory=list)

    def topic(self, label: str, partitions: int = 2) -> str:
        """A new topic."""
        name = f"bench-{label}-{uuid.uuid4().hex[:6]}"
        self.cluster.create_topic(name, partitions)
        return name

    def publish(self, topic: str, load: str, events: int) -> PublisherResult:
        """Publish aol-search events and wait for the end."""
        publisher = self.start_publisher(topic, load, events)
        publisher.wait(600)
        result = publisher.result()
        if result.error or result.events != events:
            raise RuntimeError(f"the publisher failed: {result.error}")
        return result

    def start_publisher(self, topic: str, load: str, events: int) -> PublisherProcess:
        """Start publishing aol-search events."""
        base = self.folder / f"publisher-{uuid.uuid4().hex[:6]}"
        spec = PublisherSpec(
            stream=StreamReference(name="aol-search"),
            seed=1,
            load=load,
            events=events,
            topic=topic,
            partitions=2,
            bootstrap=self.cluster.bootstrap,
            result_path=f"{base}.json",
            lateness_path=f"{base}.parquet",
        )
        publisher = PublisherProcess.start(spec, Path(f"{base}.log"))
        self.guard.watch(publisher.pid)
        return publisher


@contextmanager
def open_room() -> Iterator[Room]:
    """A room with its broker, ended by process id whatever happens."""
    with WorkFolder.create("bench") as work, Guard() as guard:
        guard.folder(work.path)
        with EmbeddedBroker(work.path / "broker", guard) as broker:
            yield Room(work.path, guard, Cluster(broker.bootstrap))


class BareProcess:
    """The bare program, warm over several orders."""

    def __init__(self, room: Room, application: str, engine: str, origin: bool = True) -> None:
        self._room = room
        given = {
            "application": application,
            "engine": engine,
            "origin": origin,
            "bootstrap": room.cluster.bootstrap,
            "jars": ",".join(map(str, jar_paths("spark"))),
            "folder": str(room.folder / "bare"),
        }
        self._log = (room.folder / f"bare-{uuid.uuid4().hex[:6]}.log").open("wb")
        self._child = start_child(
            [sys.executable, str(Path(__file__).with_name("bare_job.py")), json.dumps(given)],
            room.guard,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self._answer()

    def order(self, topic: str, **more: Any) -> tuple[int, str]:
        """Run one query over a topic; gives the instant of its start and the topic of its outputs."""
        out = self._room.topic("bare-out")
        checkpoint = str(self._room.folder / f"checkpoint-{out}")
        order = {"topic": topic, "out": out, "checkpoint": checkpoint, **more}
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(order).encode() + b"\n")
        self._child.stdin.flush()
        return int(json.loads(self._answer())["started_ms"]), out

    def drain_per_s(self, topic: str, events: int) -> float:
        """Events per second from the start of the query to its last output."""
        started_ms, out = self.order(topic, ends=self._room.cluster.end_offsets(topic))
        last_ms = max(max(batch["append_ms"].to_pylist()) for batch in read_records(self._room.cluster, out))
        self._room.cluster.delete_topics([out])
        return events / (last_ms - started_ms) * 1000

    def close(self) -> None:
        """End the program."""
        end_process(self._child, 5.0, self._room.guard)
        self._log.close()

    def _answer(self) -> str:
        assert self._child.stdout is not None
        while True:
            line = self._child.stdout.readline().decode()
            if not line:
                raise RuntimeError(f"the bare program ended: {Path(self._log.name).read_text()[-500:]}")
            if line.startswith(("ready", "{")):
                return line


def ratio_interval(ratios: list[float]) -> tuple[float, float, float]:
    """Median of paired ratios with a 95 % bootstrap interval."""
    draws = np.random.default_rng(1).choice(ratios, (10_000, len(ratios)))
    low, high = np.quantile(np.median(draws, axis=1), [0.025, 0.975])
    return statistics.median(ratios), float(low), float(high)
