"""The growth of counters as one total."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamgauge.watch.totals import GrowingTotal

GROWTH = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 1000), max_size=4)


@given(st.lists(GROWTH, max_size=8), GROWTH)
def test_total_is_all_growth_since_settling_however_counters_come_and_go(
    steps: list[dict[str, int]], before: dict[str, int]
) -> None:
    total = GrowingTotal()
    total.settle(before)
    counters = dict(before)
    last = total.total
    for grown in steps:
        for key, by in grown.items():
            counters[key] = counters.get(key, 0) + by
        now = total.grow({key: counters[key] for key in grown})
        assert now >= last
        last = now
    assert total.total == sum(counters.values()) - sum(before.values())


def test_a_counter_that_falls_adds_nothing() -> None:
    total = GrowingTotal()
    assert total.grow({"a": 10}) == 10
    assert total.grow({"a": 4}) == 10
    assert total.grow({"a": 5}) == 11
