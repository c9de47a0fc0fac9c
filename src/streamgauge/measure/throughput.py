"""Throughput of a trial: what was consumed and written in each second, from outputs' origins and the job's commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from streamgauge.measure.window import Window, attach_inputs
from streamgauge.store.tables import Table, attach, detach, one_row, quoted

TENTH_MS = 100


@dataclass(frozen=True)
class Commits:
    """What a job had committed when."""

    rows: np.ndarray
    """(instant in ms, partition as origins count them, offset before which all was committed)"""

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, int]]) -> Commits:
        """From a tuple for each."""
        return cls(np.array(rows, dtype=np.int64).reshape(-1, 3))

    def by_slot(self, start_ms: int, width_ms: int) -> np.ndarray:
        """The rows with the number of the slot since `start_ms` for the instant."""
        return np.column_stack([(self.rows[:, 0] - start_ms) // width_ms, self.rows[:, 1:]])


NO_COMMITS = Commits.of([])


@dataclass(frozen=True)
class Throughput:
    """Rates over the measured window; None where there was no output to take them from."""

    table: pa.Table
    """(second, in_events, consumed_events, out_records), second 0 beginning at start_ms."""
    start_ms: int
    events_per_s: float | None
    p5_events_per_s: float | None
    mb_per_s: float | None
    nodes: int
    time_to_first_output_s: float | None
    drain_s: float | None
    outputs_per_s: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain JSON values."""
        return {
            "events_per_s": self.events_per_s,
            "p5_events_per_s": self.p5_events_per_s,
            "mb_per_s": self.mb_per_s,
            "events_per_s_per_node": None if self.events_per_s is None else self.events_per_s / self.nodes,
            "mb_per_s_per_node": None if self.mb_per_s is None else self.mb_per_s / self.nodes,
            "time_to_first_output_s": self.time_to_first_output_s,
            "drain_s": self.drain_s,
            "outputs_per_s": self.outputs_per_s,
        }


