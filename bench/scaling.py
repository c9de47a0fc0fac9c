"""Cost that grows with work: ten times the events in ten times the time, and in the same memory."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from bench.applications import Records
from bench.room import Figure, Room
from streamgauge.lab.planning import plan_run
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_plan
from streamgauge.model import Trial

PROGRAMS = ("identity", "sample", "projection", "grep", "wordcount", "distinct-count", "statistics")
FEW, MANY = 1_000_000, 10_000_000
MOST_TIMES = 10.5
FLAT = ("identity", "statistics")
"""Programs whose keys are bounded."""
FLAT_FEW, FLAT_MANY = 5_000_000, 50_000_000
MOST_GROWTH = 1.2
ENGINE = "spark-microbatch"


class Watched(Records):
    """Keeps beside each record the most memory that this process, laboratory and oracle, had in its trial."""

    def __init__(self) -> None:
        super().__init__()
        self.lab_bytes: list[int] = []
        self._most = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            self._most = max(self._most, psutil.Process().memory_info().rss)

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Keep the record and the memory."""
        super().finished(number, trial, record)
        self.lab_bytes.append(self._most)
        self._most = 0

    def close(self) -> None:
        """Stop looking."""
        self._over.set()
        self._thread.join()


def scaling(room: Room) -> None:
    """Drain times of ten times as many events, the speed of preparation, and memory where keys are bounded."""
    for name in PROGRAMS:
        few, many = _conducted(room, name, (FEW, MANY)).found[name]
        times = [r["measured_events"] / r["throughput"]["events_per_s"] for r in (few, many)]
        raw = f"{times[0]:.1f} s, {times[1]:.1f} s"
        seen = times[1] / times[0]
        what = f"drain time of 10 M ÷ 1 M, {name}, {ENGINE}"
        room.figures.append(Figure(what, f"{seen:.1f}×", f"≤ {MOST_TIMES}×", seen <= MOST_TIMES, raw))
        if name == "identity":
            _preparation(room, many)


def memory(room: Room) -> None:
    """Memory of job and laboratory at 5 M and 50 M events."""
    for name in FLAT:
        heard = _conducted(room, name, (FLAT_FEW, FLAT_MANY))
        job = [r["resources"]["job"]["rss_bytes_max"] for r in heard.found[name]]
        for who, (few, many) in {"job": job, "laboratory and oracle": heard.lab_bytes}.items():
            raw = f"{few / 1e6:,.0f} MB, {many / 1e6:,.0f} MB"
            what = f"most memory at 50 M ÷ 5 M events, {name}: {who}"
            seen = many / few
            room.figures.append(Figure(what, f"{seen:.2f}×", f"≤ {MOST_GROWTH}×", seen <= MOST_GROWTH, raw))


def _preparation(room: Room, record: dict[str, Any]) -> None:
    published, drained = record["publisher"]["achieved_per_s"], record["throughput"]["events_per_s"]
    raw = f"{published / 1000:,.0f} k/s, {drained / 1000:,.0f} k/s"
    what = "preparation of 10 M events ÷ warm drain of identity"
    room.figures.append(Figure(what, f"{published / drained:.1f}×", "≥ 2×", published >= 2 * drained, raw))


def _conducted(room: Room, name: str, sizes: tuple[int, int]) -> Watched:
    request = RunRequest(
        applications=(name,),
        engines=(ENGINE,),
        load="preloaded",
        kafka=room.cluster.bootstrap,
        out=Path(room.folder / "runs"),
        timeout_s=3600,
    )
    plans = [plan_run(replace(request, events=events)) for events in sizes]
    heard = Watched()
    try:
        conduct_plan(replace(plans[0], trials=(*plans[0].trials, *plans[1].trials)), heard)
    finally:
        heard.close()
    wrong = [r for r in heard.found[name] if r["status"] != "done" or not r["verdict"]["correct"]]
    if wrong:
        raise RuntimeError(f"{name}: {wrong[0]['error'] or wrong[0]['verdict']}")
    return heard
