"""sensor-readings replays the laboratory's file, and its own readings look like it."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.sensor_readings import STREAM, _recorded
from streamgauge.streams.wire import encode

FILE = Path(__file__).parent / "data" / "sensor-readings-sample.txt"


def _instant(line: bytes) -> datetime:
    return datetime.fromisoformat(" ".join(line.decode().split(" ")[:2]))


def test_the_file_replays_field_by_field() -> None:
    lines = FILE.read_bytes().splitlines()
    replayed = encode(STREAM, _recorded(FILE).block(0, len(lines))).to_pylist()
    for line, event in zip(lines, replayed, strict=True):
        fields = event.split(b" ")
        assert len(fields) == 9 and fields[8] == b""
        given = line.split(b" ")
        assert fields[:4] == given[:4]
        assert [float(text) for text in fields[4:] if text] == [float(text) for text in given[4:]]


def test_what_a_line_is_cut_off_before_is_missing() -> None:
    block = _recorded(FILE).block(0, 36)
    assert block["temperature"].to_pylist()[20] is None and block["humidity"].to_pylist()[27] == -3.91901
    assert [block[name].null_count for name in ("temperature", "humidity", "light", "voltage")] == [1, 1, 2, 2]
    assert block["spike"].null_count == 36


def test_rounds_go_on_where_the_last_ended() -> None:
    events = encode(STREAM, _recorded(FILE).block(0, 108)).to_pylist()
    instants = [_instant(line) for line in events]
    assert instants == sorted(instants)
    shifts = {later - earlier for earlier, later in zip(instants, instants[36:], strict=False)}
    assert len(shifts) == 1 and shifts.pop() > instants[35] - instants[0] > timedelta(0)
    assert encode(STREAM, _recorded(FILE).block(30, 40)).to_pylist() == events[30:70]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("2004-03-01 00:00:01.5 1 1 19.1 38.0 45.08 2.7\n2004-03-01 00:00:02.5 1 one 19.1\n", "line 2.*'one'"),
        ("2004-03-01 noon 1 1 19.1 38.0 45.08 2.7\n", "noon"),
        ("2004-03-01 00:00:01.5 1 1 19.1 38.0 45.08 2.7 9 9\n", "line 1"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "data.txt"
    file.write_text(content)
    with pytest.raises(UserError, match=told) as raised:
        _recorded(file)
    assert str(file) in raised.value.cause and "\n" not in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no file"):
        _recorded(tmp_path / "none.txt")


def test_generated_readings_are_plausible() -> None:
    block = STREAM.synthetic(5).block(0, 50_000)
    spike = block["spike"].to_numpy().astype(bool)
    celsius = block["temperature"].to_numpy()
    assert 0.003 < spike.mean() < 0.005 and celsius[~spike].min() > 15 and celsius[~spike].max() < 30
    assert set(block["moteid"].to_pylist()) == set(range(1, 129))
    epochs = block["epoch"].to_numpy()
    assert all(len(set(block["moteid"].to_numpy()[epochs == epoch])) == 128 for epoch in (2, 3, 100))
    of_one = block["moteid"].to_numpy() == 17
    assert np.abs(np.diff(celsius[of_one & ~spike])).max() < 0.5
    instants = [_instant(line) for line in encode(STREAM, block[:2000]).to_pylist()]
    behind = [max(earlier - later, timedelta(0)) for earlier, later in pairwise(instants)]
    assert max(behind) < timedelta(seconds=1) and instants[-1] - instants[0] > timedelta(minutes=5)
