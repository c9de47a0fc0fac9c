"""Append times kept as runs say of every record what a plain list would."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.log.append_times import AppendTimes

BATCHES = st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(1_000, 1_003)), min_size=1), max_size=8)


@given(BATCHES)
def test_every_record_has_the_time_that_it_was_added_with(batches: list[list[tuple[int, int]]]) -> None:
    times, plain = AppendTimes(), {partition: list[int]() for partition in range(4)}
    for batch in batches:
        partitions, append_ms = (np.array(column) for column in zip(*batch, strict=True))
        times.add(partitions, append_ms)
        for partition, at_ms in batch:
            plain[partition].append(at_ms)
        assert times.records == sum(map(len, plain.values()))
    for partition, wanted in plain.items():
        assert times.held(partition) == len(wanted)
        assert times.at(partition, np.arange(len(wanted))).tolist() == wanted


def test_what_is_appended_at_once_takes_no_more_room_than_one_record() -> None:
    times = AppendTimes()
    for second in range(100):
        times.add(np.zeros(10_000, np.int32), np.full(10_000, 1_000 * second))
    assert times.records == 1_000_000
    ends, append_ms = times._of(0)
    assert len(ends) == len(append_ms) == 100
