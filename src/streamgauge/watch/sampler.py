"""Samples CPU, memory, network and heap of a trial's components from the conductor's process."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from streamgauge.watch.cadence import Cadence
from streamgauge.watch.jvm import JvmMeter, JvmReading
from streamgauge.watch.network import NetworkMeter, Traffic
from streamgauge.watch.processes import ProcessTable, ProcessTree, TreeReading

SCHEMA = pa.schema(
    [
        pa.field("at_ms", pa.int64(), nullable=False),
        pa.field("component", pa.string(), nullable=False),
        pa.field("cpu_cores", pa.float64(), nullable=False),
        pa.field("rss_bytes", pa.int64(), nullable=False),
        pa.field("rx_bytes", pa.int64()),
        pa.field("tx_bytes", pa.int64()),
        pa.field("heap_used_bytes", pa.int64()),
        pa.field("heap_max_bytes", pa.int64()),
        pa.field("gc_count", pa.int64()),
        pa.field("gc_ms", pa.float64()),
    ]
)


@dataclass(frozen=True)
class Sample:
    """One component at one moment; None is 'not measured here'."""

    at_ms: int
    component: str
    cpu_cores: float
    """Mean number of cores in use since the component's last sample."""
    rss_bytes: int
    rx_bytes: int | None
    """Bytes over TCP since the component was added; so with tx_bytes, gc_count and gc_ms."""
    tx_bytes: int | None
    heap_used_bytes: int | None
    heap_max_bytes: int | None
    gc_count: int | None
    gc_ms: float | None


@dataclass
class _Component:
    tree: ProcessTree
    jvm: JvmMeter
    read_at_s: float = 0.0
    cpu_s: float = 0.0


class Sampler:
    """Samples components (name → process number, with all descendants) every `interval_s` in a thread of its own.

    Cumulative figures count from the moment a component is added, so add it as soon as its process is started. What a
    component does between its last sample and its end is not seen.
    """

    def __init__(self, components: Mapping[str, int] | None = None, interval_s: float = 0.5) -> None:
        self._interval_s = interval_s
        self._cadence = Cadence(self._beat, interval_s, "sampler")
        self._lock = threading.Lock()
        self._table = ProcessTable()
        self._network = NetworkMeter()
        self._components: dict[str, _Component] = {}
        self._samples: list[Sample] = []
        self._latest: dict[str, Sample] = {}
        self.own_cost_s = 0.0
        """CPU seconds that sampling itself has used."""
        for name, pid in (components or {}).items():
            self.add(name, pid)

    def add(self, component: str, pid: int) -> None:
        """Watch a process from now on; a further process of a known component continues that component's totals."""
        with self._lock, self._at_own_cost():
            self._table.refresh()
            watched = self._components.setdefault(component, _Component(ProcessTree(self._table), JvmMeter()))
            watched.tree.add_root(pid)
            reading = watched.tree.read()
            watched.read_at_s, watched.cpu_s = time.monotonic(), reading.cpu_s
            watched.jvm.settle(reading.processes)
            self._network.add(component, [p.pid for p in reading.processes])

    def remove(self, component: str) -> None:
        """Watch a component no more, after a last sample; its totals continue when it is added again."""
        with self._lock, self._at_own_cost():
            if component in self._components:
                self._sample()
                self._components[component].tree.clear()
                self._latest.pop(component, None)

    def start(self) -> None:
        """Begin to sample."""
        self._cadence.start()

    def stop(self) -> pa.Table:
        """End, after a last sample, and give all samples in the order in which they were taken."""
        self._cadence.stop()
        if self._cadence.failure is not None:
            raise self._cadence.failure
        self._beat()
        self._network.close()
        with self._lock:
            for watched in self._components.values():
                watched.tree.clear()
            names = [field.name for field in dataclasses.fields(Sample)]
            return pa.table({name: [getattr(s, name) for s in self._samples] for name in names}, schema=SCHEMA)

    def latest(self) -> dict[str, Sample]:
        """The last sample of each component that is watched."""
        return dict(self._latest)

    def _beat(self) -> None:
        with self._lock, self._at_own_cost():
            self._sample()

    def _sample(self) -> None:
        self._table.refresh()
        at_ms, now_s = time.time_ns() // 1_000_000, time.monotonic()
        readings: dict[str, tuple[TreeReading, float]] = {}
        for name, watched in self._components.items():
            # CPU time comes in steps of 10 ms: over a shorter time than this the figure would be noise.
            if now_s - watched.read_at_s >= self._interval_s / 2:
                reading = watched.tree.read()
                readings[name] = reading, max(0.0, reading.cpu_s - watched.cpu_s) / (now_s - watched.read_at_s)
                watched.read_at_s, watched.cpu_s = now_s, reading.cpu_s
        alive = {name: reading for name, (reading, _) in readings.items() if reading.processes}
        traffic = self._network.read({n: [p.pid for p in r.processes] for n, r in alive.items()}) if alive else {}
        for name, reading in alive.items():
            jvm = self._components[name].jvm.read(reading.processes)
            sample = _sample_of(at_ms, name, readings[name][1], reading.rss_bytes, traffic.get(name), jvm)
            self._samples.append(sample)
            self._latest[name] = sample
        for name in readings.keys() - alive.keys():
            self._latest.pop(name, None)

    @contextmanager
    def _at_own_cost(self) -> Iterator[None]:
        began_s = time.thread_time()
        try:
            yield
        finally:
            self.own_cost_s += time.thread_time() - began_s


def _sample_of(
    at_ms: int, component: str, cpu_cores: float, rss_bytes: int, traffic: Traffic | None, jvm: JvmReading | None
) -> Sample:
    return Sample(
        at_ms=at_ms,
        component=component,
        cpu_cores=cpu_cores,
        rss_bytes=rss_bytes,
        rx_bytes=traffic.rx_bytes if traffic else None,
        tx_bytes=traffic.tx_bytes if traffic else None,
        heap_used_bytes=jvm.heap_used_bytes if jvm else None,
        heap_max_bytes=jvm.heap_max_bytes if jvm else None,
        gc_count=jvm.gc_count if jvm else None,
        gc_ms=jvm.gc_ms if jvm else None,
    )
