"""Latency at 500 events/s: the laboratory beside a bare program, and micro-batch beside real time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bench.listening import Quiet, check_right
from bench.room import BareProcess, Figure, Room
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.log.reading import read_records
from streamgauge.model import Trial

RATE_PER_S = 500
WARMUP_S = 20
MEASURED_S = 30
REPEATS = 3


class Collecting(Quiet):
    """Keeps the records, and after each trial lets the bare program run once."""

    def __init__(self, bare: BareProcess | None, room: Room) -> None:
        self._bare, self._room = bare, room
        self.records: list[dict[str, Any]] = []
        self.bare_p50_ms: list[float] = []

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Keep the record; a wrong answer ends the benchmark."""
        check_right(trial, record)
        self.records.append(record)
        if self._bare is not None:
            self.bare_p50_ms.append(bare_median_ms(self._room, self._bare))
        print(f"  {trial.engine}: p50 {record['latency_ms']['p50']} ms", flush=True)


def bare_median_ms(room: Room, bare: BareProcess) -> float:
    """Median output latency of the bare program at the same rate, over the same seconds."""
    topic = room.topic("latency")
    events = RATE_PER_S * (WARMUP_S + MEASURED_S)
    publisher = room.start_publisher(topic, f"constant:{RATE_PER_S}/s", events)
    _, out = bare.order(topic, seconds=WARMUP_S + MEASURED_S + 15)
    publisher.wait(60)
    begin_ms = publisher.result().start_at_epoch_ns / 1e6 + WARMUP_S * 1000
    found = [
        np.asarray(batch["append_ms"]) - np.asarray(batch["origin_append_ms"])
        for batch in read_records(room.cluster, out)
        for batch in [batch.filter(np.asarray(batch["origin_append_ms"]) >= begin_ms)]
    ]
    room.cluster.delete_topics([topic, out])
    return float(np.median(np.concatenate(found)))


def latency(room: Room) -> None:
    """Wordcount on both engines, warm."""
    request = RunRequest(
        applications=("wordcount",),
        load=f"constant:{RATE_PER_S}/s",
        for_s=MEASURED_S,
        warmup_s=WARMUP_S,
        repeat=REPEATS,
        kafka=room.cluster.bootstrap,
        out=Path(room.folder / "runs"),
    )
    realtime = _on_engine(room, request, "spark-realtime", True)
    microbatch = _on_engine(room, request, "spark-microbatch", False)
    inside = [r["output_latency_ms"]["p50"] for r in realtime.records]
    lab, bare = float(np.median(inside)), float(np.median(realtime.bare_p50_ms))
    room.figures.append(
        Figure(
            "median output latency at 500/s, wordcount, spark-realtime: lab against bare",
            f"{lab / max(bare, 1):.2f}× ({lab - bare:+.0f} ms)",
            "≤ 1.05× or + 1 ms",
            lab <= max(1.05 * bare, bare + 1),
            f"lab {inside} ms; bare {realtime.bare_p50_ms} ms",
        )
    )
    fast = [r["latency_ms"]["p50"] for r in realtime.records]
    slow = [r["latency_ms"]["p50"] for r in microbatch.records]
    ratio = float(np.median(slow) / np.median(fast))
    room.figures.append(
        Figure(
            "median event latency at 500/s, wordcount: spark-microbatch ÷ spark-realtime",
            f"{ratio:.0f}×",
            "≥ 50×",
            ratio >= 50,
            f"spark-microbatch {slow} ms; spark-realtime {fast} ms",
        )
    )


def _on_engine(room: Room, request: RunRequest, engine: str, beside_bare: bool) -> Collecting:
    bare = BareProcess(room, "wordcount", engine) if beside_bare else None
    try:
        if bare is not None:
            bare_median_ms(room, bare)
        listener = Collecting(bare, room)
        conduct_run(RunRequest(**{**vars(request), "engines": (engine,)}), listener)
        return listener
    finally:
        if bare is not None:
            bare.close()
