"""Before, during and after: differences told apart by when they were written, against the time of the faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from streamgauge.model.application import Expected, LatestPerKey, Matching
from streamgauge.store.tables import Table, attach, columns, detach, quoted

PHASES = ("before", "during", "after")
WORDS = ("lost", "wrong", "unexpected", "duplicated", "out_of_order")
LOCATED = "located_difference"
"""The table that a comparison writes: (word, append_ms, count)."""


@dataclass(frozen=True)
class Spans:
    """When faults were at work: from the instant of each until output was back and it was undone; and the events."""

    spans_ms: Sequence[tuple[int, int]]
    inputs: Sequence[Table]
    """The events of every input, for when what was lost had come in."""


def prepare(connection: duckdb.DuckDBPyConnection, matching: Matching, expected: Expected, spans: Spans) -> None:
    """Make what a comparison needs to locate its differences."""
    connection.execute(f"create or replace temp table {LOCATED}(word varchar, append_ms bigint, count bigint)")
    parts = []
    for number, table in enumerate(spans.inputs):
        attach(connection, f"located_{number}", table)
        parts.append(f'select "partition", "offset", append_ms from {quoted(f"located_{number}")}')
    connection.execute(f"create or replace temp view located_input as {' union all '.join(parts)}")
    if not isinstance(matching, LatestPerKey):
        return
    if expected.touches is not None:
        attach(connection, "located_touch", expected.touches)
    else:
        nothing = f'select {columns(matching.key)}, 0 as "partition", 0 as "offset" from expected_answer where false'
        connection.execute(f"create or replace view located_touch as {nothing}")


def counted(connection: duckdb.DuckDBPyConnection, spans: Spans) -> dict[str, dict[str, int]]:
    """Phase → how many outputs were seen in it, and how many of each difference; what was made is dropped again.

    What was lost counts by when its event came in; where that is not known, as after.
    """
    phase = _phase(spans.spans_ms)
    found = {name: dict.fromkeys(("seen", *WORDS), 0) for name in PHASES}
    rows = connection.execute(f"select {phase}, word, sum(count) from {LOCATED} group by all").fetchall()
    seen = connection.execute(f"select {phase}, 'seen', count(*) from outputs_seen group by all").fetchall()
    for name, word, count in (*rows, *seen):
        found[name][word] = int(count)
    connection.execute(f"drop table {LOCATED}; drop view located_input")
    for name in ("located_touch", *(f"located_{number}" for number in range(len(spans.inputs)))):
        detach(connection, name)
    return found


def _phase(spans_ms: Sequence[tuple[int, int]]) -> str:
    """SQL: the phase of `append_ms`."""
    if not spans_ms:
        return "'before'"
    inside = " or ".join(f"(append_ms >= {start} and append_ms < {end})" for start, end in spans_ms)
    first = min(start for start, _ in spans_ms)
    return f"case when append_ms < {first} then 'before' when {inside} then 'during' else 'after' end"


def together(parts: Sequence[Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, int]]:
    """The phases of several outputs added up."""
    known = [part for part in parts if part]
    if not known:
        return {}
    return {name: {word: sum(part[name][word] for part in known) for word in ("seen", *WORDS)} for name in PHASES}
