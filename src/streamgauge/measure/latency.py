"""Latencies of a trial, from the log's own timestamps: per event, per output, and from the due time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.measure.answering import Answered
from streamgauge.measure.quantiles import Quantiles, quantiles_of_counts, quantiles_of_table
from streamgauge.measure.window import Window

MAX_SAMPLES = 5_000_000
MOST_SLOTS = 3_600
"""Counts are kept of each second; of a longer trial, of slots of as many seconds as give no more slots than this."""
KINDS = ("event", "output", "due")
_WARMUP_LAST_HALF = -1
_COUNTS = pa.schema([("kind", pa.string()), *((n, pa.int64()) for n in ("second", "latency_ms", "count"))])


@dataclass(frozen=True)
class Latencies:
    """Latencies of the measured events, as counts per millisecond and second and, where they fit, one by one."""

    counts: pa.Table
    """(kind, second, latency_ms, count); a negative latency is in it as 0."""
    samples: pa.Table | None
    """(kind, at_ms, latency_ms), or None beyond MAX_SAMPLES: then the counts are all that is kept."""
    negative: dict[str, int]
    """How many latencies of each kind were below 0."""
    event: Quantiles
    output: Quantiles
    due: Quantiles
    warmup_last_half_p50_ms: int | None
    first_third_p50_ms: int | None
    last_third_p50_ms: int | None

    @property
    def samples_kept(self) -> bool:
        """Whether every latency is kept one by one."""
        return self.samples is not None


def measure_latencies(
    connection: duckdb.DuckDBPyConnection,
    answered: Sequence[Answered],
    window: Window,
    max_samples: int = MAX_SAMPLES,
    *,
    arrived_ms: int = 0,
) -> Latencies:
    """Latencies of all outputs together; an event counts once for each output and, in it, for each key it touches.

    The samples are counted as they are made: they become rows only where all of them fit. What was appended before
    `arrived_ms` arrives then: under a preloaded load, when the job starts, however long the log was filled before.
    """
    samples = _samples_of(answered, arrived_ms)
    raw = connection.sql(_counting(samples, window)).to_arrow_table()
    measured = raw.filter(pc.greater_equal(raw["phase"], 0))
    total = pc.sum(measured["count"]).as_py() or 0
    below = measured.filter(pc.less(measured["latency_ms"], 0))
    counts = _clamped(measured)
    return Latencies(
        counts=counts,
        samples=_kept(connection, samples, window) if total <= max_samples else None,
        negative={kind: pc.sum(_of(below, "kind", kind)["count"]).as_py() or 0 for kind in KINDS},
        event=quantiles_of_table(counts, "latency_ms", "event"),
        output=quantiles_of_table(counts, "latency_ms", "output"),
        due=quantiles_of_table(counts, "latency_ms", "due"),
        **_medians_over_time(raw),
    )


def slot_seconds(window: Window) -> int:
    """How many seconds of the window share one slot of the counts."""
    seconds = (window.end_ms - window.start_ms) // 1000 + 1
    return max(1, -(-seconds // MOST_SLOTS))


def _samples_of(answered: Sequence[Answered], arrived_ms: int) -> str:
    """SQL for (kind, index, at_ms, latency_ms) of every sample of all answers."""
    parts = []
    for each in answered:
        parts.append(
            f"""
            select 'output' as kind, e."index", o.origin_append_ms as at_ms,
                   o.append_ms - greatest(o.origin_append_ms, {arrived_ms}) as latency_ms
            from {each.outputs} o join input_event e
              on e."partition" = o.origin_partition and e."offset" = o.origin_offset
            """
        )
        if each.events is not None:
            waited = f"answered_ms - greatest(append_ms, {arrived_ms})"
            parts.append(f"select 'event', \"index\", append_ms, {waited} from {each.events}")
            parts.append(
                f"select 'due', \"index\", append_ms, round(answered_ms - due_ms)::bigint from {each.events}"
                " where due_ms is not null"
            )
    return " union all ".join(parts)


def _counting(samples: str, window: Window) -> str:
    """SQL for (kind, phase, second, latency_ms, count); a phase is a third of the measured events, or below 0."""
    first, measured = window.warmup_events, window.last_index - window.warmup_events + 1
    width = slot_seconds(window)
    return f"""
        select kind,
               case when "index" >= {first} then ("index" - {first}) * 3 // {measured}
                    when "index" * 2 >= {first} then {_WARMUP_LAST_HALF} else {_WARMUP_LAST_HALF - 1} end as phase,
               floor((at_ms - {window.start_ms}) / {1000 * width})::bigint * {width} as second,
               latency_ms::bigint as latency_ms, count(*)::bigint as count
        from ({samples}) group by all
    """


def _clamped(measured: pa.Table) -> pa.Table:
    """Counts without their phases, what is below 0 as 0, in order."""
    clamped = measured.set_column(
        measured.schema.get_field_index("latency_ms"), "latency_ms", pc.max_element_wise(measured["latency_ms"], 0)
    )
    found = clamped.group_by(["kind", "second", "latency_ms"]).aggregate([("count", "sum")])
    named = found.rename_columns(["kind", "second", "latency_ms", "count"]).cast(_COUNTS)
    return named.sort_by([("kind", "ascending"), ("second", "ascending"), ("latency_ms", "ascending")])


def _kept(connection: duckdb.DuckDBPyConnection, samples: str, window: Window) -> pa.Table:
    return connection.sql(
        f"""
        select kind, at_ms, latency_ms from ({samples}) where "index" >= {window.warmup_events}
        order by kind, at_ms, latency_ms
        """
    ).to_arrow_table()


def _medians_over_time(raw: pa.Table) -> dict[str, Any]:
    events = _of(raw, "kind", "event")
    values = pc.max_element_wise(events["latency_ms"], 0)
    phases = {"warmup_last_half_p50_ms": _WARMUP_LAST_HALF, "first_third_p50_ms": 0, "last_third_p50_ms": 2}
    found = {}
    for name, phase in phases.items():
        mine = pc.equal(events["phase"], phase)
        known = quantiles_of_counts(values.filter(mine).to_numpy(), events["count"].filter(mine).to_numpy())
        found[name] = known.percentiles["p50"]
    return found


def _of(table: pa.Table, column: str, value: str) -> pa.Table:
    return table.filter(pc.equal(table[column], value))
