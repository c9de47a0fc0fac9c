"""machine-usage replays task_usage of the cluster traces, summed up per machine and period."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.machine_usage import STREAM, _recorded

FILE = Path(__file__).parent / "data" / "task-usage-sample.csv"
TEN_MINUTES_BEFORE = 1_304_290_200_000
"""2011-05-01 22:50 UTC in milliseconds: where the traces' clock stands at zero."""


def test_tasks_are_summed_up_per_machine_and_period() -> None:
    expected: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    with FILE.open() as file:
        for start, _, _, _, machine, cpu, memory, *_ in csv.reader(file):
            used = expected[int(start) // 300_000_000, int(machine)]
            used[0] += float(cpu)
            used[1] += float(memory)
    rows = _recorded(FILE).block(0, len(expected)).to_pylist()
    assert [(row["start_ms"], row["machine_id"]) for row in rows] == [
        (TEN_MINUTES_BEFORE + period * 300_000, machine) for period, machine in sorted(expected)
    ]
    for row, (_, used) in zip(rows, sorted(expected.items()), strict=True):
        assert [row["cpu"], row["memory"]] == pytest.approx(used, abs=1e-6)
        assert row["rack"] == row["machine_id"] % 512 and row["abnormal"] is None


def test_rounds_go_on_where_the_last_ended() -> None:
    start_ms = _recorded(FILE).block(0, 48)["start_ms"].to_numpy().reshape(3, 16)
    assert np.all(np.diff(start_ms, axis=1) >= 0) and np.all(start_ms[1:, 0] > start_ms[:-1, -1])


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("600000000,900000000,3418309,0\n", "has no events"),
        ("600000000,900000000,3418309,0,4155527081,0.1,0.1\nsix,9,3,0,4,0.1,0.1\n", "line 2.*'six'"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "part-00000.csv"
    file.write_text(content)
    with pytest.raises(UserError, match=told) as raised:
        _recorded(file)
    assert str(file) in raised.value.cause


def test_generated_usage_is_plausible() -> None:
    block = STREAM.synthetic(5).block(0, 51_200)
    start_ms, machine_id, rack = (block[name].to_numpy() for name in ("start_ms", "machine_id", "rack"))
    assert np.all(np.diff(start_ms) >= 0) and len(np.unique(start_ms)) == 200
    assert np.all(np.unique(machine_id, return_counts=True)[1] == 200) and len(np.unique(rack)) == 16
    assert len({tuple(pair) for pair in zip(machine_id.tolist(), rack.tolist(), strict=True)}) == 256
    abnormal = block["abnormal"].to_numpy().astype(bool)
    cpu, memory = block["cpu"].to_numpy(), block["memory"].to_numpy()
    assert 0.01 < abnormal.mean() < 0.04 and cpu.min() > 0 and max(cpu.max(), memory.max()) <= 1
    assert cpu[abnormal].min() > cpu[~abnormal].max() and memory[abnormal].min() > memory[~abnormal].max()
