"""Quantiles between two milliseconds."""

from __future__ import annotations

import pyarrow as pa
import pytest
from bench.within import within_a_millisecond
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.measure.quantiles import quantiles_of_table


def counts(of: list[tuple[int, int]]) -> pa.Table:
    """Counts of events by latency, in one second, with a due latency that must not be counted."""
    rows = [("event", 0, value, count) for value, count in of] + [("due", 0, 99, 1000)]
    names = ("kind", "second", "latency_ms", "count")
    return pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


@pytest.mark.parametrize(
    ("of", "share", "latency_ms"),
    [
        ([(2, 100)], 0.5, 2.5),
        ([(2, 50), (3, 50)], 0.5, 3.0),
        ([(3, 75), (2, 25)], 0.5, 3 + 25 / 75),
        ([(2, 99), (500, 1)], 0.99, 3.0),
    ],
)
def test_events_of_one_millisecond_lie_evenly_in_it(of: list[tuple[int, int]], share: float, latency_ms: float) -> None:
    assert within_a_millisecond(counts(of), share) == pytest.approx(latency_ms)


@given(st.dictionaries(st.integers(0, 300), st.integers(1, 50), min_size=1))
def test_it_is_the_whole_millisecond_and_less_than_another(of: dict[int, int]) -> None:
    table = counts(list(of.items()))
    whole = quantiles_of_table(table, "latency_ms", "event").percentiles["p50"]
    assert whole is not None
    assert whole < within_a_millisecond(table, 0.5) <= whole + 1
