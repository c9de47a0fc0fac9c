"""plug-loads: files of the DEBS 2014 challenge replay as they are; generated plugs tell of days."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.plug_loads import LOAD, STREAM, WORK, SyntheticLoads

SAMPLE = Path(__file__).parent / "data" / "debs2014-sample.csv"


def _source(path: Path):
    assert STREAM.recorded is not None
    return STREAM.recorded(path)


def test_a_file_of_the_challenge_replays_with_the_same_numbers() -> None:
    lines = SAMPLE.read_text().splitlines()
    block = _source(SAMPLE).block(0, len(lines))
    for line, row in zip(lines, block.to_pylist(), strict=True):
        assert [float(text) for text in line.split(",")] == list(row.values())


def test_rounds_go_on_where_the_last_ended() -> None:
    count = len(SAMPLE.read_text().splitlines())
    seconds = _source(SAMPLE).block(0, 3 * count)["timestamp"].to_numpy().reshape(3, count)
    assert np.all(seconds[:-1].max(axis=1) < seconds[1:].min(axis=1))
    assert len(set(np.diff(seconds, axis=0).ravel().tolist())) == 1
    whole = _source(SAMPLE).block(0, 100)
    assert _source(SAMPLE).block(30, 40).equals(whole[30:70])


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text("1,1377986401,68.451,0,11,0,0\n2,1377986401,19.927\n")
    with pytest.raises(UserError, match="line 2: Expected 7 columns, got 3"):
        _source(file)


def test_generated_plugs_tell_of_days() -> None:
    block = SyntheticLoads(4).block(0, 20_000)
    columns = {name: block[name].to_numpy() for name in block.schema.names}
    days = (columns["timestamp"][-1] - columns["timestamp"][0]) / 86_400
    assert 3 < days < 4
    plugs = {tuple(row) for row in np.stack([columns[n] for n in ("house_id", "household_id", "plug_id")], axis=1)}
    assert len(plugs) == 48
    assert 0.2 < (columns["property"] == WORK).mean() < 0.3
    loads = columns["value"][columns["property"] == LOAD]
    assert loads.min() == 0 and 500 < loads.max() < 4000 and np.median(loads) > 0
    assert np.all(np.diff(np.maximum.accumulate(columns["timestamp"])) <= 30)


def test_generated_work_only_grows() -> None:
    block = SyntheticLoads(4).block(0, 20_000).to_pydict()
    work = [
        value
        for value, kind, house, household, plug in zip(
            *(block[n] for n in ("value", "property", "house_id", "household_id", "plug_id")), strict=True
        )
        if (kind, house, household, plug) == (WORK, 3, 1, 2)
    ]
    assert len(work) > 50 and work == sorted(work) and work[-1] > work[0]
