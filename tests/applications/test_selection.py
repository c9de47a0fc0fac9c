"""Selection by median of medians finds what sorting finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.applications.selection import select

whole_numbers = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), min_size=1, max_size=200)


@settings(deadline=None)
@given(whole_numbers, st.data())
def test_every_rank_is_what_sorting_puts_there(values: list[int], data: st.DataObject) -> None:
    rank = data.draw(st.integers(0, len(values) - 1))
    assert select(np.array(values, np.int64), rank) == sorted(values)[rank]


@pytest.mark.parametrize("order", ["rising", "falling", "organ pipe", "all alike"])
def test_an_order_that_is_hard_on_other_pivots_is_not_hard_on_this_one(order: str) -> None:
    rising = np.arange(10_001)
    values = {
        "rising": rising,
        "falling": rising[::-1],
        "organ pipe": np.concatenate([rising[::2], rising[1::2][::-1]]),
        "all alike": np.full(10_001, 7),
    }[order]
    assert [select(values, rank) for rank in (0, 5_000, 10_000)] == (
        [7] * 3 if order == "all alike" else [0, 5000, 10000]
    )


def test_the_values_are_left_as_they_were() -> None:
    values = np.array([3, 1, 2, 9, 8, 7, 6])
    assert select(values, 0) == 1 and values.tolist() == [3, 1, 2, 9, 8, 7, 6]


@pytest.mark.parametrize("rank", [-1, 3])
def test_a_rank_that_no_value_has_is_refused(rank: int) -> None:
    with pytest.raises(ValueError, match="no rank"):
        select(np.array([1, 2, 3]), rank)
