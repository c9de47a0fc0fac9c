"""Recorded files replay in their own order, loop with a continuous timeline, and say what is wrong with them."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Source
from streamgauge.model.wire import Field, FieldType, Json, Text
from streamgauge.streams import get_stream
from streamgauge.streams.recorded import recorded_source
from streamgauge.streams.reference import StreamReference, open_source
from streamgauge.streams.wire import encode

DATA = Path(__file__).parent / "data"
AOL, FLOWS = DATA / "aol-sample.txt", DATA / "packet-flows-sample.tsv"


def _source(name: str, path: Path) -> Source:
    recorded = get_stream(name).recorded
    assert recorded is not None
    return recorded(path)


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()[1:]


def test_an_aol_file_replays_byte_for_byte() -> None:
    stream, lines = get_stream("aol-search"), _lines(AOL)
    block = _source("aol-search", AOL).block(0, len(lines))
    assert encode(stream, block).to_pylist() == lines
    assert 0 < block["click_url"].null_count < len(lines)


def test_a_flows_file_replays_with_the_same_numbers() -> None:
    lines = _lines(FLOWS)
    block = _source("packet-flows", FLOWS).block(0, len(lines))
    for line, row in zip(lines, block.to_pylist(), strict=True):
        assert [float(text) for text in line.split(b"\t")] == list(row.values())


def test_rounds_go_on_where_the_last_ended() -> None:
    count = len(_lines(AOL))
    block = _source("aol-search", AOL).block(0, 3 * count)
    seconds = block["query_time"].cast(pa.int64()).to_numpy().reshape(3, count)
    assert np.all(seconds[:-1].max(axis=1) < seconds[1:].min(axis=1))
    span = int(seconds[0].max() - seconds[0].min())
    shift = span + round(span / (count - 1))
    assert np.all(np.diff(seconds, axis=0) == shift)
    assert pc.equal(block["query"][:count], block["query"][count : 2 * count]).false_count == 0


def test_any_block_of_a_replay_agrees_with_the_whole() -> None:
    source = _source("aol-search", AOL)
    whole = source.block(0, 500)
    for start, count in ((0, 1), (13, 200), (499, 1), (26, 28)):
        assert source.block(start, count).equals(whole[start : start + count])


def test_a_header_is_optional_and_gzip_is_read(tmp_path: Path) -> None:
    bare, packed = tmp_path / "bare.txt", tmp_path / "packed.txt.gz"
    bare.write_bytes(b"\n".join(_lines(AOL)) + b"\n")
    packed.write_bytes(gzip.compress(AOL.read_bytes()))
    expected = _source("aol-search", AOL).block(0, 60)
    assert _source("aol-search", bare).block(0, 60).equals(expected)
    assert _source("aol-search", packed).block(0, 60).equals(expected)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n", "has no events"),
        ("1\ta\t2006-03-01 07:17:12\t\t\n2\tb\t2006-03-01 07:17:12\n", "line 2: Expected 5 columns, got 3"),
        ("1\ta\t2006-03-01 07:17:12\t\t\nx\tb\t2006-03-01 07:17:12\t\t\n", "line 2.*invalid value 'x'"),
        ("1\ta\tyesterday\t\t\n", "invalid value 'yesterday'"),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "bad.txt"
    file.write_text(content)
    with pytest.raises(UserError, match=told) as raised:
        _source("aol-search", file)
    assert str(file) in raised.value.cause and "\n" not in str(raised.value)


def test_a_missing_file_and_a_broken_gzip_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no file"):
        _source("aol-search", tmp_path / "none.txt")
    broken = tmp_path / "broken.txt.gz"
    broken.write_bytes(gzip.compress(AOL.read_bytes())[:-20])
    with pytest.raises(UserError, match=r"broken\.txt\.gz"):
        _source("aol-search", broken)


FIELDS = (Field("user", FieldType.STRING), Field("at", FieldType.TIMESTAMP), Field("amount", FieldType.DOUBLE))


def test_json_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "events.json"
    file.write_text(
        '{"user":"a","at":"2024-01-01 10:00:00","amount":1.5,"more":true}\n'
        '{"user":"b","at":"2024-01-01 10:00:10","amount":null}\n'
    )
    rows = recorded_source(file, FIELDS, Json()).block(0, 4).to_pylist()
    assert [row["user"] for row in rows] == ["a", "b", "a", "b"]
    assert [row["amount"] for row in rows] == [1.5, None, 1.5, None]
    assert [row["at"].second for row in rows] == [0, 10, 20, 30]
    file.write_text('{"user":"a","at":"x","amount":1.5}\n')
    with pytest.raises(UserError, match=r"events\.json"):
        recorded_source(file, FIELDS, Json())


def test_lines_of_text_are_read(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("one\ntwo\n")
    fields = (Field("line", FieldType.STRING),)
    assert recorded_source(file, fields, Text("line")).block(1, 3)["line"].to_pylist() == ["two", "one", "two"]
    file.write_bytes(b"\xff\xfe\n")
    with pytest.raises(UserError, match="UTF-8"):
        recorded_source(file, fields, Text("line"))


def test_a_reference_finds_the_stream_again() -> None:
    reference = StreamReference.from_dict(StreamReference(name="aol-search", data=str(AOL)).as_dict())
    stream, source = open_source(reference, seed=1)
    assert stream.name == "aol-search"
    assert source.block(0, 5).equals(_source("aol-search", AOL).block(0, 5))
    generated = open_source(StreamReference(name="aol-search"), seed=4)[1]
    assert generated.block(3, 9).equals(stream.synthetic(4).block(3, 9))


OWN_FILE = """
from streamgauge.model import *
from streamgauge.streams import get_stream
import dataclasses

@stage
def keep(searches):
    return searches

searches = dataclasses.replace(get_stream("aol-search"), name="mine", recorded=None)
APPLICATION = Application("mine", "?", {"searches": searches}, (keep,),
                          (Output("keep", lambda events: Expected(None), PerEvent(("query",))),))
"""


def test_a_reference_reaches_into_a_users_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN_FILE)
    for name in ("searches", None):
        assert open_source(StreamReference(file=str(file), input=name), seed=1)[0].name == "mine"
    with pytest.raises(UserError, match="Did you mean 'searches'"):
        open_source(StreamReference(file=str(file), input="serches"), seed=1)
    with pytest.raises(UserError, match="no reader of recorded data"):
        open_source(StreamReference(file=str(file), data=str(AOL)), seed=1)
    with pytest.raises(UserError, match="exactly one"):
        StreamReference(name="aol-search", file=str(file))
