"""A bounded DuckDB connection for each test."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from streamgauge.store.tables import connect


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    opened = connect(tmp_path / "spill", "256MB")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def shared_connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """For property tests, which run many examples in one test."""
    opened = connect(tmp_path_factory.mktemp("spill"), "256MB")
    yield opened
    opened.close()
