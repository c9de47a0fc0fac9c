"""Ad events as the benchmark's generator writes them are read, whether their time is a text or a number."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.ad_events import FIELDS, STREAM, SyntheticAdEvents
from streamgauge.streams.tables.ad_campaigns import TABLE, ads
from streamgauge.streams.wire import encode

SAMPLE = Path(__file__).parent / "data" / "ad-events-sample.json"
LINES = [json.loads(line) for line in SAMPLE.read_text().splitlines()]


def _recorded(path: Path, count: int) -> list[dict[str, object]]:
    assert STREAM.recorded is not None
    rows: list[dict[str, object]] = STREAM.recorded(path).block(0, count).to_pylist()
    return rows


def test_a_file_replays_with_its_times_as_numbers() -> None:
    expected = [{**line, "event_time": int(line["event_time"])} for line in LINES]
    assert _recorded(SAMPLE, len(LINES)) == expected
    assert isinstance(LINES[0]["event_time"], str)


def test_times_may_be_numbers_and_the_file_packed(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.json.gz"
    lines = [json.dumps({**line, "event_time": int(line["event_time"]), "more": [1]}) for line in LINES]
    numbers.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert _recorded(numbers, 40) == _recorded(SAMPLE, 40)


def test_each_round_is_later_than_the_one_before() -> None:
    times = np.array([row["event_time"] for row in _recorded(SAMPLE, 90)]).reshape(3, 30)
    assert np.all(times[:-1].max(axis=1) < times[1:].min(axis=1))
    assert len(set(np.diff(times, axis=0).ravel().tolist())) == 1


def test_what_was_replayed_is_read_back_by_the_same_reader(tmp_path: Path) -> None:
    assert STREAM.recorded is not None
    written = tmp_path / "again.json"
    written.write_bytes(b"\n".join(encode(STREAM, STREAM.recorded(SAMPLE).block(0, 30)).to_pylist()))
    assert _recorded(written, 30) == _recorded(SAMPLE, 30)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("{}\nnot json\n", "bad.json"),
        ('{"event_time": "soon"}\n', "bad.json.*soon"),
        ('{"event_time": "1"}\n{"event_time": 2}\n', "bad.json"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(content)
    with pytest.raises(UserError, match=told) as raised:
        _recorded(file, 1)
    assert "\n" not in str(raised.value)


def test_a_missing_and_a_broken_file_are_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json.gz"
    broken.write_bytes(gzip.compress(SAMPLE.read_bytes())[:-20])
    for file in (broken, tmp_path / "none.json"):
        with pytest.raises(UserError, match=file.name):
            _recorded(file, 1)


def test_generated_events_are_the_benchmarks() -> None:
    block = SyntheticAdEvents(7).block(0, 60_000)
    assert [f.name for f in FIELDS] == list(LINES[0])
    shares = {row["values"]: row["counts"] / 60_000 for row in pc.value_counts(block["event_type"]).to_pylist()}
    assert shares.keys() == {"view", "click", "purchase"} and all(0.32 < share < 0.35 for share in shares.values())
    assert set(block["ad_id"].to_pylist()) == set(ads()) == set(TABLE.synthetic()["ad_id"].to_pylist())
    assert len(pc.unique(block["user_id"])) == len(pc.unique(block["page_id"])) == 100
    assert len(pc.unique(block["ad_type"])) == 5
    sizes = pc.binary_length(encode(STREAM, block))
    assert 230 < pc.mean(sizes).as_py() < 260


def test_members_do_not_follow_from_each_other() -> None:
    block = SyntheticAdEvents(3).block(0, 100_000)
    views = block.filter(pc.equal(block["event_type"], "view"))
    counts = pc.value_counts(views["ad_type"]).field("counts").to_numpy()
    assert len(counts) == 5 and counts.min() > 0.9 * counts.max()
    per_ad = pc.value_counts(views["ad_id"]).field("counts").to_numpy()
    assert len(per_ad) == 1000 and per_ad.max() < 3 * per_ad.mean()


def test_times_go_on_for_ever_with_a_little_skew_and_few_late_events() -> None:
    times = SyntheticAdEvents(7).block(0, 1_000_000)["event_time"].to_numpy()
    behind = np.arange(len(times)) + times[0] - times
    usual = behind[np.abs(behind) <= 200]
    assert usual.max() - usual.min() == 99
    late = behind[np.abs(behind) > 200]
    assert 1 <= len(late) <= 30 and late.min() > 0 and late.max() <= 60_200
    far = SyntheticAdEvents(7).block(10**12, 10)["event_time"].to_numpy()
    assert far.min() > times.max()
