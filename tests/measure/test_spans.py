"""Quantiles of a span: the same as of all samples whose event entered the log within it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamgauge.measure.quantiles import quantiles_of_counts
from streamgauge.measure.spans import Span, of_counts, of_samples

START = 1_760_000_000_000
AT_MS = [0, 400, 999, 1000, 1001, 2500, 2999]
LATENCY = [5, 7, -2, 100, 30, 8, 9]


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection in memory."""
    with duckdb.connect(":memory:") as made:
        yield made


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven samples over three seconds, and others of another kind."""
    path = tmp_path_factory.mktemp("samples") / "it's samples.parquet"
    kinds = ["event"] * len(AT_MS) + ["output"] * len(AT_MS)
    rows = {"kind": kinds, "at_ms": [START + at for at in AT_MS] * 2, "latency_ms": [*LATENCY, *([10_000] * 7)]}
    pq.write_table(pa.table(rows), path)
    return path


def test_a_span_begins_with_its_first_instant_and_ends_before_its_last(
    connection: duckdb.DuckDBPyConnection, samples: Path
) -> None:
    found = of_samples(connection, samples, START, Span(1, 3)).quantiles
    assert (found.n, found.percentiles["p50"], found.max) == (4, 9, 100)
    assert of_samples(connection, samples, START, Span(1, 2.999)).quantiles.n == 3


def test_a_latency_below_zero_counts_as_zero(connection: duckdb.DuckDBPyConnection, samples: Path) -> None:
    found = of_samples(connection, samples, START, Span(0.5, 1)).quantiles
    assert (found.n, found.mean, found.max) == (1, 0.0, 0)


def test_without_limits_everything_counts_and_an_empty_span_has_nothing(
    connection: duckdb.DuckDBPyConnection, samples: Path
) -> None:
    assert of_samples(connection, samples, START, Span(-math.inf, math.inf)).quantiles.n == 7
    nothing = of_samples(connection, samples, START, Span(50, 60)).as_dict()
    assert (nothing["n"], nothing["p50"], nothing["exact"]) == (0, None, True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(st.floats(-1, 4, allow_nan=False), st.floats(0.001, 4, allow_nan=False))
def test_a_span_holds_what_numpy_finds_in_it(
    connection: duckdb.DuckDBPyConnection, samples: Path, low: float, length: float
) -> None:
    at, latency = np.array(AT_MS), np.maximum(LATENCY, 0)
    inside = (at + START >= START + low * 1000) & (at + START < START + (low + length) * 1000)
    values, counts = np.unique(latency[inside], return_counts=True)
    found = of_samples(connection, samples, START, Span(low, low + length)).quantiles
    assert found == quantiles_of_counts(values, counts)


def test_counts_are_taken_by_whole_slots(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = {"kind": ["event"] * 4, "second": [0, 1, 1, 2], "latency_ms": [5, 6, 7, 900], "count": [10, 20, 30, 40]}
    path = tmp_path / "latency.parquet"
    pq.write_table(pa.table(rows), path)
    found = of_counts(connection, path, Span(0.7, 1.2))
    assert (found.quantiles.n, found.quantiles.max, found.exact) == (60, 7, False)
    assert of_counts(connection, path, Span(-math.inf, math.inf)).quantiles.n == 100
