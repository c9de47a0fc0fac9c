"""A store with a run, and a browser of it that knows the token or does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from streamgauge.dashboard.guard import Control
from streamgauge.dashboard.server import application
from tests.report.sample_run import store_sample

PORT = 8000
HOME = f"http://127.0.0.1:{PORT}"


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of sixteen trials that no test changes; its parent is the store."""
    return store_sample(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def reading(stored: Path) -> TestClient:
    """A browser without the token, over the run that no test changes."""
    return TestClient(application(stored.parent, control()), base_url=HOME)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run without trials that a test may change."""
    return store_sample(tmp_path, [])


@pytest.fixture
def changing(run: Path) -> TestClient:
    """A browser with the token, over the run that a test may change."""
    known = control()
    headers = {"X-Streamgauge-Token": known.token, "Origin": HOME}
    return TestClient(application(run.parent, known), base_url=HOME, headers=headers)


def control() -> Control:
    """The control of a page on loopback."""
    return Control.at("127.0.0.1", PORT)
