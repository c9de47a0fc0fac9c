"""Events and outputs of small trials as Arrow tables, written row by row."""

from __future__ import annotations

import pyarrow as pa

EVENTS = pa.schema(
    [
        ("index", pa.int64()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("append_ms", pa.int64()),
        ("due_ms", pa.float64()),
        ("bytes", pa.int32()),
    ]
)
OUTPUTS = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("append_ms", pa.int64()),
        ("origin_append_ms", pa.int64()),
        ("origin_partition", pa.int32()),
        ("origin_offset", pa.int64()),
        ("origin_ordinal", pa.int32()),
        ("word", pa.string()),
    ]
)


def events_of(rows: list[tuple], size: int = 100) -> pa.Table:
    """Events from (partition, offset, append_ms, due_ms), indexed in the order of the list."""
    return pa.Table.from_pylist(
        [
            {"index": i, "partition": p, "offset": o, "append_ms": at, "due_ms": due, "bytes": size}
            for i, (p, o, at, due) in enumerate(rows)
        ],
        schema=EVENTS,
    )


def outputs_of(rows: list[tuple]) -> pa.Table:
    """Outputs of one partition, in order, from (append_ms, origin append, origin partition, origin offset, word)."""
    return pa.Table.from_pylist(
        [
            {
                "partition": 0,
                "offset": i,
                "append_ms": at,
                "origin_append_ms": origin_at,
                "origin_partition": p,
                "origin_offset": o,
                "origin_ordinal": 0,
                "word": word,
            }
            for i, (at, origin_at, p, o, word) in enumerate(rows)
        ],
        schema=OUTPUTS,
    )
