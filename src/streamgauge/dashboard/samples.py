"""Raw samples of stored trials, asked with DuckDB: one connection for the server, a cursor for each question."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from streamgauge.measure.spans import Span, SpanQuantiles, of_counts, of_samples
from streamgauge.measure.validity import Record, measured
from streamgauge.model.errors import StoreError
from streamgauge.report.overlay import trial_names
from streamgauge.store import StoredRun
from streamgauge.store.tables import connect

_MEMORY = "1GB"


class SampleReader:
    """Quantiles of spans of time; the connection is made when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._spill: tempfile.TemporaryDirectory[str] | None = None

    def spans(
        self, stored: StoredRun, numbers: Sequence[int], span: Span, kind: str
    ) -> list[tuple[int, str, SpanQuantiles]]:
        """Number, name and quantiles of each of the trials within the span."""
        records = [record for record in stored.trials if measured(record)]
        named = {r["number"]: (name, r) for r, name in zip(records, trial_names(records), strict=True)}
        with self._cursor() as cursor:
            return [(n, named[n][0], _of_trial(cursor, stored, named[n][1], span, kind)) for n in numbers]

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._connection is None:
                self._spill = tempfile.TemporaryDirectory(prefix="streamgauge-serve-")
                self._connection = connect(Path(self._spill.name), _MEMORY)
            return self._connection.cursor()


def _of_trial(
    cursor: duckdb.DuckDBPyConnection, stored: StoredRun, record: Record, span: Span, kind: str
) -> SpanQuantiles:
    """From the samples where they were kept, else from the counts, which hold a whole trial exactly."""
    paths = stored.table_paths(record)
    started = record.get("started_at_ms")
    try:
        if span.unbounded and "latency" in paths:
            return replace(of_counts(cursor, paths["latency"], span, kind), exact=True)
        if "samples" in paths and started is not None:
            return of_samples(cursor, paths["samples"], float(started), span, kind)
        if "latency" in paths:
            return of_counts(cursor, paths["latency"], span, kind)
    except duckdb.Error as error:
        first = str(error).strip().splitlines()[0]
        raise StoreError(f"the samples of trial {record['number']} cannot be read ({first[:200]})") from error
    raise StoreError(f"trial {record['number']} has no samples", "Run it again for its figures")
