"""Events made ready to send ahead of time: bytes, partitions and due times, in blocks that wait in a bounded queue."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamgauge.load.native_producer import MESSAGE
from streamgauge.model.load import Load
from streamgauge.model.stream import Source, Stream
from streamgauge.streams.malformed import Spoiling, spoiled
from streamgauge.streams.placement import keys_of, partitions_of
from streamgauge.streams.wire import encode

Share = tuple[int, int]
WHOLE: Share = (0, 1)
"""Partitions p with p % shares = share: (share, shares)."""
_EMPTY = np.zeros(8, dtype=np.uint8)
"""Where the payload of an empty event points to: an address of zero would mean no payload."""


@dataclass(frozen=True)
class EventBlock:
    """Consecutive events, their messages sorted by partition and by index within it."""

    due_ns: npt.NDArray[np.int64]
    """When each event is due, in nanoseconds of elapsed time, in the order of the index."""
    messages: npt.NDArray[np.void]
    payload_bytes: int
    _places: npt.NDArray[np.int64]
    """partition × events + position of each message, rising: finds the messages of any range of events."""
    _partitions: int
    _kept_alive: tuple[Any, ...]
    """The Arrow arrays that the messages point into."""

    @property
    def count(self) -> int:
        """How many events there are."""
        return len(self.due_ns)

    def bounds(self, position: int) -> npt.NDArray[np.int64]:
        """For each partition, the first message of an event at that position or after it."""
        return np.searchsorted(self._places, np.arange(self._partitions) * self.count + position)


def make_block(
    stream: Stream,
    source: Source,
    load: Load,
    start: int,
    count: int,
    first: int,
    partitions: int,
    spoiling: Spoiling | None = None,
    share: Share = WHOLE,
) -> EventBlock:
    """Events start … start+count−1 ready to send; `first` is the index from which the load counts.

    Of another share's events there are no messages.
    """
    batch = source.block(start, count)
    partition = partitions_of(stream, batch, start, partitions).astype(np.int64)
    places = partition * count + np.arange(count)
    payloads: pa.BinaryArray | None = None
    if spoiling is not None:
        payloads = spoiled(spoiling, stream, encode(stream, batch), start)
    if share != WHOLE:
        mine = partition % share[1] == share[0]
        places, batch = places[mine], batch.filter(pa.array(mine))
        payloads = None if payloads is None else payloads.filter(pa.array(mine))
    payloads, keys = payloads if payloads is not None else encode(stream, batch), keys_of(stream, batch)
    order = np.argsort(places, kind="stable")
    messages = np.zeros(len(places), dtype=MESSAGE)
    messages["payload"], messages["payload_size"] = (part[order] for part in _addresses(payloads))
    if keys is not None:
        messages["key"], messages["key_size"] = (part[order] for part in _addresses(keys))
    due_s = load.due_s(np.arange(start - first, start - first + count, dtype=np.int64))
    return EventBlock(
        due_ns=np.rint(due_s * 1e9).astype(np.int64),
        messages=messages,
        payload_bytes=int(messages["payload_size"].sum()),
        _places=places[order],
        _partitions=partitions,
        _kept_alive=(payloads, keys),
    )


def _addresses(values: pa.BinaryArray) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Where each value lies in memory and its size; a missing value lies at address zero."""
    wide = pa.types.is_large_binary(values.type)
    _, offset_buffer, data = values.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int64 if wide else np.int32)
    offsets = offsets[values.offset : values.offset + len(values) + 1].astype(np.int64)
    base = data.address if data is not None and data.size else _EMPTY.ctypes.data
    addresses = (base + offsets[:-1]).astype(np.uint64)
    if values.null_count:
        addresses[values.is_null().to_numpy(zero_copy_only=False)] = 0
    return addresses, np.diff(offsets).astype(np.uint64)


class BlockQueue:
    """Makes blocks in a thread of its own, at most so many ahead of the reader."""

    def __init__(
        self,
        stream: Stream,
        source: Source,
        load: Load,
        start: int,
        events: int,
        partitions: int,
        block_events: int,
        ahead: int,
        spoiling: Spoiling | None = None,
        share: Share = WHOLE,
    ) -> None:
        self._spoiling, self._share = spoiling, share
        self._stream, self._source, self._load = stream, source, load
        self._start, self._events, self._partitions = start, events, partitions
        self._block_events = block_events
        self._ready: queue.Queue[EventBlock | Exception | None] = queue.Queue(maxsize=ahead)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="generator", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            end = self._start + self._events
            for start in range(self._start, end, self._block_events):
                count = min(self._block_events, end - start)
                block = make_block(
                    *(self._stream, self._source, self._load, start, count, self._start),
                    *(self._partitions, self._spoiling, self._share),
                )
                if not self._put(block):
                    return
            self._put(None)
        except Exception as error:
            self._put(error)

    def _put(self, item: EventBlock | Exception | None) -> bool:
        while not self._stopping.is_set():
            try:
                self._ready.put(item, timeout=0.2)
                return True
            except queue.Full:
                continue
        return False

    def wait_until_ahead(self) -> None:
        """Wait until the queue is full or everything is made, so that generation makes no event late."""
        while self._thread.is_alive() and not self._ready.full():
            self._thread.join(0.005)

    def blocks(self, while_waiting: Callable[[], None]) -> Iterator[EventBlock]:
        """The blocks in order; an error while making them is raised here."""
        while True:
            try:
                item = self._ready.get(timeout=0.1)
            except queue.Empty:
                while_waiting()
                continue
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            yield item

    def stop(self) -> None:
        """End the thread; what is ready is thrown away."""
        self._stopping.set()
        self._thread.join(5)
