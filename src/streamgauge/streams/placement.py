"""Where an event goes: its partition follows from its index, or from its key where the stream has one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Stream
from streamgauge.streams.randomness import Bits, mix
from streamgauge.streams.wire import text_of

_BASE = 0x100000001B3


def partitions_of(stream: Stream, batch: pa.RecordBatch, start: int, partitions: int) -> npt.NDArray[np.int32]:
    """The partition of each event of a block that begins at index start."""
    if stream.key is None:
        return (np.arange(start, start + batch.num_rows, dtype=np.int64) % partitions).astype(np.int32)
    encoded = text_of(_key_column(stream, batch)).dictionary_encode(null_encoding="encode")
    places = (text_hash(encoded.dictionary) % np.uint64(partitions)).astype(np.int32)
    indices: npt.NDArray[np.int32] = encoded.indices.to_numpy()
    return places[indices]


def keys_of(stream: Stream, batch: pa.RecordBatch) -> pa.BinaryArray | None:
    """The key of each record in the log: the text of the key's field, or None for a stream without a key."""
    if stream.key is None:
        return None
    return text_of(_key_column(stream, batch)).cast(pa.binary())


def _key_column(stream: Stream, batch: pa.RecordBatch) -> pa.Array:
    position = batch.schema.get_field_index(str(stream.key))
    if position < 0:
        raise UserError(
            f"stream '{stream.name}' has the key '{stream.key}', which is none of its fields",
            f"Choose one of: {', '.join(f.name for f in stream.fields)}",
        )
    return batch.column(position)


def text_hash(texts: pa.StringArray) -> Bits:
    """64 bits for each text, the same on every machine: a polynomial over its bytes, mixed; a missing text is empty."""
    texts = pc.fill_null(texts, "").cast(pa.large_binary())
    if len(texts) == 0:
        return np.empty(0, dtype=np.uint64)
    _, offset_buffer, data = texts.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    size = int(offsets[-1] - offsets[0])
    content = np.frombuffer(data, dtype=np.uint8, count=size, offset=int(offsets[0])) if size else np.empty(0, np.uint8)
    offsets = offsets - offsets[0]
    lengths = np.diff(offsets)
    powers = np.full(int(lengths.max()) + 1, _BASE, dtype=np.uint64)
    powers[0] = 1
    powers = np.cumprod(powers, dtype=np.uint64)
    terms = (content.astype(np.uint64) + np.uint64(1)) * powers[np.arange(size) - np.repeat(offsets[:-1], lengths)]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
    return mix(sums[offsets[1:]] - sums[offsets[:-1]])
