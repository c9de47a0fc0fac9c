"""Every wire format writes what an ordinary reader reads back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Stream
from streamgauge.model.wire import Delimited, Field, FieldType, Json, Text, WireFormat
from streamgauge.streams.schema import arrow_schema
from streamgauge.streams.wire import encode

FIELDS = (
    Field("id", FieldType.LONG),
    Field("text", FieldType.STRING),
    Field("at", FieldType.TIMESTAMP),
    Field("share", FieldType.DOUBLE),
)

rows = st.fixed_dictionaries(
    {
        "id": st.none() | st.integers(-(2**63), 2**63 - 1),
        "text": st.none() | st.text(st.characters(exclude_categories=["Cs"])),
        "at": st.none()
        | st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(lambda d: d.replace(microsecond=0)),
        "share": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    }
)


def _stream(wire: WireFormat, fields: tuple[Field, ...] = FIELDS) -> Stream:
    return Stream("some", "", fields, wire, synthetic=lambda seed: pytest.fail("not generated here"))


def _batch(values: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(values, schema=arrow_schema(FIELDS))


@given(st.lists(rows, min_size=1, max_size=8))
@settings(deadline=None)
def test_json_reads_back(values: list[dict[str, Any]]) -> None:
    for payload, row in zip(encode(_stream(Json()), _batch(values)).to_pylist(), values, strict=True):
        expected = {**row, "at": row["at"] and row["at"].isoformat(" ").rjust(19, "0")}
        assert json.loads(payload) == expected


@given(st.lists(rows, min_size=1, max_size=8))
@settings(deadline=None)
def test_delimited_reads_back(values: list[dict[str, Any]]) -> None:
    values = [{**row, "text": row["text"] and row["text"].replace("|", "")} for row in values]
    for payload, row in zip(encode(_stream(Delimited("|")), _batch(values)).to_pylist(), values, strict=True):
        number, text, at, share = payload.decode().split("|")
        assert number == ("" if row["id"] is None else str(row["id"]))
        assert text == (row["text"] or "")
        assert at == ("" if row["at"] is None else row["at"].isoformat(" "))
        assert (share == "") if row["share"] is None else float(share) == row["share"]


def test_text_is_the_column_itself() -> None:
    values = [{"text": "a b"}, {"text": None}, {"text": "é"}]
    assert encode(_stream(Text("text")), _batch(values)).to_pylist() == [b"a b", b"", "é".encode()]


def test_a_slice_of_a_block_encodes_like_the_whole() -> None:
    start = datetime(2006, 3, 1, 23, 59, 58)
    values = [{"id": k, "text": f"t{k}", "at": start + timedelta(seconds=k), "share": k / 4} for k in range(10)]
    for wire in (Delimited(), Json(), Text("text")):
        assert encode(_stream(wire), _batch(values)[3:7]).equals(encode(_stream(wire), _batch(values))[3:7])


def test_finer_timestamps_are_written_in_whole_seconds_of_utc() -> None:
    at = pa.array([datetime(1969, 12, 31, 23, 59, 59, 999_000, UTC)], pa.timestamp("ms", "UTC"))
    batch = pa.RecordBatch.from_arrays([at], names=["at"])
    assert encode(_stream(Delimited(), (FIELDS[2],)), batch).to_pylist() == [b"1969-12-31 23:59:59"]


def test_numbers_that_json_has_not_become_null() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([float("nan"), float("inf"), 1.5])], names=["share"])
    payloads = encode(_stream(Json(), (FIELDS[3],)), batch).to_pylist()
    assert [json.loads(p)["share"] for p in payloads] == [None, None, 1.5]


def test_an_empty_block_has_no_payloads() -> None:
    for wire in (Delimited(), Json(), Text("text")):
        assert len(encode(_stream(wire), _batch([]))) == 0


def test_a_block_without_a_field_is_named() -> None:
    with pytest.raises(UserError, match="without its field 'share'"):
        encode(_stream(Delimited()), _batch([{}]).drop_columns(["share"]))
