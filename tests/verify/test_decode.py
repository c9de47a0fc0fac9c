"""Output bytes to typed columns: exact values, any characters, and damage that is counted."""

import json
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.model import Expected, Json, LatestPerKey, Output, PerEvent, Text, UserError
from streamgauge.verify.decode import Decoded, decode_outputs


def raw_of(values: list[bytes | None]) -> pa.Table:
    count = len(values)
    return pa.table(
        {
            "partition": pa.array([0] * count, pa.int32()),
            "offset": pa.array(range(count), pa.int64()),
            "append_ms": pa.array(range(count), pa.int64()),
            "key": pa.array([None] * count, pa.binary()),
            "value": pa.array(values, pa.binary()),
            "origin_append_ms": pa.array([1] * count, pa.int64()),
            "origin_partition": pa.array([0] * count, pa.int32()),
            "origin_offset": pa.array(range(count), pa.int64()),
            "origin_ordinal": pa.array([0] * count, pa.int32()),
        }
    )


def decode(connection, folder: Path, values, matching, types: dict[str, pa.DataType], wire=None):
    output = Output("out", lambda events: Expected(None), matching, wire or Json())
    answer = pa.table({name: pa.array([], kind) for name, kind in types.items()})
    found = decode_outputs(
        raw_of(values).to_batches(max_chunksize=3), output, answer, folder / "decoded.parquet", connection=connection
    )
    return found, pq.read_table(found.path).sort_by("offset")


TYPES = {"word": pa.string(), "seen": pa.int64(), "mean": pa.float64()}
MATCHING = LatestPerKey(("word",), {"seen": "rises", "mean": "any"})


@settings(max_examples=50, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | st.floats(allow_nan=False, allow_infinity=False),
        ),
        max_size=20,
    ),
    as_ascii=st.booleans(),
)
def test_json_comes_back_exactly(shared_connection, tmp_path_factory, rows, as_ascii) -> None:
    values = [
        json.dumps(dict(zip(TYPES, row, strict=True)), ensure_ascii=as_ascii).encode("utf-8", "surrogatepass")
        for row in rows
    ]
    folder = tmp_path_factory.mktemp("decode")
    found, table = decode(shared_connection, folder, values, MATCHING, TYPES)
    assert (found.rows, found.undecodable) == (len(rows), 0)
    assert list(zip(*(table[name].to_pylist() for name in TYPES), strict=True)) == rows


def test_a_missing_member_is_null_and_more_members_do_no_harm(connection, tmp_path) -> None:
    _, table = decode(connection, tmp_path, [b'{"word":"a","other":[1,{"x":2}]}'], MATCHING, TYPES)
    assert [table[name].to_pylist() for name in TYPES] == [["a"], [None], [None]]


def test_not_a_number_and_infinity_are_read_as_texts(connection, tmp_path) -> None:
    _, table = decode(connection, tmp_path, [b'{"mean":"NaN"}', b'{"mean":"-Infinity"}'], MATCHING, TYPES)
    first, second = table["mean"].to_pylist()
    assert math.isnan(first)
    assert second == -math.inf


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        b"",
        b"{",
        b"[1]",
        b'"text"',
        b"\xff\xfe",
        b'{"seen":5.7}',
        b'{"seen":"many"}',
        b'{"seen":9223372036854775808}',
        b'{"mean":"high"}',
        b'{"word":"a"} trailing',
    ],
)
def test_a_damaged_record_is_counted_and_left_out(connection, tmp_path, damaged) -> None:
    found, table = decode(connection, tmp_path, [b'{"word":"a"}', damaged], MATCHING, TYPES)
    assert found == Decoded(tmp_path / "decoded.parquet", 1, 1)
    assert table["word"].to_pylist() == ["a"]


def test_text_is_the_whole_payload(connection, tmp_path) -> None:
    values = ["zwölf\t€ 'x' \"y\"\n".encode(), b"", b"\xff", None]
    found, table = decode(connection, tmp_path, values, PerEvent(("line",)), {"line": pa.string()}, Text("line"))
    assert table["line"].to_pylist() == ["zwölf\t€ 'x' \"y\"\n", ""]
    assert found.undecodable == 2


def test_types_follow_the_oracle(connection, tmp_path) -> None:
    types = {"at": pa.timestamp("us"), "tags": pa.list_(pa.string()), "yes": pa.bool_()}
    values = [b'{"at":"2006-03-01T07:17:12.500Z","tags":["a","b \\"c\\""],"yes":true}']
    _, table = decode(connection, tmp_path, values, PerEvent(tuple(types)), types)
    assert table["at"].cast(pa.int64()).to_pylist() == [1141197432500000]
    assert table["tags"].to_pylist() == [["a", 'b "c"']]
    assert table["yes"].to_pylist() == [True]


def test_names_that_cannot_be_matched_are_said(connection, tmp_path) -> None:
    with pytest.raises(UserError, match="gives no column 'b'"):
        decode(connection, tmp_path, [], PerEvent(("b",)), {"a": pa.string()})
    with pytest.raises(UserError, match="a name that is taken"):
        decode(connection, tmp_path, [], PerEvent(("offset",)), {"offset": pa.int64()})
    with pytest.raises(UserError, match="is the text of 'line' alone"):
        decode(connection, tmp_path, [], PerEvent(("a",)), {"a": pa.string()}, Text("line"))


def test_an_empty_topic_gives_an_empty_table_with_its_columns(connection, tmp_path) -> None:
    found, table = decode(connection, tmp_path, [], MATCHING, TYPES)
    assert (found.rows, found.undecodable) == (0, 0)
    assert table.schema.field("seen").type == pa.int64()


def test_chunks_are_written_to_one_file(connection, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("streamgauge.verify.decode.CHUNK_RECORDS", 4)
    values = [f'{{"word":"w{i}","seen":{i}}}'.encode() for i in range(11)]
    found, table = decode(connection, tmp_path, values, MATCHING, TYPES)
    assert found.rows == 11
    assert table["seen"].to_pylist() == list(range(11))


def test_columns_may_have_any_name(connection, tmp_path) -> None:
    types = {"payload": pa.string(), "readable": pa.int64(), 'a "b".c': pa.string()}
    _, table = decode(
        connection, tmp_path, [b'{"payload":"p","readable":1,"a \\"b\\".c":"x"}'], PerEvent(tuple(types)), types
    )
    assert [table[name].to_pylist() for name in types] == [["p"], [1], ["x"]]
