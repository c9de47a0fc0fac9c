"""An event's partition depends on its index or key alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Stream
from streamgauge.model.wire import Field, FieldType, Json
from streamgauge.streams.placement import keys_of, partitions_of, text_hash

texts = st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=30)


def _stream(key: str | None, type_: FieldType = FieldType.STRING) -> Stream:
    fields = (Field("user", type_),)
    return Stream("some", "", fields, Json(), synthetic=lambda seed: pytest.fail("not generated"), key=key)


def _batch(values: list[str | None]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values, pa.string())], names=["user"])


def test_without_a_key_events_go_round() -> None:
    assert partitions_of(_stream(None), _batch(["a"] * 5), 7, 3).tolist() == [1, 2, 0, 1, 2]
    assert keys_of(_stream(None), _batch(["a"])) is None


@given(texts, st.integers(1, 9))
@settings(deadline=None)
def test_with_a_key_only_the_key_counts(values: list[str | None], partitions: int) -> None:
    stream = _stream("user")
    whole = partitions_of(stream, _batch(values), 0, partitions)
    assert whole.dtype == np.int32 and whole.min() >= 0 and whole.max() < partitions
    alone = [int(partitions_of(stream, _batch([v]), 99, partitions)[0]) for v in values]
    assert whole.tolist() == alone
    keys = keys_of(stream, _batch(values))
    assert keys is not None and keys.to_pylist() == [None if v is None else v.encode() for v in values]


def test_numbers_are_keys_by_their_text() -> None:
    numbers = pa.RecordBatch.from_arrays([pa.array([17, 1234])], names=["user"])
    by_number = partitions_of(_stream("user", FieldType.LONG), numbers, 0, 5)
    assert by_number.tolist() == partitions_of(_stream("user"), _batch(["17", "1234"]), 0, 5).tolist()


def test_the_hash_never_changes_and_spreads() -> None:
    values = ["", "a", "abc", "17", "é" * 40]
    assert text_hash(pa.array(values)).tolist() == [_hash_by_hand(value.encode()) for value in values]
    assert text_hash(pa.array([*values, "x"])[2:4]).tolist() == [_hash_by_hand(b"abc"), _hash_by_hand(b"17")]
    places = text_hash(pa.array([f"user-{k}" for k in range(10_000)])) % np.uint64(8)
    assert np.bincount(places.astype(int)).min() > 1100


def _hash_by_hand(content: bytes) -> int:
    """The same polynomial and mixing, a byte at a time in whole numbers."""
    word = (1 << 64) - 1
    value = sum((byte + 1) * 0x100000001B3**place for place, byte in enumerate(content)) & word
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & word
    value = (value ^ value >> 27) * 0x94D049BB133111EB & word
    return value ^ value >> 31


def test_a_key_that_is_no_field_is_named() -> None:
    with pytest.raises(UserError, match="'name', which is none of its fields"):
        partitions_of(_stream("name"), _batch(["a"]), 0, 2)
