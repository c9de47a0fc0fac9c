"""Recorded call detail records, with and without the record given a second time."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.call_records import STREAM
from streamgauge.streams.wire import encode

DATA = Path(__file__).parent / "data"
SAMPLE, DOUBLED = DATA / "call-records-sample.csv", DATA / "call-records-doubled-sample.csv"


def test_a_record_becomes_an_event_of_the_callers_switch():
    calling, called, time, duration, established = SAMPLE.read_text().splitlines()[0].split(",")
    first = STREAM.recorded(SAMPLE).block(0, 1).to_pylist()[0]
    assert first["switch"] == int(calling) // 10_000_000
    assert (first["calling"], first["called"]) == (int(calling), int(called))
    assert first["answer_time"].isoformat() == time
    assert (first["duration_s"], first["established"]) == (int(duration), int(established == "true"))
    assert first["telemarketer"] is None


def test_both_ways_of_writing_a_record_are_the_same():
    assert STREAM.recorded(SAMPLE).block(0, 100).equals(STREAM.recorded(DOUBLED).block(0, 100))


def test_rounds_go_on_where_the_last_ended():
    count = len(SAMPLE.read_text().splitlines())
    block = STREAM.recorded(SAMPLE).block(0, 2 * count)
    assert pc.min(block["answer_time"][count:]).as_py() > pc.max(block["answer_time"][:count]).as_py()


def test_whole_events_are_read_as_they_were_written(tmp_path):
    block = STREAM.synthetic(3).block(0, 50)
    path = tmp_path / "events.csv"
    path.write_bytes(b"\n".join(encode(STREAM, block).to_pylist()) + b"\n")
    assert STREAM.recorded(path).block(0, 50).equals(block)


@pytest.mark.parametrize(
    "line", ["a,b,2012-01-01T00:00:00,1,true", "1,2,yesterday,1,true", "1,2,2012-01-01T00:00:00,1;2", "1,2,3,4;5;6"]
)
def test_a_line_that_is_no_record_is_refused(tmp_path, line):
    path = tmp_path / "calls.csv"
    path.write_text(line + "\n")
    with pytest.raises(UserError):
        STREAM.recorded(path)


def test_generated_calls_are_plausible():
    block = STREAM.synthetic(7).block(0, 60_000)
    table = pa.table(block)
    sellers, people = (table.filter(pc.equal(table["telemarketer"], label)) for label in (1, 0))
    assert len(pc.unique(sellers["calling"])) == 64 and len(pc.unique(people["calling"])) > 7000
    assert not set(pc.unique(sellers["calling"]).to_pylist()) & set(pc.unique(people["calling"]).to_pylist())
    assert pc.mean(people["duration_s"]).as_py() > 5 * pc.mean(sellers["duration_s"]).as_py()
    assert len(pc.unique(block["switch"])) == 32
    silent = block.filter(pc.equal(block["established"], 0))
    assert pc.max(silent["duration_s"]).as_py() == 0
