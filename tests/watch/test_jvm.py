"""Heap and collections of a real JVM, and of counters in every state that a file can be found in."""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.watch.jvm import JvmMeter, JvmReading, PerfData, perf_data_path

MIB = 1 << 20


@contextmanager
def held(command: list[str]) -> Iterator[psutil.Process]:
    """A JVM that has collected its garbage and waits."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout and process.stdin
        assert process.stdout.readline() == "collected\n"
        yield psutil.Process(process.pid)
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()
        process.stdin.close()


@pytest.mark.parametrize("collector", ["-XX:+UseG1GC", "-XX:+UseSerialGC"])
def test_a_real_jvm(java: list[str], collector: str) -> None:
    with held([java[0], collector, *java[1:]]) as process:
        path = perf_data_path(process)
        assert path is not None
        reading = PerfData(path).read()
        assert reading is not None
        assert 8 * MIB <= reading.heap_used_bytes < 64 * MIB
        assert reading.heap_max_bytes == pytest.approx(64 * MIB, rel=0.05)
        assert reading.gc_count >= 1
        assert 0 < reading.gc_ms < 60_000

        meter = JvmMeter()
        meter.settle([process])
        since = meter.read([psutil.Process(), process])
        assert since is not None
        assert since.heap_used_bytes >= 8 * MIB
        assert (since.gc_count, since.gc_ms) == (0, 0)


def test_a_jvm_without_counters_is_not_measured(java: list[str]) -> None:
    with held([java[0], "-XX:-UsePerfData", *java[1:]]) as process:
        assert JvmMeter().read([process]) is None


def test_a_process_that_is_no_jvm_is_not_measured() -> None:
    assert JvmMeter().read([psutil.Process()]) is None


def test_counters_left_by_an_earlier_process_of_the_same_number_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / str(os.getpid())
    left.write_bytes(perf_data("<"))
    monkeypatch.setattr("streamgauge.watch.jvm.perf_data_path", lambda process: left)
    assert JvmMeter().read([psutil.Process()]) is not None
    before_s = psutil.Process().create_time() - 60
    os.utime(left, (before_s, before_s))
    assert JvmMeter().read([psutil.Process()]) is None


LONGS = {
    "sun.gc.generation.0.maxCapacity": 30 * MIB,
    "sun.gc.generation.0.space.0.used": 5,
    "sun.gc.generation.0.space.1.used": 6,
    "sun.gc.generation.1.maxCapacity": 40 * MIB,
    "sun.gc.generation.1.space.0.used": 7,
    "sun.gc.metaspace.used": 1000,
    "sun.gc.collector.0.invocations": 3,
    "sun.gc.collector.0.time": 2_000_000,
    "sun.gc.collector.0.lastEntryTime": 99,
    "sun.gc.collector.1.invocations": 1,
    "sun.gc.collector.1.time": 500_000,
    "sun.os.hrt.frequency": 1_000_000,
}


def perf_data(order: str, policy: str = "Copy:MSC", longs: dict[str, int] = LONGS) -> bytes:
    """Counters as HotSpot lays them out, written here from the layout's description."""
    entries = b""
    texts = {"sun.gc.policy.name": policy.encode() + b"\0"}
    for name, value in [*longs.items(), *texts.items()]:
        label = name.encode() + b"\0"
        label += b"\0" * (-(20 + len(label)) % 8)
        data = struct.pack(f"{order}q", value) if isinstance(value, int) else value
        data += b"\0" * (-len(data) % 8)
        elements, kind = (0, b"J") if isinstance(value, int) else (len(value), b"B")
        entry = struct.pack(
            f"{order}iiicBBBi", 20 + len(label) + len(data), 20, elements, kind, 0, 1, 1, 20 + len(label)
        )
        entries += entry + label + data
    count = len(longs) + len(texts)
    rest = struct.pack(f"{order}iiqii", 32 + len(entries), 0, 1, 32, count)
    return b"\xca\xfe\xc0\xc0" + bytes([order == "<", 2, 0, 1]) + rest + entries + b"\0" * 64


@pytest.mark.parametrize("order", ["<", ">"])
def test_either_byte_order(tmp_path: Path, order: str) -> None:
    (tmp_path / "1").write_bytes(perf_data(order))
    assert PerfData(tmp_path / "1").read() == JvmReading(18, 70 * MIB, 4, 2500.0)


def test_a_g1_generation_may_grow_to_the_whole_heap(tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(perf_data("<", "GarbageFirst", LONGS | {"sun.gc.generation.0.maxCapacity": 40 * MIB}))
    reading = PerfData(tmp_path / "1").read()
    assert reading is not None
    assert reading.heap_max_bytes == 40 * MIB


def test_counters_that_the_jvm_adds_later_are_found(tmp_path: Path) -> None:
    path = tmp_path / "1"
    path.write_bytes(perf_data("<", longs={"sun.os.hrt.frequency": 1_000_000}))
    perf = PerfData(path)
    assert perf.read() is None
    path.write_bytes(perf_data("<"))
    assert perf.read() == JvmReading(18, 70 * MIB, 4, 2500.0)


def test_a_file_that_is_gone_or_not_ready_is_not_measured(tmp_path: Path) -> None:
    assert PerfData(tmp_path / "none").read() is None
    (tmp_path / "unready").write_bytes(b"\xca\xfe\xc0\xc0\x01\x02\x00\x00" + perf_data("<")[8:])
    assert PerfData(tmp_path / "unready").read() is None


@given(cut=st.integers(0, len(perf_data("<"))), at=st.integers(4, 400), value=st.binary(min_size=1, max_size=8))
def test_a_damaged_file_never_raises(tmp_path_factory: pytest.TempPathFactory, cut: int, at: int, value: bytes) -> None:
    whole = perf_data("<")
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes((whole[:at] + value + whole[at + len(value) :])[:cut])
    reading = PerfData(path).read()
    assert reading is None or isinstance(reading, JvmReading)
