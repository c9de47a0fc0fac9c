"""Reading topics back after a trial, as fast as one process can."""

from __future__ import annotations

import contextlib
import gc
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from streamgauge.log.append_times import AppendTimes
from streamgauge.log.cluster import Cluster
from streamgauge.model.errors import LogError
from streamgauge.model.origin import FIELDS, HEADER

BATCH_RECORDS = 10_000
STALL_S = 10.0
_WAIT_S = 0.05
RECORDS_SCHEMA = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("append_ms", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("origin_append_ms", pa.int64()),
        ("origin_partition", pa.int32()),
        ("origin_offset", pa.int64()),
        ("origin_ordinal", pa.int32()),
    ]
)
"""Columns of `read_records`; the origin is null where a record carries none."""

_ORIGIN_SCHEMA = pa.schema([RECORDS_SCHEMA.field(f"origin_{name}") for name in FIELDS])
_NO_ORIGIN = b"," * (len(FIELDS) - 1)
_CONSUMER_SETTINGS = {
    "enable.auto.commit": False,
    "auto.offset.reset": "error",
    # What an engine has written in a transaction counts when that is committed; its markers have offsets of their own,
    # so that the last offset may never come: the end is told instead.
    "isolation.level": "read_committed",
    "enable.partition.eof": True,
    "fetch.min.bytes": 1,
    "fetch.wait.max.ms": 20,
    "fetch.message.max.bytes": 16 * 1024**2,
    "fetch.max.bytes": 128 * 1024**2,
    "receive.message.max.bytes": 256 * 1024**2,
    "queued.min.messages": 500_000,
    "queued.max.messages.kbytes": 256 * 1024,
}


@dataclass(frozen=True)
class ReadBack:
    """How much was read back and how long it took: the raw rate at which the log serves one reader."""

    records: int
    value_bytes: int
    seconds: float

    @property
    def records_per_s(self) -> float:
        """Records per second, 0 when nothing was read."""
        return self.records / self.seconds if self.seconds > 0 else 0.0


def read_records(cluster: Cluster, topic: str, ends: Mapping[int, int] | None = None) -> Iterator[pa.RecordBatch]:
    """All records up to the given end offsets (now, when not given), each partition in offset order."""
    for messages in _messages(cluster, topic, ends):
        arrays: list[pa.Array] = [
            pa.array(messages.partitions),
            pa.array(messages.offsets),
            pa.array(messages.append_ms()),
            pa.array(list(map(Message.key, messages.kept)), pa.binary()),
            pa.array(list(map(Message.value, messages.kept)), pa.binary()),
            *_origin_columns(list(map(Message.headers, messages.kept)), topic, cluster),
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=RECORDS_SCHEMA)


def read_append_times(cluster: Cluster, topic: str) -> tuple[AppendTimes, ReadBack]:
    """When every record was appended, and the rate of reading them."""
    started = time.perf_counter()
    times, value_bytes = AppendTimes(), 0
    for messages in _messages(cluster, topic, None):
        times.add(messages.partitions, messages.append_ms())
        value_bytes += sum(map(len, messages.kept))
    return times, ReadBack(times.records, value_bytes, time.perf_counter() - started)


class _Messages:
    """One batch of messages with the columns that every reader needs."""

    def __init__(self, kept: list[Any], partitions: np.ndarray, offsets: np.ndarray) -> None:
        self.kept = kept
        self.partitions = partitions
        self.offsets = offsets

    def append_ms(self) -> np.ndarray:
        """The log's timestamps."""
        return np.fromiter(map(itemgetter(1), map(Message.timestamp, self.kept)), np.int64, len(self.kept))


def _messages(cluster: Cluster, topic: str, ends: Mapping[int, int] | None) -> Iterator[_Messages]:
    starts = cluster.start_offsets(topic)
    if ends is None:
        ends = cluster.end_offsets(topic)
    pending = {partition: end for partition, end in ends.items() if end > starts.get(partition, 0)}
    if not pending:
        return
    consumer = Consumer({**cluster.client_settings(), **_CONSUMER_SETTINGS, "group.id": f"read-{uuid.uuid4()}"})
    try:
        consumer.assign([TopicPartition(topic, p, starts.get(p, 0)) for p in pending])
        with _without_collecting():
            yield from _until_end(consumer, cluster, topic, pending)
    finally:
        consumer.close()


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Messages hold no cycles, and looking for some again and again takes a third of the time of reading."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


