"""Figures of the last seconds, worked out by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamgauge.watch.newest import NewestLatency, NewestRate


def test_a_rate_is_the_growth_over_the_last_two_seconds() -> None:
    rate = NewestRate(2.0)
    assert rate.note(0.0, 0) is None
    assert rate.note(0.5, 100) == 200
    assert rate.note(1.0, 100) == 100
    assert rate.note(2.0, 100) == 50
    assert rate.note(2.5, 100) == 0, "the growth up to 0.5 s is older than two seconds"


def test_a_total_that_falls_or_is_unknown_begins_again() -> None:
    rate = NewestRate()
    rate.note(0.0, 1000)
    assert rate.note(0.5, 10) is None
    assert rate.note(1.0, 20) == 20
    assert rate.note(1.5, None) is None
    assert rate.note(2.0, 500) is None


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=50))
def test_a_rate_is_never_negative(totals: list[int]) -> None:
    rate = NewestRate()
    found = [rate.note(at / 2, total) for at, total in enumerate(totals)]
    assert all(each is None or each >= 0 for each in found)


def test_percentiles_are_of_the_last_seconds_and_only_what_the_sample_carries() -> None:
    latency = NewestLatency(5.0)
    assert latency.note(0.0, []) == (None, None)
    assert latency.note(0.5, [10, 20, 30]) == (20, None), "p99 needs a thousand"
    assert latency.note(1.0, [*range(1, 1001)])[1] == 990
    assert latency.note(1.5, [-5])[0] is not None
    assert latency.note(6.4, []) == (0, None), "only what was seen at 1.5 s is left, and it stands as 0"
    assert latency.note(6.5, []) == (None, None)
