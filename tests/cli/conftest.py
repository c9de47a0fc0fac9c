"""What the tests of the command share: running it in this process, with its output and exit code."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from streamgauge.cli import main


@dataclass(frozen=True)
class Said:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def say(capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run the command with arguments."""

    def run(*arguments: str) -> Said:
        code = main(list(arguments))
        captured = capfd.readouterr()
        return Said(code, captured.out, captured.err)

    return run


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep traces of failures out of the user's cache, and the working folder clean."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    yield


def signals_as_at_a_terminal() -> None:
    """For a child: what runs the tests may ignore signals, as nohup does, and a child would inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
