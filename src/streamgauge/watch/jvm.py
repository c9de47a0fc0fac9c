"""Heap and garbage collection of JVMs, read from the counters that HotSpot shares through a file, without attaching.

HotSpot keeps them in `hsperfdata_<user>/<pid>`. The heap figures are as of their last update: G1 updates them at its
collections, so between two of them new allocation does not show.
"""

from __future__ import annotations

import re
import struct
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from streamgauge.watch.totals import GrowingTotal

_MAGIC = b"\xca\xfe\xc0\xc0"
_PROLOGUE_BYTES = 32
_ENTRY_BYTES = 20
_PAGE_BYTES = 4096
_CREATED_SLACK_S = 1.0
_ROLES = {
    "used": re.compile(r"sun\.gc\.generation\.\d+\.space\.\d+\.used"),
    "limit": re.compile(r"sun\.gc\.generation\.\d+\.maxCapacity"),
    "collections": re.compile(r"sun\.gc\.collector\.\d+\.invocations"),
    "ticks": re.compile(r"sun\.gc\.collector\.\d+\.time"),
    "ticks_per_s": re.compile(r"sun\.os\.hrt\.frequency"),
}


@dataclass(frozen=True)
class JvmReading:
    """One JVM, or several summed; counts of collections are as the reader says: since its start or since watched."""

    heap_used_bytes: int
    heap_max_bytes: int
    gc_count: int
    gc_ms: float


class PerfData:
    """The counters of one JVM; where each lies is worked out once and again when the JVM has added some."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries = -1
        self._places: dict[str, list[int]] = {}
        self._garbage_first = False
        self._order = "<"

    def read(self) -> JvmReading | None:
        """The counters since the JVM's start, or None when the file is gone, unready or not understood."""
        try:
            data = self.path.read_bytes()
        except OSError:
            return None
        if len(data) < _PROLOGUE_BYTES or data[:4] != _MAGIC or not data[7]:
            return None
        self._order = "<" if data[4] else ">"
        try:
            (entries,) = struct.unpack_from(f"{self._order}i", data, 28)
            if entries != self._entries:
                self._index(data, entries)
            return self._reading(data)
        except (struct.error, ValueError):
            return None

    def _index(self, data: bytes, entries: int) -> None:
        (at,) = struct.unpack_from(f"{self._order}i", data, 24)
        places: dict[str, list[int]] = {role: [] for role in _ROLES}
        for _ in range(entries):
            length, name_at, elements, kind, _, _, _, value_at = struct.unpack_from(f"{self._order}iii4Bi", data, at)
            if length < _ENTRY_BYTES:
                break
            name = data[at + name_at : data.index(b"\0", at + name_at)].decode("utf-8", "replace")
            if kind == ord("J") and elements == 0:
                for role, pattern in _ROLES.items():
                    if pattern.fullmatch(name):
                        places[role].append(at + value_at)
            elif name == "sun.gc.policy.name":
                self._garbage_first = data[at + value_at :].startswith(b"GarbageFirst")
            at += length
        self._places, self._entries = places, entries

    def _reading(self, data: bytes) -> JvmReading | None:
        value = {
            role: [struct.unpack_from(f"{self._order}q", data, at)[0] for at in places]
            for role, places in self._places.items()
        }
        if not value["used"] or not value["limit"] or not value["ticks_per_s"] or value["ticks_per_s"][0] <= 0:
            return None
        # With G1 any generation may grow to the whole heap; others divide it. G1 pads its figures by a few bytes.
        limit = max(value["limit"]) if self._garbage_first else sum(value["limit"])
        return JvmReading(
            heap_used_bytes=sum(value["used"]),
            heap_max_bytes=limit // _PAGE_BYTES * _PAGE_BYTES,
            gc_count=sum(value["collections"]),
            gc_ms=sum(value["ticks"]) * 1000 / value["ticks_per_s"][0],
        )


class JvmMeter:
    """The JVMs among a tree's processes: heap summed as it stands, collections since the tree was first watched."""

    def __init__(self) -> None:
        self._perf: dict[int, PerfData] = {}
        self._paths: dict[int, Path | None] = {}
        self._gc_count, self._gc_ms = GrowingTotal(), GrowingTotal()

    def settle(self, processes: Iterable[psutil.Process]) -> None:
        """Collections that these processes made before now do not count."""
        readings = self._readings(processes)
        self._gc_count.settle({pid: r.gc_count for pid, r in readings.items()})
        self._gc_ms.settle({pid: r.gc_ms for pid, r in readings.items()})

    def read(self, processes: Iterable[psutil.Process]) -> JvmReading | None:
        """The tree's JVMs now, or None when none can be read."""
        readings = self._readings(processes)
        if not readings:
            return None
        return JvmReading(
            sum(r.heap_used_bytes for r in readings.values()),
            sum(r.heap_max_bytes for r in readings.values()),
            int(self._gc_count.grow({pid: r.gc_count for pid, r in readings.items()})),
            float(self._gc_ms.grow({pid: r.gc_ms for pid, r in readings.items()})),
        )

    def _readings(self, processes: Iterable[psutil.Process]) -> dict[int, JvmReading]:
        found = {}
        for process in processes:
            perf = self._perf.get(process.pid) or self._find(process)
            reading = perf.read() if perf else None
            if reading is not None:
                found[process.pid] = reading
        return found

    def _find(self, process: psutil.Process) -> PerfData | None:
        if process.pid not in self._paths:
            self._paths[process.pid] = perf_data_path(process)
        path = self._paths[process.pid]
        try:
            # A file that is older than the process was left by another JVM of the same number.
            if path is None or path.stat().st_mtime < process.create_time() - _CREATED_SLACK_S:
                return None
        except (OSError, psutil.Error):
            return None
        self._perf[process.pid] = PerfData(path)
        return self._perf[process.pid]


def perf_data_path(process: psutil.Process) -> Path | None:
    """Where HotSpot would keep this process's counters, whether or not it is a JVM."""
    try:
        user = process.username()
    except (psutil.Error, KeyError):
        return None
    # On Linux the JVM uses /tmp whatever TMPDIR or java.io.tmpdir say.
    folder = Path("/tmp") if sys.platform == "linux" else Path(tempfile.gettempdir())
    return folder / f"hsperfdata_{user}" / str(process.pid)
