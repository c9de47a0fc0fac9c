"""State between batches: wherever a log is cut into batches, its rows get the same answers."""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import pairwise

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.applications.count_window import sums_over_last
from streamgauge.applications.rack_periods import end_periods, sum_up_periods
from streamgauge.applications.stateful import ORIGIN_COLUMNS

rows = st.lists(st.tuples(st.sampled_from("abc"), st.integers(-(10**9), 10**9), st.booleans()), min_size=1, max_size=40)
cuts = st.lists(st.integers(1, 39), max_size=4)


def _batches(frame: pd.DataFrame, at: list[int]) -> list[pd.DataFrame]:
    bounds = sorted({0, len(frame), *(cut for cut in at if cut < len(frame))})
    return [frame[begin:end].reset_index(drop=True) for begin, end in pairwise(bounds)]


@settings(deadline=None)
@given(rows, cuts, st.integers(1, 6))
def test_sums_are_those_of_a_queue_per_key(log: list[tuple[str, int, bool]], at: list[int], size: int) -> None:
    queues: dict[str, deque[int]] = defaultdict(lambda: deque(maxlen=size))
    expected = []
    for key, amount, member in log:
        if member:
            queues[key].append(amount)
        expected.append((len(queues[key]), sum(queues[key])))
    found, state = [], None
    for batch in _batches(pd.DataFrame(log, columns=["key", "amount", "member"]), at):
        last = sums_over_last(size, state, batch, "key", ["amount"], batch["member"].to_numpy())
        found += zip(last.count.tolist(), last.sums[0].tolist(), strict=True)
        state = last.state
    assert found == expected


readings = st.lists(
    st.tuples(st.integers(1, 2), st.integers(0, 3), st.integers(1, 4), st.integers(0, 10**6), st.integers(0, 10**6)),
    min_size=1,
    max_size=40,
)


def _answers(log: pd.DataFrame, at: list[int], machines: int, window: int) -> list[list[object]]:
    """The rows of both steps over these batches, in the order of the log."""
    state_of_readings = state_of_periods = None
    found: list[list[object]] = []
    for batch in _batches(log, at):
        state_of_readings, periods = end_periods(machines, state_of_readings, batch)
        if len(periods):
            periods = periods.sort_values("origin_offset", ignore_index=True)
            state_of_periods, summed = sum_up_periods(window, state_of_periods, periods)
            repeated = sum_up_periods(window, state_of_periods, periods)
            assert repeated[0] == state_of_periods and repeated[1].empty
            found += [[np.asarray(value).tolist() for value in row] for row in summed.to_numpy()]
    return found


@settings(deadline=None)
@given(readings, cuts, st.integers(1, 6), st.integers(1, 4))
def test_periods_do_not_depend_on_the_batches(
    log: list[tuple[int, ...]], at: list[int], machines: int, window: int
) -> None:
    frame = pd.DataFrame(log, columns=["rack", "start_ms", "machine_id", "cpu", "memory"])
    frame = frame.assign(**dict.fromkeys(ORIGIN_COLUMNS, 0)).assign(origin_offset=np.arange(len(frame)))
    assert _answers(frame, at, machines, window) == _answers(frame, [], machines, window)
