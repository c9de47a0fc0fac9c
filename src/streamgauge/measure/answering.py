"""Which output answers which event: the one reading of a trial's answers that every figure of time is taken from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from streamgauge.measure.window import attach_inputs
from streamgauge.model.application import LatestPerKey, Matching, PerEvent
from streamgauge.store.tables import Table, attach, column_types, detach, one_row, quoted, text_literal

MAX_ROWS = 5_000_000
"""Up to so many touches of an answer its answered events are kept in memory; beyond, in a file where others spill.

Beyond, the touched events are written down as well before they meet the outputs: in one query its distinct, hash join
and asof join hold memory at the same time, and DuckDB gave up at 50 million touches instead of spilling.
"""


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
                for file in (_kept_file(connection, each.events), _touched_file(connection, each.events)):
                    file.unlink(missing_ok=True)
            detach(connection, f"answer_touch_{number}")
            detach(connection, each.outputs)


def _readable(connection: duckdb.DuckDBPyConnection, number: int, answer: Answer, max_rows: int) -> Answered:
    outputs, touches, events = f"answer_output_{number}", f"answer_touch_{number}", f"answered_event_{number}"
    attach(connection, outputs, answer.outputs)
    if isinstance(answer.matching, PerEvent):
        spills, query = _rows(connection, outputs) > max_rows, _answered_per_event(outputs)
    elif answer.touches is not None:
        attach(connection, touches, answer.touches)
        spills, touched = _rows(connection, touches) > max_rows, _touched_events(connection, answer.matching, touches)
        if spills:
            touched = _written(connection, touched, _touched_file(connection, events))
        query = _answered_per_key(connection, answer.matching, outputs, touches, touched)
    else:
        return Answered(answer, outputs, None)
    if spills:
        query = _written(connection, query, _kept_file(connection, events))
        _touched_file(connection, events).unlink(missing_ok=True)
    else:
        connection.execute(f"create or replace temp table kept_{events} as {query}")
        query = f"from kept_{events}"
    connection.execute(f"create or replace temp view {events} as {query}")
    return Answered(answer, outputs, events)


def _rows(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    return int(one_row(connection, f"select count(*) from {name}")[0])


def _written(connection: duckdb.DuckDBPyConnection, query: str, file: Path) -> str:
    """SQL: the rows of the query, which are written to the file."""
    connection.execute(f"copy ({query}) to {text_literal(str(file))} (format parquet, compression lz4)")
    return f"from {text_literal(str(file))}"


def _kept_file(connection: duckdb.DuckDBPyConnection, events: str) -> Path:
    (folder,) = one_row(connection, "select current_setting('temp_directory')")
    return Path(folder) / f"{events}.parquet"


def _touched_file(connection: duckdb.DuckDBPyConnection, events: str) -> Path:
    return _kept_file(connection, f"touched_{events}")


def _answered_per_event(outputs: str) -> str:
    return f"""
        select e."index", e."partition", e."offset", e.append_ms, e.due_ms, o.answered_ms
        from (select origin_partition, origin_offset, min(append_ms) as answered_ms
              from {outputs} group by origin_partition, origin_offset) o
        join input_event e on e."partition" = o.origin_partition and e."offset" = o.origin_offset
    """


def _touched_events(connection: duckdb.DuckDBPyConnection, matching: LatestPerKey, touches: str) -> str:
    """SQL: each event with each key that it touches, and its place in the order of 'latest'.

    Keys are compared by a 64-bit hash, so that NULL and any type will do and rows keep a fixed width.
    """
    key = f"hash({', '.join(quoted(name) for name in matching.key)})"
    return f"""
        select t.key_hash, e."index", e."partition", e."offset", e.append_ms, e.due_ms,
               {_Order.of(connection).place("e.append_ms", 'e."partition"', 'e."offset"')} as place
        from (select distinct {key} as key_hash, "partition", "offset" from {touches}) t
        join input_event e on e."partition" = t."partition" and e."offset" = t."offset"
    """


def _answered_per_key(
    connection: duckdb.DuckDBPyConnection, matching: LatestPerKey, outputs: str, touches: str, touched: str
) -> str:
    """SQL: each touched event with the first output of its key whose latest input is not before the event."""
    types = column_types(connection, touches)
    key = f"hash({', '.join(f'cast({quoted(name)} as {types[name]})' for name in matching.key)})"
    return f"""
        with event as ({touched}),
        reached as (
            select key_hash, place, min(append_ms) as answered_ms from (
                select key_hash, append_ms, max(place) over (
                    partition by key_hash order by append_ms, "partition", "offset" rows unbounded preceding) as place
                from (
                    select {key} as key_hash, append_ms, "partition", "offset",
                           {_Order.of(connection).place("origin_append_ms", "origin_partition", "origin_offset")}
                           as place
                    from {outputs} where origin_partition is not null))
            group by key_hash, place
        )
        select event."index", event."partition", event."offset", event.append_ms, event.due_ms, reached.answered_ms
        from event asof join reached on event.key_hash = reached.key_hash and event.place <= reached.place
    """


@dataclass(frozen=True)
class _Order:
    """How inputs are ordered, as 'latest' does: by append time, then offset, then partition, in one number."""

    first_ms: int
    last_ms: int
    most_offset: int
    most_partition: int

    @staticmethod
    def of(connection: duckdb.DuckDBPyConnection) -> _Order:
        ranges = 'min(append_ms), max(append_ms), max("offset"), max("partition")'
        return _Order(*(int(each or 0) for each in one_row(connection, f"select {ranges} from input_event")))

    def place(self, append_ms: str, partition: str, offset: str) -> str:
        """SQL: the number, of 64 bits where the ranges allow it, which is faster; out of a range is at its end."""
        widths = [n.bit_length() for n in (self.last_ms - self.first_ms, self.most_offset, self.most_partition)]
        kind = "bigint" if sum(widths) < 63 else "hugeint"
        since = _within(f"{append_ms} - {self.first_ms}", self.last_ms - self.first_ms)
        at, within = _within(offset, self.most_offset), _within(partition, self.most_partition)
        return f"(({since})::{kind} << {widths[1] + widths[2]}) + (({at})::{kind} << {widths[2]}) + ({within})::{kind}"


def _within(number: str, most: int) -> str:
    return f"least(greatest({number}, 0), {most})"
