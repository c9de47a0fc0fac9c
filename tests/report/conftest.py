"""A stored run, written by the store's own writer, that every test of this room may read."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.store import StoredRun
from tests.report.sample_run import store_sample


@pytest.fixture(scope="session")
def stored_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a complete run with everything that can happen in it."""
    return store_sample(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def stored(stored_folder: Path) -> StoredRun:
    """That run, read back."""
    return StoredRun.open(stored_folder)
