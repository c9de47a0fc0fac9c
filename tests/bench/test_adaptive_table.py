"""The bench of the dual-paradigm engine finds the tables of what it heard of, finer than the record's milliseconds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
from bench.adaptive import ENGINES, ByEngine, low_rate

from streamgauge.store.stored_run import StoredRun

RECORD: dict[str, Any] = {
    "status": "done",
    "valid": True,
    "verdict": {"correct": True},
    "latency_ms": {"p50": 1},
    "scheduler": {},
}
LATENCIES_MS = dict(zip(ENGINES, (150, 2, 2), strict=True))


class Stored(StoredRun):
    """A run whose trials have one latency each, that of their engine."""

    def __init__(self) -> None: ...

    def table(self, trial: Any, name: str) -> pa.Table:
        """What the real one finds by the trial's number."""
        latency_ms = list(LATENCIES_MS.values())[int(trial["number"]) - 1]
        return pa.table({"kind": ["event"], "second": [0], "latency_ms": [latency_ms], "count": [10]})


def test_the_low_rate_is_taken_from_the_stored_tables_of_the_trials_that_were_heard_of() -> None:
    heard, room = ByEngine(), SimpleNamespace(figures=[])
    for number, engine in enumerate(ENGINES, 1):
        trial = SimpleNamespace(application="wordcount", engine=engine, load="constant:500/s")
        heard.finished(number, trial, dict(RECORD))
    found = {engine: [{**r, "run": Stored()} for r in records] for engine, records in heard.found.items()}
    low_rate(room, "wordcount", found)  # type: ignore[arg-type]
    assert [figure.seen for figure in room.figures] == ["60×", "1.00×"]
    assert all(figure.reached for figure in room.figures)
