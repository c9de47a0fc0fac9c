"""The page of a run, served while it runs: a process of its own that goes last wherever all share one machine."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from streamgauge.model.errors import UserError

if TYPE_CHECKING:
    from streamgauge.lab.request import Listener
    from streamgauge.model import Trial

NICENESS = 10
"""Behind the job, which has 5: a page may wait, a measurement may not."""
READY_S = 30.0
_ENDING_S = 3.0


class Page(Protocol):
    """What the command tells of its page."""

    def told_to(self, listener: Listener) -> Listener:
        """The listener, which says where the run can be watched as soon as it has a name."""
        ...

    def stay(self) -> None:
        """The run is over: go on serving where somebody sits before it."""
        ...


class NoPage:
    """A command that nobody watches."""

    def told_to(self, listener: Listener) -> Listener:
        """The listener as it is."""
        return listener

    def stay(self) -> None:
        """There is nothing to serve."""


class ServedPage:
    """A running server, whose address is known."""

    def __init__(self, child: subprocess.Popen[Any], address: str) -> None:
        self._child, self._address = child, address

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._child.pid

    def address_of(self, run: str) -> str:
        """Where the run is shown, with the token in the fragment."""
        base, mark, token = self._address.partition("#")
        return f"{base}runs/{run}{mark}{token}"

    def told_to(self, listener: Listener) -> Listener:
        """The listener, which says where the run can be watched as soon as it has a name."""
        return _Telling(listener, self)

    def stay(self) -> None:
        """Go on serving until Ctrl-C where stdout is a terminal: who watches wants to see the end."""
        if not sys.stdout.isatty():
            return
        print("the page stays until Ctrl-C", file=sys.stderr, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            while self._child.poll() is None:
                time.sleep(0.2)


class _Telling:
    """Passes everything on, and says where to watch."""

    def __init__(self, listener: Listener, page: ServedPage) -> None:
        self._listener, self._page = listener, page

    def planned(self, run: str, trials: list[Trial]) -> None:
        """Pass it on, and say the address of the run."""
        self._listener.planned(run, trials)
        self._listener.note(f"watch it at {self._page.address_of(run)}")

    def phase(self, number: int, trial: Trial, phase: str, done: float, total: float) -> None:
        """Pass it on."""
        self._listener.phase(number, trial, phase, done, total)

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Pass it on."""
        self._listener.finished(number, trial, record)

    def note(self, text: str) -> None:
        """Pass it on."""
        self._listener.note(text)


@contextlib.contextmanager
def served(runs: Path | None, program: Sequence[str] = (sys.executable, "-m", "streamgauge.cli")) -> Iterator[Page]:
    """Inside, the page over a folder of runs is served; without a folder, nothing is."""
    if runs is None:
        yield NoPage()
        return
    from streamgauge.provision.guard import Guard
    from streamgauge.provision.processes import end_process, lower_priority, start_child

    with Guard() as guard:
        child = start_child(
            [*program, "serve", "--out", str(runs)], guard, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            lower_priority(child.pid, NICENESS)
            yield ServedPage(child, _address(child))
        finally:
            end_process(child, _ENDING_S, guard)


def _address(child: subprocess.Popen[Any]) -> str:
    """What the server says first, once it says it; what it says later is read and dropped."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in child.stdout or ():
            if lines.qsize() < 1:
                lines.put(line.decode("utf-8", "replace").strip())
        lines.put("")

    threading.Thread(target=read, name="page", daemon=True).start()
    try:
        first = lines.get(timeout=READY_S)
    except queue.Empty:
        first = f"it was not ready in {READY_S:.0f} s"
    if not first.startswith("http"):
        raise UserError(
            f"the page cannot be served: {first or 'its process ended'}", "Leave --watch out, or see streamgauge serve"
        )
    return first
