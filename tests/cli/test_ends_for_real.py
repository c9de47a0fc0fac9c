"""The command ended from outside while it works: nothing may be left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import signals_as_at_a_terminal

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(300)]

TESTS = 4


class Command:
    """`streamgauge run` in a process of its own, with a work folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.runs = folder / "runs"
        self._errors = folder / "stderr.txt"
        arguments = ["run", "identity", "--load", "constant:200/s", "--for", "5min", "--out", str(self.runs)]
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "streamgauge.cli", *arguments],
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "STREAMGAUGE_WORK": str(self.work)},
                start_new_session=True,
                preexec_fn=signals_as_at_a_terminal,
            )
        self.family: list[psutil.Process] = []

    def wait_until_it_works(self) -> None:
        """Return when broker, job and publisher are all there."""
        wanted = {"kafka.Kafka", "streamgauge.job", "streamgauge.load.publisher"}
        self.wait_for(lambda: wanted <= set(self.roles()), 120)
        self.family = psutil.Process(self.process.pid).children(recursive=True)

    def roles(self) -> dict[str, psutil.Process]:
        """What the command's children are, by the class or module that they run."""
        found = {}
        for child in psutil.Process(self.process.pid).children(recursive=True):
            try:
                found.update(
                    {part: child for part in child.cmdline() if "kafka.Kafka" in part or "streamgauge." in part}
                )
            except psutil.Error:
                continue
        return found

    def wait_for(self, condition: Callable[[], bool], seconds: float) -> None:
        """Return when the condition holds; fail with what the command said when it does not."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.1)

    def all_gone(self) -> bool:
        """Whether no child is left, and no folder."""
        alive = [p for p in self.family if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
        return not alive and not any(self.work.iterdir())

    def said(self) -> str:
        """What it wrote on stderr."""
        return self._errors.read_text(errors="replace")

    def stored_status(self) -> str:
        """How the run says that it ended."""
        (found,) = self.runs.glob("*/run.json")
        return str(json.loads(found.read_text())["status"])

    def end(self) -> None:
        """Kill what is left of it."""
        for process in self.family:
            if process.is_running():
                process.kill()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Command]]:
    """A command for each test, all at work at once: started one after another they take longer."""
    started: list[Command] = []
    try:
        for _ in range(TESTS):
            started.append(Command(tmp_path_factory.mktemp("command")))
        for command in started:
            command.wait_until_it_works()
        yield iter(started)
    finally:
        for command in started:
            command.end()


@pytest.fixture
def command(commands: Iterator[Command]) -> Command:
    return next(commands)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_leaves_nothing(command: Command, sent: signal.Signals, code: int) -> None:
    command.process.send_signal(sent)
    assert command.process.wait(60) == code
    assert command.all_gone(), command.said()
    assert command.stored_status() == "interrupted"
    assert "Traceback" not in command.said()


def test_what_a_killed_command_leaves_ends_by_itself(command: Command) -> None:
    command.process.kill()
    command.process.wait()
    command.wait_for(command.all_gone, 20)


def test_a_broker_that_dies_ends_the_command_with_one_line(command: Command) -> None:
    next(p for part, p in command.roles().items() if "kafka.Kafka" in part).kill()
    assert command.process.wait(90) == 5
    assert command.all_gone(), command.said()
    assert "broker" in command.said()
    assert "Traceback" not in command.said()
    assert command.stored_status() in ("failed", "complete")
