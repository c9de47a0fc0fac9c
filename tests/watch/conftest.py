"""Real processes for the watchers to look at."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ACTOR = Path(__file__).with_name("actor.py")
HOLD = Path(__file__).with_name("Hold.java")


class Actor:
    """A process of ours that does what it is told."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(ACTOR)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.pid = self.process.pid

    def __call__(self, *words: object) -> Any:
        """Tell it something and wait for its answer."""
        assert self.process.stdin and self.process.stdout
        print(*words, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        """Let it come to its end; its children see their input close and end too."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


@pytest.fixture
def actor() -> Iterator[Callable[[], Actor]]:
    """Makes actors and ends them after the test."""
    actors: list[Actor] = []

    def make() -> Actor:
        actors.append(Actor())
        return actors[-1]

    yield make
    for each in actors:
        if each.process.poll() is None:
            each.end()


@pytest.fixture
def java() -> list[str]:
    """The command of a JVM of 64 MiB that collects its garbage once, says so, and waits for its input to close."""
    found = shutil.which("java")
    if found is None:
        pytest.skip("no Java on this machine")
    return [found, "-Xmx64m", "-XX:TieredStopAtLevel=1", str(HOLD)]
