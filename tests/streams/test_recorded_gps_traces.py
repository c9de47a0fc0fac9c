"""gps-traces: files of taxis and buses become fixes with a speed; generated vehicles drive on the generated roads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.gps_traces import STREAM, SyntheticTraces
from streamgauge.streams.tables.roads import EAST, NORTH, SOUTH, WEST
from streamgauge.streams.wire import encode

DATA = Path(__file__).parent / "data"
TAXIS, BUSES = DATA / "beijing-taxis-sample.txt", DATA / "dublin-buses-sample.csv"


def _lines(path: Path, count: int) -> list[str]:
    assert STREAM.recorded is not None
    return [line.decode() for line in encode(STREAM, STREAM.recorded(path).block(0, count)).to_pylist()]


def test_a_taxi_gets_its_speed_from_the_fix_before() -> None:
    # Taxi 1 drives 0.001° north in 10 s, 111.195 m: 40.0 km/h. Taxi 7 stands, then drives 0.002° south in 30 s.
    lines = _lines(TAXIS, 23)
    assert lines[:4] == [
        "1,2008-02-02 15:36:18,116.4,39.901,40,0",
        "1,2008-02-02 15:36:28,116.4,39.902,40,0",
        "1,2008-02-02 15:36:38,116.4,39.903,40,0",
        "7,2008-02-02 15:36:43,116.3,39.85,0,0",
    ]
    assert lines[22] == "7,2008-02-02 15:42:13,116.3,39.84,26.7,180"


def test_a_taxis_fix_without_a_speed_is_left_out() -> None:
    # Left out: each taxi's first fix, the repeated second, the jump of two degrees, the fix after eighteen minutes.
    lines = _lines(TAXIS, 24)
    assert sum(line.startswith("1,") for line in lines[:-1]) == 11
    assert sum(line.startswith("7,") for line in lines[:-1]) == 12
    assert not any(line.startswith("30,") for line in lines)
    assert lines[23].startswith("1,2008-02-02 15:42:"), "the second round goes on where the first ended"


def test_a_buss_microseconds_and_vehicle_are_read() -> None:
    # Bus 40040 drives 0.002° north in 20 s: 222.39 m, 40.0 km/h. Bus 33511 drives half of that south.
    lines = _lines(BUSES, 24)
    assert lines[:2] == [
        "40040,2012-11-06 00:00:20,-6.25,53.302,40,0",
        "33511,2012-11-06 00:00:27,-6.24,53.349,20,180",
    ]
    assert [line.split(",")[0] for line in lines].count("40040") == 13


def test_lines_of_the_stream_itself_replay_byte_for_byte(tmp_path: Path) -> None:
    payloads = encode(STREAM, SyntheticTraces(3).block(0, 40)).to_pylist()
    file = tmp_path / "own.csv"
    file.write_bytes(b"\n".join(payloads) + b"\n")
    assert _lines(file, 40) == [line.decode() for line in payloads]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("1,2008-02-02 15:36:08,116.5,39.9\n2,2008-02-02 15:36:09,116.5,39.9\n", "no vehicle with two fixes"),
        ("1,2008-02-02 15:36:08,116.5,39.9\nx,2008-02-02 15:36:09,116.5,39.9\n", "line 2.*invalid value 'x'"),
        ("1;2;3\n", "Expected 6 columns, got 1"),
        ("", "is empty"),
    ],
)
def test_a_file_that_is_no_trace_is_named(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "bad.txt"
    file.write_text(content)
    with pytest.raises(UserError, match=told):
        _lines(file, 1)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no file"):
        _lines(tmp_path / "none.txt", 1)


def test_generated_vehicles_are_plausible() -> None:
    block = SyntheticTraces(5).block(0, 40_000)
    lon, lat = block["lon"].to_numpy(), block["lat"].to_numpy()
    outside = (lon < WEST) | (lon > EAST) | (lat < SOUTH) | (lat > NORTH)
    assert 0.01 < outside.mean() < 0.06
    speed = block["speed_kmh"].to_numpy()
    assert 0.03 < (speed == 0).mean() < 0.08 and speed.max() < 120
    assert len(np.unique(block["vehicle_id"].to_numpy())) == 4096
    seconds = block["time"].cast(pa.int64()).to_numpy()
    assert np.all(np.diff(seconds) >= -1) and seconds[-1] - seconds[0] in (199, 200)


def test_a_generated_vehicle_moves_as_fast_as_it_says() -> None:
    block = SyntheticTraces(5).block(0, 4096 * 8)
    mine = block.filter(pa.array(block["vehicle_id"].to_numpy() == 77)).to_pydict()
    steps = [
        (np.hypot((b - a) * 85_300, (d - c) * 111_195), speed)
        for a, b, c, d, speed in zip(
            mine["lon"], mine["lon"][1:], mine["lat"], mine["lat"][1:], mine["speed_kmh"][1:], strict=False
        )
    ]
    driven = [metres for metres, speed in steps if metres < 1000 and speed > 0]
    said = [speed / 3.6 * 20.48 for metres, speed in steps if metres < 1000 and speed > 0]
    assert len(driven) >= 5 and 0.6 < sum(driven) / sum(said) < 1.4
