"""Which output answers which event: the one reading of a trial's answers that every figure of time is taken from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb

from streamgauge.measure.window import attach_inputs
from streamgauge.model.application import LatestPerKey, Matching, PerEvent
from streamgauge.store.tables import Table, attach, column_types, detach, one_row, quoted

MAX_ROWS = 5_000_000
"""Up to so many touches of an answer its answered events are kept as rows; beyond, they are made when they are read."""


@dataclass(frozen=True)
class Answer:
    """One output of the application: its decoded records, how they are matched, and which keys each event touches."""

    outputs: Table
    matching: Matching
    touches: Table | None = None
    stage: str = ""
    """The output's name, by which the query that wrote it is known in the engine's progress."""


@dataclass(frozen=True)
class Answered:
    """Names of an answer's tables in the connection."""

    answer: Answer
    outputs: str
    """The records as they were decoded."""
    events: str | None
    """(index, partition, offset, append_ms, due_ms, answered_ms) of each answered event; None without touches."""


@contextlib.contextmanager
def answering(
    connection: duckdb.DuckDBPyConnection, inputs: Sequence[Table], answers: Sequence[Answer], max_rows: int = MAX_ROWS
) -> Iterator[list[Answered]]:
    """The answers, readable in the connection as long as the context lasts, and the inputs as `input_event`."""
    attach_inputs(connection, inputs)
    found = [_readable(connection, number, answer, max_rows) for number, answer in enumerate(answers)]
    try:
        yield found
    finally:
        for number, each in enumerate(found):
            if each.events:
                connection.execute(f"drop view if exists {each.events}")
                connection.execute(f"drop table if exists kept_{each.events}")
            detach(connection, f"answer_touch_{number}")
            detach(connection, each.outputs)


def _readable(connection: duckdb.DuckDBPyConnection, number: int, answer: Answer, max_rows: int) -> Answered:
    outputs, touches, events = f"answer_output_{number}", f"answer_touch_{number}", f"answered_event_{number}"
    attach(connection, outputs, answer.outputs)
    if isinstance(answer.matching, PerEvent):
        query, candidates = _answered_per_event(outputs), outputs
    elif answer.touches is not None:
        attach(connection, touches, answer.touches)
        query, candidates = _answered_per_key(connection, answer.matching, outputs, touches), touches
    else:
        return Answered(answer, outputs, None)
    (rows,) = one_row(connection, f"select count(*) from {candidates}")
    if rows <= max_rows:
        connection.execute(f"create or replace temp table kept_{events} as {query}")
        query = f"select * from kept_{events}"
    connection.execute(f"create or replace temp view {events} as {query}")
    return Answered(answer, outputs, events)


def _answered_per_event(outputs: str) -> str:
    return f"""
        select e."index", e."partition", e."offset", e.append_ms, e.due_ms, o.answered_ms
        from (select origin_partition, origin_offset, min(append_ms) as answered_ms
              from {outputs} group by origin_partition, origin_offset) o
        join input_event e on e."partition" = o.origin_partition and e."offset" = o.origin_offset
    """


def _answered_per_key(connection: duckdb.DuckDBPyConnection, matching: LatestPerKey, outputs: str, touches: str) -> str:
    """SQL: each touch with the first output of its key whose latest input is not before the event.

    Keys are compared by a 64-bit hash, so that NULL and any type will do and rows keep a fixed width.
    """
    types = column_types(connection, touches)
    touched_key = f"hash({', '.join(quoted(name) for name in matching.key)})"
    output_key = f"hash({', '.join(f'cast({quoted(name)} as {types[name]})' for name in matching.key)})"
    return f"""
        with touch as (
            select distinct {touched_key} as key_hash, "partition", "offset" from {touches}
        ),
        event as (
            select t.key_hash, e."index", e."partition", e."offset", e.append_ms, e.due_ms,
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
                    from {outputs} where origin_partition is not null))
            group by key_hash, place
        )
        select event."index", event."partition", event."offset", event.append_ms, event.due_ms, reached.answered_ms
        from event asof join reached on event.key_hash = reached.key_hash and event.place <= reached.place
    """


def _instant_order(append_ms: str, partition: str, offset: str) -> str:
    """SQL: one number that orders inputs as 'latest' does: by append time, then offset, then partition."""
    return f"(({append_ms})::hugeint << 64) + (({offset})::hugeint << 20) + {partition}"
