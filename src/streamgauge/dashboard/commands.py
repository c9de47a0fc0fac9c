"""Runs that were started from the page: each is a command of its own, with its own processes, and ends in order."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from streamgauge.model.errors import UserError
from streamgauge.provision.guard import Guard
from streamgauge.store import RunStore
from streamgauge.store.live import SILENT_S, first_told, heard_s_ago

POLITE_S = 25.0
"""How long a command may take to end in order before it is told more plainly."""
LAST_WORDS_BYTES = 4_096
MOST_KEPT = 20
PROGRAM = (sys.executable, "-m", "streamgauge.cli")


class BusyError(UserError):
    """Something is being measured, and would be disturbed."""


@dataclass
class Started:
    """One command that was started here."""

    id: str
    arguments: tuple[str, ...]
    process: subprocess.Popen[bytes]
    said: IO[bytes]
    started_s: float = field(default_factory=time.time)
    run: str | None = None
    """The run that it makes, once that is known."""
    stopping: bool = False

    @property
    def state(self) -> str:
        """running, stopping or ended."""
        if self.process.poll() is not None:
            return "ended"
        return "stopping" if self.stopping else "running"

    def last_words(self) -> str:
        """The end of what it printed."""
        length = os.fstat(self.said.fileno()).st_size
        begin = max(0, length - LAST_WORDS_BYTES)
        return os.pread(self.said.fileno(), LAST_WORDS_BYTES, begin).decode("utf-8", "replace").strip()


class Commands:
    """Starts and stops commands over one store; used by any thread. Whatever it started ends with it."""

    def __init__(self, store: RunStore, program: Sequence[str] = PROGRAM, polite_s: float = POLITE_S) -> None:
        self._store, self._program, self._polite_s = store, tuple(program), polite_s
        self._lock = threading.Lock()
        self._started: dict[str, Started] = {}
        self._stoppers: list[threading.Thread] = []
        self._guard: Guard | None = None

    def start(self, arguments: Sequence[str]) -> Started:
        """Start the command of these arguments in a session of its own; one at a time: two would disturb each other."""
        with self._lock:
            self._refuse_second()
            if self._guard is None:
                self._guard = Guard().start()
            said = tempfile.TemporaryFile()  # noqa: SIM115
            process = subprocess.Popen(
                [*self._program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
            self._guard.watch(process.pid)
            found = Started(secrets.token_hex(4), tuple(arguments), process, said)
            self._started[found.id] = found
            while len(self._started) > MOST_KEPT:
                self._started.pop(next(iter(self._started))).said.close()
            return found

    def stop(self, identity: str) -> Started:
        """Ask a command to end as Ctrl-C does; one that does not is told again, and then more plainly."""
        with self._lock:
            found = self._started.get(identity)
            if found is None:
                raise UserError("no such command was started from here")
            if found.state == "running":
                found.stopping = True
                stopper = threading.Thread(target=self._end, args=(found,), name="stopper", daemon=True)
                self._stoppers.append(stopper)
                stopper.start()
            return found

    def list(self) -> list[Started]:
        """All that were started, the newest last; each with its run as soon as that is there."""
        with self._lock:
            found = list(self._started.values())
        for each in found:
            if each.run is None:
                each.run = self._run_of(each)
            if each.state == "ended" and self._guard is not None:
                self._guard.release(each.process.pid)
        return found

    def close(self) -> None:
        """End everything that was started here and wait for it."""
        for each in self.list():
            if each.state == "running":
                self.stop(each.id)
        for stopper in list(self._stoppers):
            stopper.join(3 * self._polite_s + 5)
        with self._lock:
            for each in self._started.values():
                each.said.close()
            self._started.clear()
            if self._guard is not None:
                self._guard.close()
                self._guard = None

    def under_way(self) -> str | None:
        """A run of the store that is being measured now, by whoever started it."""
        for folder in sorted(self._store.root.glob("*/live.jsonl"), reverse=True):
            heard_s = heard_s_ago(folder.parent)
            if heard_s is not None and heard_s < SILENT_S:
                return folder.parent.name
        return None

    def _refuse_second(self) -> None:
        mine = [each for each in self._started.values() if each.state != "ended"]
        other = self.under_way()
        if mine or other is not None:
            raise BusyError(
                f"{f'the run {other}' if other else 'another command'} is under way",
                "Two at once would disturb each other: wait for it, or stop it",
            )
        if os.nice(0) > 0:
            raise UserError(
                "this page is served at low priority, beside a run",
                "What it started would be measured so: start streamgauge serve by itself",
            )

    def _run_of(self, started: Started) -> str | None:
        for folder in sorted(self._store.root.glob("*/live.jsonl"), reverse=True)[:MOST_KEPT]:
            if first_told(folder.parent).get("pid") == started.process.pid:
                return folder.parent.name
        return None

    def _end(self, started: Started) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            started.process.send_signal(number)
            try:
                started.process.wait(self._polite_s)
                return
            except subprocess.TimeoutExpired:
                continue


def described(started: Started) -> dict[str, Any]:
    """What a page is told of a command."""
    return {
        "id": started.id,
        "run": started.run,
        "state": started.state,
        "exit_code": started.process.poll(),
        "said": started.last_words(),
    }
