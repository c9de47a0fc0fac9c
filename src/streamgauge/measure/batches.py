"""The batches of a Spark query as its progress tells them: which events each took, and the instants of its life."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa

SCHEMA = pa.schema(
    [
        ("query", pa.string()),
        ("batch", pa.int64()),
        ("partition", pa.int32()),
        ("start_offset", pa.int64()),
        ("end_offset", pa.int64()),
        ("closed_before_ms", pa.int64()),
        ("opened_ms", pa.int64()),
        ("adding_ms", pa.int64()),
    ]
)
"""A row for each batch and input partition that it took events of.

`closed_before_ms`: when the batch before took its last event; of the first batch, the start of the job.
`opened_ms`: when this batch began to be made of what was there. `adding_ms`: when its rows began to be computed.
"""


def batches_of(
    progress: Iterable[Mapping[str, Any]], first_partitions: Mapping[str, int], started_ms: int, *, flowing: bool
) -> pa.Table:
    """Batches of every query that reads input topics (topic → number of its first partition); may be empty.

    A micro-batch takes what lies in the log when it has asked for the latest offsets. A batch of a `flowing` query
    takes events as they come, until its state is committed. A batch may say by `flowing` which of the two it is.
    """
    rows: list[dict[str, Any]] = []
    closed: dict[str, int] = {}
    for each in sorted(progress, key=lambda p: (str(p.get("name")), int(p.get("batchId", -1)))):
        took = each.get("durationMs") or {}
        if "addBatch" not in took or "triggerExecution" not in took:
            continue
        query, at_ms = str(each["name"]), _epoch_ms(each["timestamp"])
        adding_ms = at_ms + took["triggerExecution"] - took["addBatch"] - took.get("commitOffsets", 0)
        cut_ms = at_ms + took.get("latestOffset", 0)
        instants = {
            "query": query,
            "batch": int(each["batchId"]),
            "closed_before_ms": closed.get(query, started_ms),
            "opened_ms": at_ms if each.get("flowing", flowing) else cut_ms,
            "adding_ms": adding_ms,
        }
        rows += [{**instants, **taken} for taken in _taken(each, first_partitions)]
        closed[query] = adding_ms + took["addBatch"] - _committing_ms(each) if each.get("flowing", flowing) else cut_ms
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def endless_batch(query: str, partitions: Iterable[int], started_ms: int) -> pa.Table:
    """The one batch of a query that never ends one: all events, from the start of the job on."""
    instants = dict.fromkeys(("closed_before_ms", "opened_ms", "adding_ms"), started_ms)
    whole = {"query": query, "batch": 0, "start_offset": 0, "end_offset": 2**62}
    return pa.Table.from_pylist([{**whole, **instants, "partition": p} for p in partitions], schema=SCHEMA)


def _taken(progress: Mapping[str, Any], first_partitions: Mapping[str, int]) -> list[dict[str, int]]:
    found = []
    for source in progress.get("sources") or []:
        starts = source.get("startOffset") or {}
        for topic, ends in (source.get("endOffset") or {}).items():
            if topic not in first_partitions:
                continue
            for partition, end in ends.items():
                start = int((starts.get(topic) or {}).get(partition, 0))
                if int(end) > start:
                    number = first_partitions[topic] + int(partition)
                    found.append({"partition": number, "start_offset": start, "end_offset": int(end)})
    return found


def _committing_ms(progress: Mapping[str, Any]) -> int:
    """How long a task committed its state at the end: what progress adds up over tasks, for one of them."""
    operators = progress.get("stateOperators") or []
    return sum(int(o.get("commitTimeMs", 0)) // max(int(o.get("numShufflePartitions", 1)), 1) for o in operators)


def _epoch_ms(timestamp: str) -> int:
    return round(datetime.fromisoformat(timestamp).timestamp() * 1000)
