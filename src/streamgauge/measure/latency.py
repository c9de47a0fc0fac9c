"""Latencies of a trial, from the log's own timestamps: per event, per output, and from the due time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from streamgauge.measure.quantiles import Quantiles, quantiles_of_table
from streamgauge.measure.window import Window, attach_inputs
from streamgauge.model.application import LatestPerKey, Matching, PerEvent
from streamgauge.store.tables import Table, attach, column_types, detach, one_row, quoted

MAX_SAMPLES = 5_000_000
KINDS = ("event", "output", "due")


@dataclass(frozen=True)
class Answer:
    """One output of the application: its decoded records, how they are matched, and which keys each event touches."""

    outputs: Table
    matching: Matching
    touches: Table | None = None


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
    inputs: Sequence[Table],
    answers: Sequence[Answer],
    window: Window,
    max_samples: int = MAX_SAMPLES,
) -> Latencies:
    """Latencies of all outputs together; an event counts once for each output and, in it, for each key it touches."""
    attach_inputs(connection, inputs)
    connection.execute(
        'create or replace temp table latency_sample(kind varchar, "index" bigint, at_ms bigint, latency_ms bigint)'
    )
    for answer in answers:
        attach(connection, "answer_output", answer.outputs)
        _add_output_latencies(connection)
        if isinstance(answer.matching, PerEvent):
            _add_event_latencies(connection, _answered_per_event())
        elif answer.touches is not None:
            attach(connection, "answer_touch", answer.touches)
            _add_event_latencies(connection, _answered_per_key(connection, answer.matching))
            detach(connection, "answer_touch")
        detach(connection, "answer_output")
    found = _summed_up(connection, window, max_samples)
    connection.execute("drop table latency_sample")
    return found


def _add_output_latencies(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        """
        insert into latency_sample
        select 'output', e."index", o.origin_append_ms, o.append_ms - o.origin_append_ms
        from answer_output o join input_event e
          on e."partition" = o.origin_partition and e."offset" = o.origin_offset
        """
    )


def _add_event_latencies(connection: duckdb.DuckDBPyConnection, answered: str) -> None:
    """From SQL for (index, append_ms, due_ms, answered_ms) of each answered event: since its append, and since due."""
    connection.execute(f"create or replace temp table answered_event as {answered}")
    connection.execute(
        """
        insert into latency_sample
        select 'event', "index", append_ms, answered_ms - append_ms from answered_event
        union all
        select 'due', "index", append_ms, round(answered_ms - due_ms)::bigint from answered_event
        where due_ms is not null
        """
    )
    connection.execute("drop table answered_event")


def _answered_per_event() -> str:
    return """
        select e."index", e.append_ms, e.due_ms, o.answered_ms
        from (select origin_partition, origin_offset, min(append_ms) as answered_ms
              from answer_output group by origin_partition, origin_offset) o
        join input_event e on e."partition" = o.origin_partition and e."offset" = o.origin_offset
    """


def _answered_per_key(connection: duckdb.DuckDBPyConnection, matching: LatestPerKey) -> str:
    """SQL: each touch with the first output of its key whose latest input is not before the event.

    Keys are compared by a 64-bit hash, so that NULL and any type will do and rows keep a fixed width.
    """
    types = column_types(connection, "answer_touch")
    touched_key = f"hash({', '.join(quoted(name) for name in matching.key)})"
    output_key = f"hash({', '.join(f'cast({quoted(name)} as {types[name]})' for name in matching.key)})"
    return f"""
        with touch as (
            select distinct {touched_key} as key_hash, "partition", "offset" from answer_touch
        ),
        event as (
            select t.key_hash, e."index", e.append_ms, e.due_ms,
                   {_instant_order("e.append_ms", 'e."partition"', 'e."offset"')} as place
            from touch t join input_event e on e."partition" = t."partition" and e."offset" = t."offset"
        ),
        reached as (
            select key_hash, place, min(append_ms) as answered_ms from (
                select key_hash, append_ms, max(place) over (
                    partition by key_hash order by append_ms, "partition", "offset" rows unbounded preceding) as place
                from (
                    select {output_key} as key_hash, append_ms, "partition", "offset",
                           {_instant_order("origin_append_ms", "origin_partition", "origin_offset")} as place
                    from answer_output where origin_partition is not null))
            group by key_hash, place
        )
        select event."index", event.append_ms, event.due_ms, reached.answered_ms
        from event asof join reached on event.key_hash = reached.key_hash and event.place <= reached.place
    """


def _instant_order(append_ms: str, partition: str, offset: str) -> str:
    """SQL: one number that orders inputs as 'latest' does: by append time, then offset, then partition."""
    return f"(({append_ms})::hugeint << 64) + (({offset})::hugeint << 20) + {partition}"


def _summed_up(connection: duckdb.DuckDBPyConnection, window: Window, max_samples: int) -> Latencies:
    measured = f'select * from latency_sample where "index" >= {window.warmup_events}'
    counts = connection.sql(
        f"""
        select kind, floor((at_ms - {window.start_ms}) / 1000)::bigint as second,
               greatest(latency_ms, 0) as latency_ms, count(*) as count
        from ({measured}) group by all order by kind, second, latency_ms
        """
    ).to_arrow_table()
    negative = dict.fromkeys(KINDS, 0)
    negative.update(
        connection.execute(f"select kind, count(*) from ({measured}) where latency_ms < 0 group by kind").fetchall()
    )
    return Latencies(
        counts=counts,
        samples=_samples(connection, measured, max_samples),
        negative=negative,
        event=quantiles_of_table(counts, "latency_ms", "event"),
        output=quantiles_of_table(counts, "latency_ms", "output"),
        due=quantiles_of_table(counts, "latency_ms", "due"),
        **_medians_over_time(connection, window),
    )


def _samples(connection: duckdb.DuckDBPyConnection, measured: str, max_samples: int) -> pa.Table | None:
    (total,) = one_row(connection, f"select count(*) from ({measured})")
    if total > max_samples:
        return None
    return connection.sql(
        f"select kind, at_ms, latency_ms from ({measured}) order by kind, at_ms, latency_ms"
    ).to_arrow_table()


def _medians_over_time(connection: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Any]:
    first, measured_indices = window.warmup_events, window.last_index - window.warmup_events + 1
    third = f'("index" - {first}) * 3 // {measured_indices}'
    median = "quantile_disc(greatest(latency_ms, 0), 0.5)"
    found = one_row(
        connection,
        f"""
        select {median} filter ("index" < {first} and "index" * 2 >= {first}),
               {median} filter ("index" >= {first} and {third} = 0),
               {median} filter ("index" >= {first} and {third} = 2)
        from latency_sample where kind = 'event'
        """,
    )
    names = ("warmup_last_half_p50_ms", "first_third_p50_ms", "last_third_p50_ms")
    return {name: None if value is None else int(value) for name, value in zip(names, found, strict=True)}
