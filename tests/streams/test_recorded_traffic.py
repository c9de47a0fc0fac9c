"""Recorded traffic observations: both streams take the same pairs out of one file, in the order of their instants."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pyarrow.compute as pc
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams import get_stream
from streamgauge.streams.traffic_observations import lanes_per_instant
from streamgauge.streams.wire import encode

SAMPLE = Path(__file__).parent / "data" / "ndw-sample.txt"
POINT_A, POINT_B = "nl/9/9/a/1/TEST01_POINT_A", "nl/9/9/b/7/TEST01_POINT_B"


def _block(name: str, path: Path, start: int = 0, count: int = 5) -> list[tuple]:
    stream = get_stream(name)
    value = "flow" if name == "traffic-flow-counts" else "speed"
    rows = stream.recorded(path).block(start, count).to_pylist()
    return [(r["measurement_id"], r["lane"], r["observed_at"], r[value]) for r in rows]


def _at(minute: int) -> datetime:
    return datetime(2017, 3, 15, 14, minute)


def test_both_streams_give_the_pairs_of_a_file_at_the_same_index():
    assert _block("traffic-flow-counts", SAMPLE) == [
        (POINT_A, "lane1", _at(41), 360),
        (POINT_A, "lane2", _at(41), 900),
        (POINT_B, "lane1", _at(41), 1080),
        (POINT_A, "lane1", _at(42), 960),
        (POINT_A, "lane1", _at(43), 420),
    ]
    assert _block("traffic-speeds", SAMPLE) == [
        (POINT_A, "lane1", _at(41), 92.0),
        (POINT_A, "lane2", _at(41), 73.42),
        (POINT_B, "lane1", _at(41), 118.5),
        (POINT_A, "lane1", _at(42), 91.69),
        (POINT_A, "lane1", _at(43), 90.0),
    ]


def test_the_second_round_goes_on_after_the_first():
    first, again = _block("traffic-speeds", SAMPLE, 0, 5), _block("traffic-speeds", SAMPLE, 5, 5)
    assert [row[3] for row in again] == [row[3] for row in first]
    assert min(row[2] for row in again) > max(row[2] for row in first)
    assert [row[2] for row in again] == [row[2] for row in _block("traffic-flow-counts", SAMPLE, 5, 5)]


def test_the_other_members_are_kept():
    block = get_stream("traffic-flow-counts").recorded(SAMPLE).block(1, 1).to_pylist()[0]
    assert (block["lat"], block["long"], block["period"], block["accuracy"], block["num_lanes"]) == (
        51.41268,
        5.42929,
        60,
        95,
        2,
    )


def test_a_file_of_flows_alone_is_taken_as_it_is(tmp_path):
    lines = [line for line in SAMPLE.read_text().splitlines() if '"flow"' in line and ":42:00" in line]
    (tmp_path / "flows.txt").write_text("\n".join(lines))
    assert _block("traffic-flow-counts", tmp_path / "flows.txt", 0, 3) == [
        (POINT_A, "lane1", _at(42), 960),
        (POINT_A, "lane2", _at(42), 0),
        (POINT_B, "lane1", _at(42), 1140),
    ]
    with pytest.raises(UserError, match="no observation of speed"):
        get_stream("traffic-speeds").recorded(tmp_path / "flows.txt")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no observation\n", "no observation: no observation"),
        ('a/lane1= {"flow":"many","timestamp":"2017-03-15 14:41:00.0"}\n', "flow|JSON"),
        ('a/lane1= {"flow":1,"timestamp":"yesterday"}\n', "yesterday"),
        ("", "is empty"),
    ],
)
def test_what_cannot_be_read_is_the_users_error(tmp_path, text, said):
    (tmp_path / "wrong.txt").write_text(text)
    with pytest.raises(UserError, match=said):
        get_stream("traffic-flow-counts").recorded(tmp_path / "wrong.txt")


def test_generated_pairs_are_complete_and_plausible():
    names = ("traffic-flow-counts", "traffic-speeds")
    counts, speeds = (get_stream(name).synthetic(5).block(0, 20_000) for name in names)
    for name in ("measurement_id", "lane", "observed_at"):
        assert counts[name].equals(speeds[name])
    places = set(zip(*(counts[name].to_pylist() for name in ("measurement_id", "lane", "observed_at")), strict=True))
    assert len(places) == 20_000
    assert 200 <= lanes_per_instant() <= 300
    assert pc.min(counts["flow"]).as_py() >= 60
    assert pc.multiply(pc.divide(counts["flow"], 60), 60).equals(counts["flow"])
    assert pc.min(speeds["speed"]).as_py() > 20 and pc.max(speeds["speed"]).as_py() < 140
    hundredths = pc.multiply(speeds["speed"], 100)
    assert pc.max(pc.abs(pc.subtract(hundredths, pc.round(hundredths)))).as_py() < 1e-9
    sizes = pc.binary_length(encode(get_stream("traffic-speeds"), speeds))
    assert 140 < pc.mean(sizes).as_py() < 200
