"""The processes that faults may hit: those that this run started and named here, and no other.

Nothing is ever looked up by a name or a command line. A process is taken in only while it descends from this one, and
a start mark tells it from a later one that was given the same number.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import psutil

from streamgauge.model.fault import State
from streamgauge.provision.guardian import is_same, start_mark

Start = Callable[[int], int]
"""The owner's way to start the process of that number again; gives the new process id."""
LookUp = Callable[[], Mapping[int, int]]
"""The owner's word on which processes of a role there are now: number → process id."""


@dataclass(frozen=True)
class OwnProcess:
    """A process of this run: its target's name, which of them it is, its number and when it started."""

    role: str
    number: int
    pid: int
    mark: str

    @property
    def leads_group(self) -> bool:
        """Whether it has a process group of its own, which is hit at once: a worker and its executors."""
        with contextlib.suppress(ProcessLookupError):
            return os.getpgid(self.pid) == self.pid != os.getpgrp()
        return False

    def state(self) -> State:
        """What it does now."""
        return _state(self.pid, self.mark)


@dataclass(frozen=True)
class OwnVictim:
    """An own process about to be hit, with all that descended from it then."""

    process: OwnProcess
    start: Start | None
    members: tuple[tuple[int, str], ...] = field(default=())

    def send(self, number: int) -> None:
        """Send a signal to the process and its descendants; to nothing where a process is another by now.

        Spark's Python workers have a group of their own, so that the group alone would leave them out.
        """
        led = self.process.leads_group and is_same(self.process.pid, self.process.mark)
        if led:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)
        for pid, mark in self.members:
            with contextlib.suppress(ProcessLookupError):
                if is_same(pid, mark) and not (led and os.getpgid(pid) == self.process.pid):
                    os.kill(pid, number)

    def state(self) -> State:
        """Gone when all of them are gone; stopped when all that are there stand still."""
        there = [found for found in (_state(pid, mark) for pid, mark in self.members) if found != "gone"]
        if not there:
            return "gone"
        return "stopped" if all(found == "stopped" for found in there) else "running"

    def start_again(self) -> None:
        """Let the owner start it again."""
        if self.start is None:
            raise RuntimeError(f"nobody can start the {self.process.role} again")
        self.start(self.process.number)


class Registry:
    """Which processes there are to hit; whoever starts one registers it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[str, int], OwnProcess] = {}
        self._starts: dict[str, Start] = {}
        self._look_ups: dict[str, LookUp] = {}
        self._worked: dict[str, float] = {}
        """Start mark → seconds of CPU that a process had taken when work began to be counted."""

    def register(self, role: str, pid: int, number: int = 1) -> OwnProcess:
        """Take in a process that this one started, itself or through a child; another is refused."""
        mark = start_mark(pid)
        if mark is None or not _descends_from_us(pid):
            raise ValueError(f"process {pid} was not started by this run: no fault may hit it")
        found = OwnProcess(role, number, pid, mark)
        with self._lock:
            self._known[role, number] = found
        return found

    def restarted_by(self, role: str, start: Start) -> None:
        """Say how a process of this role is started again; what `start` gives is registered."""

        def registered(number: int) -> int:
            pid = start(number)
            self.register(role, pid, number)
            return pid

        self._starts[role] = registered

    def looked_up_by(self, role: str, look_up: LookUp) -> None:
        """Say who knows the processes of a role that come and go; each is registered when it is looked for."""
        self._look_ups[role] = look_up

    def count_work(self, roles: Collection[str]) -> None:
        """Count the work of the processes of these roles, and of all that descended from them, from now on."""
        for role in roles:
            self._look_up(role)
            for process in self._of(role):
                self._worked.update({f"{pid}:{mark}": _cpu_s(pid) for pid, mark in _members(process)})

    def find(
        self, role: str, order: Sequence[int], states: Collection[State], *, busiest: bool = False
    ) -> OwnVictim | None:
        """The first process in that order which is in one of these states; or the one of them that has worked most."""
        self._look_up(role)
        with self._lock:
            mine = [self._known[role, number] for number in order if (role, number) in self._known]
        hit = [OwnVictim(each, self._starts.get(role), _members(each)) for each in mine if each.state() in states]
        return max(hit, key=self._work_s, default=None) if busiest else next(iter(hit), None)

    def _look_up(self, role: str) -> None:
        for number, pid in self._look_ups[role]().items() if role in self._look_ups else ():
            # It may have ended since it was seen.
            with contextlib.suppress(ValueError):
                self.register(role, pid, number)

    def _of(self, role: str) -> list[OwnProcess]:
        with self._lock:
            return [process for (name, _), process in self._known.items() if name == role]

    def _work_s(self, victim: OwnVictim) -> float:
        """Seconds of CPU since work is counted, of one that is younger since its start."""
        return sum(_cpu_s(pid) - self._worked.get(f"{pid}:{mark}", 0.0) for pid, mark in victim.members)


def _descends_from_us(pid: int) -> bool:
    try:
        return os.getpid() in [parent.pid for parent in psutil.Process(pid).parents()]
    except psutil.NoSuchProcess:
        return False


def _members(process: OwnProcess) -> tuple[tuple[int, str], ...]:
    """The process and all its descendants, each with its start mark."""
    found = [(process.pid, process.mark)]
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            mark = start_mark(child.pid)
            if mark is not None:
                found.append((child.pid, mark))
    return tuple(found)


def _cpu_s(pid: int) -> float:
    try:
        in_user, in_kernel, *_ = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(in_user + in_kernel)


def _state(pid: int, mark: str) -> State:
    if not is_same(pid, mark):
        return "gone"
    try:
        return "stopped" if psutil.Process(pid).status() == psutil.STATUS_STOPPED else "running"
    except psutil.NoSuchProcess:
        return "gone"
