"""The events that were published, written down again from seed and index with what the log says of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from streamgauge.log.append_times import AppendTimes
from streamgauge.model import Load, Source, Stream
from streamgauge.streams.malformed import Spoiling, malformed, spoiled
from streamgauge.streams.placement import partitions_of
from streamgauge.streams.wire import encode

BLOCK_EVENTS = 200_000


@dataclass(frozen=True)
class Published:
    """How one input was published."""

    stream: Stream
    source: Source
    events: int
    partitions: int
    first_partition: int
    load: Load
    start_at_ms: float | None
    """Wall clock at which elapsed time was 0; None when nothing was due at a time of its own."""
    append_times: AppendTimes
    required: tuple[str, ...] = ()
    """The fields without which an event is malformed."""
    spoiling: Spoiling | None = None


MALFORMED = pa.schema([("partition", pa.int32()), ("offset", pa.int64()), ("bytes", pa.string())])
"""What is kept of a malformed event; its bytes as hexadecimal text."""


def write_events(published: Published, path: Path, tick: Callable[[int], None] | None = None) -> pa.Table:
    """Write index, partition, offset, append_ms, due_ms, bytes, fields and `raw` of every event; give the malformed.

    An event whose offset the log does not hold is left out: the count then differs from what was published. So is one
    that is malformed, which no oracle is to see.
    """
    next_offset = np.zeros(published.partitions, np.int64)
    rejected: list[pa.RecordBatch] = []
    writer: pq.ParquetWriter | None = None
    try:
        for start in range(0, published.events, BLOCK_EVENTS):
            count = min(BLOCK_EVENTS, published.events - start)
            batch, left_out = _block(published, start, count, next_offset)
            rejected.append(left_out)
            if writer is None:
                writer = pq.ParquetWriter(path, batch.schema, compression="lz4")
            writer.write_batch(batch)
            if tick:
                tick(start + count)
    finally:
        if writer is not None:
            writer.close()
    return pa.Table.from_batches(rejected, MALFORMED)


def _block(
    published: Published, start: int, count: int, next_offset: np.ndarray
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    fields = published.source.block(start, count)
    raw = encode(published.stream, fields)
    if published.spoiling is not None:
        raw = spoiled(published.spoiling, published.stream, raw, start)
    bad = malformed(published.stream, published.required, fields, start, published.spoiling)
    partition = partitions_of(published.stream, fields, start, published.partitions)
    offset = np.empty(count, np.int64)
    appended = np.empty(count, np.int64)
    held = np.ones(count, bool)
    for number in range(published.partitions):
        here = np.flatnonzero(partition == number)
        offset[here] = next_offset[number] + np.arange(len(here))
        next_offset[number] += len(here)
        inside = offset[here] < published.append_times.held(number)
        held[here] = inside
        appended[here[inside]] = published.append_times.at(number, offset[here[inside]])
    index = np.arange(start, start + count, dtype=np.int64)
    columns: dict[str, pa.Array] = {
        "index": pa.array(index),
        "partition": pa.array(partition.astype(np.int32) + np.int32(published.first_partition)),
        "offset": pa.array(offset),
        "append_ms": pa.array(appended),
        "due_ms": _due_ms(published, index),
        "bytes": pc.binary_length(raw).cast(pa.int32()),
        **dict(zip(fields.schema.names, fields.columns, strict=True)),
    }
    batch = pa.RecordBatch.from_pydict({**columns, "raw": raw})
    return _texts(batch, held & ~bad), _malformed(batch, held & bad)


def _texts(batch: pa.RecordBatch, kept: np.ndarray) -> pa.RecordBatch:
    whole = batch if kept.all() else batch.filter(pa.array(kept))
    return whole.set_column(whole.num_columns - 1, "raw", whole.column("raw").cast(pa.string()))


def _malformed(batch: pa.RecordBatch, kept: np.ndarray) -> pa.RecordBatch:
    found = batch.filter(pa.array(kept))
    bytes_ = [payload.hex().upper() for payload in found.column("raw").to_pylist()]
    columns = [found.column("partition"), found.column("offset"), pa.array(bytes_, pa.string())]
    return pa.RecordBatch.from_arrays(columns, schema=MALFORMED)


def _due_ms(published: Published, index: np.ndarray) -> pa.Array:
    if published.start_at_ms is None:
        return pa.nulls(len(index), pa.float64())
    return pa.array(published.start_at_ms + published.load.due_s(index) * 1000.0)
