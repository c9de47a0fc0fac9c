"""The publisher seen from outside: started, watched, stopped and asked for its result."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from streamgauge.load.specification import PublisherResult, PublisherSpec
from streamgauge.model.errors import LogError

_STOP_WAIT_S = 10.0


def progress_in(path: str | None) -> tuple[int, float]:
    """Events published and elapsed seconds as a publisher has told them in a file; nothing before the first time."""
    told = _told_in(path)
    return int(told.get("published", 0)), float(told.get("elapsed_s", 0.0))


def _told_in(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        told: dict[str, Any] = json.loads(Path(path).read_text())
    except FileNotFoundError:
        return {}
    return told


class PublisherProcess:
    """One running publisher; `start` makes one."""

    def __init__(self, spec: PublisherSpec, process: subprocess.Popen[bytes], stderr_path: Path) -> None:
        self._spec, self._process, self._stderr_path = spec, process, stderr_path

    @classmethod
    def start(cls, spec: PublisherSpec, stderr_path: Path) -> PublisherProcess:
        """Start a publisher in a session of its own, so that a Ctrl-C reaches it only through `stop`."""
        result_path = Path(spec.result_path)
        result_path.unlink(missing_ok=True)
        spec_path = result_path.with_suffix(".spec.json")
        spec.write(spec_path)
        stderr_path.parent.mkdir(parents=True, exist_ok=True)
        with stderr_path.open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "streamgauge.load.publisher", str(spec_path)],
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                start_new_session=True,
            )
        return cls(spec, process, stderr_path)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._process.poll()

    def progress(self) -> tuple[int, float]:
        """Events published so far and the elapsed seconds, as told at most half a second ago."""
        return progress_in(self._spec.progress_path)

    @property
    def start_at_epoch_ns(self) -> int | None:
        """The instant at which elapsed time is zero; None before it has said so."""
        start_ns = int(_told_in(self._spec.progress_path).get("start_ns", 0))
        return start_ns or None

    @property
    def spec(self) -> PublisherSpec:
        """What it publishes."""
        return self._spec

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code; raises LogError when it takes longer than the time-out."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise LogError(
                f"the publisher did not end within {timeout:.0f} s", "Give it more time, or fewer events"
            ) from None

    def stop(self) -> None:
        """End the publisher: politely, and by force when it does not listen."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_WAIT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def result(self) -> PublisherResult:
        """How the publishing went; raises LogError when the process died without saying so."""
        try:
            return PublisherResult.read(Path(self._spec.result_path))
        except (FileNotFoundError, ValueError, TypeError):
            lines = self._stderr_path.read_text(errors="replace").strip().splitlines()
            told = f": {lines[-1]}" if lines else ""
            raise LogError(
                f"the publisher ended with exit code {self._process.poll()} and no result{told}",
                f"See {self._stderr_path}",
            ) from None
