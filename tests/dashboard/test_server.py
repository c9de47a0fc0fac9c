"""The pages as a browser asks for them, without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from streamgauge.dashboard.server import application
from tests.report.sample_run import store_sample

HOME = "http://127.0.0.1:8000"


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    """A browser of an empty store."""
    return TestClient(application(tmp_path), base_url=HOME)


def test_an_empty_store_says_what_to_do(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert "No run yet" in answer.text


def test_a_run_is_listed_and_shown(client: TestClient, tmp_path: Path) -> None:
    name = store_sample(tmp_path).name
    assert name in client.get("/").text
    shown = client.get(f"/runs/{name}")
    assert shown.status_code == 200
    assert "Latency by percentile" in shown.text


def test_what_is_not_there_is_404(client: TestClient) -> None:
    assert client.get("/runs/none").status_code == 404
    assert client.get("/nothing").status_code == 404
