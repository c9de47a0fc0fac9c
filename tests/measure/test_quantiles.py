"""Quantiles from counts against the expanded sample."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.measure.quantiles import PERCENTILES, is_carried, quantiles_of_counts, quantiles_of_table

COUNTS = st.dictionaries(st.integers(0, 10_000), st.integers(1, 5_000), min_size=1, max_size=20)


@given(counts=COUNTS)
def test_quantiles_are_those_of_the_expanded_sample(counts) -> None:
    values, weights = list(counts), list(counts.values())
    sample = np.sort(np.repeat(values, weights))
    found = quantiles_of_counts(values, weights)
    assert found.n == len(sample)
    assert found.mean == pytest.approx(sample.mean())
    assert found.max == sample.max()
    assert found.percentiles["p50"] == np.quantile(sample, 0.5, method="inverted_cdf")
    for name, share in PERCENTILES.items():
        q = Fraction(share, 100_000)
        if name != "p50" and len(sample) * (1 - q) < 10:
            assert found.percentiles[name] is None
        else:
            value = found.percentiles[name]
            assert Fraction(int((sample <= value).sum()), len(sample)) >= q
            assert Fraction(int((sample < value).sum()), len(sample)) < q


@pytest.mark.parametrize(
    ("name", "enough"), [("p50", 1), ("p95", 200), ("p99", 1_000), ("p99.9", 10_000), ("p99.999", 1_000_000)]
)
def test_a_percentile_needs_ten_samples_beyond_it(name, enough) -> None:
    assert is_carried(name, enough)
    assert not is_carried(name, enough - 1)


def test_an_empty_sample_has_no_figure() -> None:
    found = quantiles_of_counts([], []).as_dict()
    assert found == {
        "n": 0, "mean": None, "p50": None, "p95": None, "p99": None, "p99.9": None, "p99.999": None, "max": None,
    }  # fmt: skip


def test_values_may_come_unsorted_and_split_over_seconds() -> None:
    table = pa.table({"kind": ["event", "event", "due", "event"], "latency_ms": [9, 1, 500, 9], "count": [1, 2, 7, 1]})
    found = quantiles_of_table(table, "latency_ms", "event")
    assert (found.n, found.percentiles["p50"], found.max, found.mean) == (4, 1, 9, 5.0)
