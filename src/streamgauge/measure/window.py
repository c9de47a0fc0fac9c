"""The measured window: the events after the warm-up. It is fixed before the trial and never moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from streamgauge.model.errors import UserError
from streamgauge.store.tables import Table, attach, one_row, quoted


@dataclass(frozen=True)
class Window:
    """The measured events: those with index ≥ warmup_events, and the instants between which they were appended."""

    warmup_events: int
    last_index: int
    events: int
    bytes: int
    start_ms: int
    end_ms: int


def attach_inputs(connection: duckdb.DuckDBPyConnection, inputs: Sequence[Table]) -> None:
    """Make the events of all inputs readable as one table `input_event`."""
    parts = []
    for number, table in enumerate(inputs):
        attach(connection, f"input_{number}", table)
        parts.append(
            f'select "index", "partition", "offset", append_ms, due_ms::double as due_ms, bytes'
            f" from {quoted(f'input_{number}')}"
        )
    connection.execute(f"create or replace temp view input_event as {' union all '.join(parts)}")


def largest_partition_share(connection: duckdb.DuckDBPyConnection) -> float:
    """Which share of all events lies in the partition that has the most, of the inputs that are attached."""
    found = one_row(
        connection,
        'select max(n) / sum(n) from (select count(*)::double as n from input_event group by "partition")',
    )
    return float(found[0])


def measured_window(connection: duckdb.DuckDBPyConnection, inputs: Sequence[Table], warmup_events: int) -> Window:
    """The window of a trial whose first `warmup_events` events of each input are left out."""
    attach_inputs(connection, inputs)
    found = one_row(
        connection,
        """
        select max("index"), count(*), sum(bytes), min(append_ms), max(append_ms)
        from input_event where "index" >= ?
        """,
        [warmup_events],
    )
    if found[1] == 0:
        raise UserError(
            f"no event is left to measure after the warm-up of {warmup_events} events",
            "Publish more events, or shorten the warm-up",
        )
    return Window(warmup_events, *(int(value) for value in found))