def _until_end(consumer: Any, cluster: Cluster, topic: str, pending: dict[int, int]) -> Iterator[_Messages]:
    end_of = np.zeros(max(pending) + 1, np.int64)
    for partition, end in pending.items():
        end_of[partition] = end
    progress_at = time.monotonic()
    while pending:
        try:
            batch = consumer.consume(BATCH_RECORDS, timeout=_WAIT_S)
        except KafkaException as error:
            raise _unreadable(topic, cluster, error.args[0].str()) from None
        messages = _within(batch, end_of, topic, cluster)
        if messages is None or len(messages.kept) < len(batch):
            for partition in _ended(batch, pending):
                pending.pop(partition)
        if messages is None:
            if not pending:
                return
            if time.monotonic() - progress_at > STALL_S:
                raise _unreadable(topic, cluster, f"nothing came for {STALL_S:.0f} s before the end")
            continue
        progress_at = time.monotonic()
        for partition in np.unique(messages.partitions).tolist():
            last = int(messages.offsets[messages.partitions == partition].max())
            if last >= pending.get(partition, 0) - 1 and pending.pop(partition, None) is not None and pending:
                consumer.incremental_unassign([TopicPartition(topic, partition)])
        yield messages
        progress_at = time.monotonic()


def _within(batch: list[Any], end_of: np.ndarray, topic: str, cluster: Cluster) -> _Messages | None:
    """The batch without what was appended after the end, or None when nothing is left."""
    offsets = np.fromiter(map(Message.offset, batch), np.int64, len(batch))
    partitions = np.fromiter(map(Message.partition, batch), np.int32, len(batch))
    failing = [place for place, error in enumerate(map(Message.error, batch)) if error is not None]
    if failing:
        offsets[failing] = -1
        failed = next((batch[place].error() for place in failing if not _is_end(batch[place])), None)
        if failed is not None and not failed.retriable():
            raise _unreadable(topic, cluster, failed.str())
    inside = (offsets >= 0) & (offsets < end_of[partitions])
    if not inside.all():
        batch = [batch[i] for i in np.flatnonzero(inside)]
    return _Messages(batch, partitions[inside], offsets[inside]) if batch else None


def _is_end(message: Any) -> bool:
    return message.error() is not None and message.error().code() == KafkaError._PARTITION_EOF


def _ended(batch: list[Any], pending: Mapping[int, int]) -> set[int]:
    """Partitions that were read up to where they must be: what is missing there are markers of transactions."""
    ended = {message.partition(): message.offset() for message in batch if _is_end(message)}
    return {partition for partition, at in ended.items() if at >= pending.get(partition, at + 1)}


def origin_columns(texts: list[bytes]) -> list[pa.Array]:
    """The origins of a batch decoded at once: their texts are lines of CSV, an empty field is null, no text is none."""
    lines = b"\n".join([text or _NO_ORIGIN for text in texts])
    decoded = pyarrow.csv.read_csv(
        pa.BufferReader(lines),
        pyarrow.csv.ReadOptions(column_names=_ORIGIN_SCHEMA.names, use_threads=False, block_size=len(lines) + 1),
        pyarrow.csv.ParseOptions(quote_char=False),
        pyarrow.csv.ConvertOptions(column_types=_ORIGIN_SCHEMA, null_values=[""]),
    )
    return [column.combine_chunks() for column in decoded.columns]


def _origin_columns(headers: list[Any], topic: str, cluster: Cluster) -> list[pa.Array]:
    try:
        return origin_columns(_origins(headers))
    except pa.ArrowInvalid as error:
        raise _unreadable(topic, cluster, f"a record's origin is malformed: {error}") from None


def _origins(headers: list[Any]) -> list[bytes]:
    """The origin of each record, at once where all have that header and no other, as engines write them."""
    if all(headers) and set(map(len, headers)) == {1}:
        names, values = zip(*map(itemgetter(0), headers), strict=True)
        if set(names) == {HEADER}:
            return list(values)
    return [_origin_of(each) for each in headers]


def _origin_of(headers: list[tuple[str, bytes]] | None) -> bytes:
    for name, value in headers or ():
        if name == HEADER and value:
            return value
    return b""


def _unreadable(topic: str, cluster: Cluster, why: str) -> LogError:
    return LogError(f"the topic '{topic}' cannot be read back ({why})", f"Check that Kafka runs at {cluster.bootstrap}")