def measure_throughput(
    connection: duckdb.DuckDBPyConnection,
    inputs: Sequence[Table],
    outputs: Sequence[Table],
    window: Window,
    *,
    commits: Commits = NO_COMMITS,
    job_started_ms: int | None = None,
    nodes: int = 1,
) -> Throughput:
    """Rates from the window's start, or from the job's start where that came later (events were waiting for it)."""
    attach_inputs(connection, inputs)
    _attach_outputs(connection, outputs)
    start_ms = max(window.start_ms, job_started_ms or 0)
    first, last = one_row(connection, "select min(append_ms), max(append_ms) from output_record")
    first_input, last_input = one_row(connection, "select min(append_ms), max(append_ms) from input_event")
    table = _per_second(connection, start_ms, commits)
    for number in range(len(outputs)):
        detach(connection, f"output_{number}")
    if last is None or last < start_ms:
        return Throughput(table, start_ms, None, None, None, nodes, None, None)
    seconds = max(last - start_ms, 1) / 1000
    waited_from = max(first_input, job_started_ms or 0)
    return Throughput(
        table=table,
        start_ms=start_ms,
        events_per_s=window.events / seconds,
        p5_events_per_s=_fifth_percentile(table, (last - start_ms) // 1000),
        mb_per_s=window.bytes / 1e6 / seconds,
        nodes=nodes,
        time_to_first_output_s=(first - waited_from) / 1000,
        drain_s=max(last - max(last_input, start_ms), 0) / 1000,
        outputs_per_s=int(table["out_records"].to_numpy().sum()) / seconds,
    )


def _attach_outputs(connection: duckdb.DuckDBPyConnection, outputs: Sequence[Table]) -> None:
    parts = []
    for number, table in enumerate(outputs):
        attach(connection, f"output_{number}", table)
        parts.append(f"select append_ms, origin_partition, origin_offset from {quoted(f'output_{number}')}")
    connection.execute(f"create or replace temp view output_record as {' union all '.join(parts)}")


def _per_second(connection: duckdb.DuckDBPyConnection, start_ms: int, commits: Commits) -> pa.Table:
    published, consumed, written = _per_slot(connection, start_ms, 1000, commits)
    return pa.table(
        {
            "second": pa.array(np.arange(len(written))),
            "in_events": pa.array(published),
            "consumed_events": pa.array(consumed),
            "out_records": pa.array(written),
        }
    )


def measure_tenths(
    connection: duckdb.DuckDBPyConnection,
    inputs: Sequence[Table],
    outputs: Sequence[Table],
    start_ms: int,
    commits: Commits = NO_COMMITS,
) -> pa.Table:
    """What came in, was consumed and went out in every tenth of a second, with its first and last output's instant.

    (at_ms, in_events, consumed_events, out_records, first_out_ms, last_out_ms); the first slot begins at `start_ms`.
    """
    attach_inputs(connection, inputs)
    _attach_outputs(connection, outputs)
    published, consumed, written = _per_slot(connection, start_ms, TENTH_MS, commits)
    slots = np.arange(len(written))
    instants = connection.execute(
        f"""
        select (append_ms - {start_ms}) // {TENTH_MS}, min(append_ms), max(append_ms)
        from output_record where append_ms >= {start_ms} group by 1
        """
    ).fetchall()
    for number in range(len(outputs)):
        detach(connection, f"output_{number}")
    first, last = np.zeros(len(slots), dtype=np.int64), np.zeros(len(slots), dtype=np.int64)
    for slot, earliest, latest in instants:
        first[slot], last[slot] = earliest, latest
    silent = written == 0
    return pa.table(
        {
            "at_ms": pa.array(start_ms + slots * TENTH_MS),
            "in_events": pa.array(published),
            "consumed_events": pa.array(consumed),
            "out_records": pa.array(written),
            "first_out_ms": pa.array(first, mask=silent),
            "last_out_ms": pa.array(last, mask=silent),
        }
    )


def _per_slot(
    connection: duckdb.DuckDBPyConnection, start_ms: int, width_ms: int, commits: Commits
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Events that came in, events that were consumed and records that went out, in every slot since `start_ms`."""
    slot = f"greatest(floor((append_ms - {start_ms}) / {width_ms})::bigint, -1)"
    written = connection.execute(f"select {slot} as s, count(*) from output_record group by s").fetchall()
    published = connection.execute(f"select {slot} as s, count(*) from input_event group by s").fetchall()
    answered = connection.execute(
        f"""
        select {slot} as s, origin_partition, max(origin_offset) + 1
        from output_record where origin_partition is not null group by s, origin_partition
        """
    ).fetchall()
    bases = connection.execute('select "partition", min("offset") from input_event group by 1 order by 1').fetchall()
    slots = max((row[0] for row in (*written, *published)), default=-1) + 1
    reached = np.concatenate([np.array(answered, dtype=np.int64).reshape(-1, 3), commits.by_slot(start_ms, width_ms)])
    return _counted(published, slots), _consumed(reached, bases, slots), _counted(written, slots)


def _counted(rows: list[tuple[int, int]], slots: int) -> np.ndarray:
    counted = np.zeros(slots, dtype=np.int64)
    for second, count in rows:
        if second >= 0:
            counted[second] = count
    return counted


def _consumed(reached: np.ndarray, bases: Sequence[tuple[int, int]], slots: int) -> np.ndarray:
    """Events consumed in each slot: the growth of Σ over partitions of the furthest (slot, partition, offset) reached.

    Slot −1 was before. What is told after the last, as the commit that follows the last output is, counts in that.
    """
    partitions, first = np.array(bases, dtype=np.int64).reshape(-1, 2).T
    slot, partition, offset = reached[np.isin(reached[:, 1], partitions)].T
    column = np.searchsorted(partitions, partition)
    furthest = np.zeros((slots + 1, len(partitions)), dtype=np.int64)
    np.maximum.at(furthest, (np.clip(slot, -1, slots - 1) + 1, column), offset - first[column])
    return np.diff(np.maximum.accumulate(furthest, axis=0).sum(axis=1))


def _fifth_percentile(table: pa.Table, full_slots: int) -> float | None:
    """By nearest rank over the full one-second slots."""
    consumed = np.sort(table["consumed_events"].to_numpy()[:full_slots])
    if len(consumed) == 0:
        return None
    return float(consumed[-(-5 * len(consumed) // 100) - 1])
