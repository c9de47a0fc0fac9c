"""How long the page takes for the percentiles of a brushed span, over as many raw samples as a trial may keep."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.room import Figure, Room
from streamgauge.dashboard.samples import SampleReader
from streamgauge.measure.latency import KINDS, MAX_SAMPLES
from streamgauge.measure.spans import Span
from streamgauge.model import Trial
from streamgauge.store import RunStore, StoredRun, trial_record

SECONDS = 600
MOST_MS = 200
REPEATS = 9
STARTED_MS = 1_760_000_000_000
SPANS = {"a sixth": Span(100, 200), "nearly all": Span(0.5, SECONDS - 0.5)}


def brushing(room: Room) -> None:
    """The median time of some spans, after the first question."""
    stored = stored_samples(room.folder / "brushed")
    reader = SampleReader()
    for name, span in SPANS.items():
        took = [_asked_ms(reader, stored, span) for _ in range(REPEATS)]
        middle = statistics.median(took[1:])
        raw = f"{MAX_SAMPLES:,} samples, first {took[0]:.0f} ms, then {min(took[1:]):.0f} to {max(took[1:]):.0f} ms"
        seen, goal = f"{middle:.0f} ms", f"< {MOST_MS} ms"
        room.figures.append(Figure(f"brushing {name} of a trial", seen, goal, middle < MOST_MS, raw))


def _asked_ms(reader: SampleReader, stored: StoredRun, span: Span) -> float:
    began = time.perf_counter()
    ((_, _, found),) = reader.spans(stored, [1], span, KINDS[0])
    assert found.quantiles.n > 0
    return (time.perf_counter() - began) * 1000


def stored_samples(root: Path) -> StoredRun:
    """A run of one trial with as many samples as are kept, of every kind as many, in the order of the store."""
    rng = np.random.default_rng(1)
    each = MAX_SAMPLES // len(KINDS)
    parts = []
    for kind in sorted(KINDS):
        at_ms = np.sort(STARTED_MS + rng.integers(0, SECONDS * 1000, each))
        waited = np.round(rng.lognormal(4, 1, each)).astype(np.int64)
        same = pa.array([kind]).take(pa.array(np.zeros(each, np.int8)))
        parts.append(pa.table({"kind": same, "at_ms": at_ms, "latency_ms": waited}))
    trial = Trial("wordcount", "spark-realtime", "constant:2700/s", 1, each, 0)
    known = {"verdict": {"correct": True}, "latency_ms": {"n": each}, "started_at_ms": STARTED_MS, "samples_kept": True}
    writer = RunStore(root).create(command="bench", trials=1)
    writer.add_trial(trial_record(trial, "done", **known), {"samples": pa.concat_tables(parts)})
    writer.finish("complete")
    return StoredRun.open(writer.folder)
