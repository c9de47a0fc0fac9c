"""`streamgauge serve`: prints its address, answers, ends cleanly, and says in one line what is in its way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.cli import main
from streamgauge.dashboard.guard import Control
from streamgauge.dashboard.serving import bind
from tests.report.sample_run import store_sample


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of a store with one run, and the line that it printed."""
    store_sample(tmp_path / "runs", [])
    command = [sys.executable, "-m", "streamgauge.cli", "serve", "--out", str(tmp_path / "runs")]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert started.stdout is not None
        yield started, started.stdout.readline().strip()
    finally:
        started.kill()
        started.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_until_it_is_interrupted(
    serving: tuple[subprocess.Popen[str], str], tmp_path: Path, number: signal.Signals
) -> None:
    started, line = serving
    address, _, token = line.partition("#token=")
    assert address.startswith("http://127.0.0.1:")
    assert len(token) >= 32
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert next((tmp_path / "runs").iterdir()).name in answer.read().decode()
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(urllib.request.Request(address, data=b"{}"), timeout=30)
    os.kill(started.pid, number)
    _, complaints = started.communicate(timeout=30)
    assert started.returncode == 0
    assert "Traceback" not in complaints


def test_a_port_in_use_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    taken = bind("127.0.0.1", 0)
    try:
        assert main(["serve", "--port", str(taken.port), "--out", str(tmp_path)]) == 2
    finally:
        taken.socket.close()
    said = capsys.readouterr().err
    assert (
        said
        == f"error: port {taken.port} of 127.0.0.1 is in use. Give another with --port, or none for one that is free\n"
    )


def test_an_address_of_another_machine_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["serve", "--host", "192.0.2.1", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error: 192.0.2.1 cannot be served at")
    assert main(["serve", "--host", "no such name", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error: 'no such name' is no address of this machine")


def test_addresses_are_written_as_a_browser_takes_them() -> None:
    everywhere = bind("0.0.0.0", 0)
    try:
        assert everywhere.address == f"http://127.0.0.1:{everywhere.port}/"
        reading = Control.at("0.0.0.0", everywhere.port)
        assert everywhere.address_with_token(reading) == everywhere.address
        allowed = Control.at("0.0.0.0", everywhere.port, allow_control=True)
        assert everywhere.address_with_token(allowed).endswith(f"#token={allowed.token}")
    finally:
        everywhere.socket.close()
