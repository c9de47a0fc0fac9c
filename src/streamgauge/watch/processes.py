"""CPU and memory of a process with all its descendants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import psutil

FORKED = 0.9
"""A new child with at least this share of its parent's memory has not yet become another program."""


class ProcessTable:
    """Which process is whose child on this machine; a process is asked for its parent only when it is new.

    A process number that ends and is given out again between two refreshes keeps its first parent here.
    """

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._children: dict[int, list[int]] = {}

    def refresh(self) -> None:
        """Look at the machine again."""
        live = psutil.pids()
        parent: dict[int, int] = {}
        for pid in live:
            known = self._parent.get(pid)
            if known is None:
                try:
                    known = psutil.Process(pid).ppid()
                except psutil.Error:
                    continue
            parent[pid] = known
        children: dict[int, list[int]] = defaultdict(list)
        for pid, its_parent in parent.items():
            children[its_parent].append(pid)
        self._parent, self._children = parent, children

    def descendants(self, pids: list[int]) -> list[int]:
        """Everything below these processes, parents before their children."""
        found: list[int] = []
        seen = set(pids)
        level = pids
        while level:
            level = [child for pid in level for child in self._children.get(pid, ()) if child not in seen]
            seen.update(level)
            found.extend(level)
        return found


@dataclass(frozen=True)
class TreeReading:
    """A process tree at one moment."""

    cpu_s: float
    """CPU time used since the tree was first watched; it never falls."""
    rss_bytes: int
    """Resident memory summed over the processes: pages that they share count for each.

    A child that is seen for the first time with as much as its parent was just forked: its pages are the parent's.
    """
    processes: tuple[psutil.Process, ...]
    """Those that run (ended but not yet waited for are left out)."""


@dataclass
class _Member:
    process: psutil.Process
    parent: int = 0
    own_s: float = 0.0
    waited_s: float = 0.0
    """CPU time of its ended children, as the system credits it to the parent that waits for them."""
    owed_s: float = 0.0
    """The part of a coming credit that was already counted while the child lived."""


@dataclass(frozen=True)
class _Look:
    own_s: float
    waited_s: float
    parent: int
    rss_bytes: int
    runs: bool


class ProcessTree:
    """One component's processes: some roots and everything that descends from them, orphans included.

    What a process used between the last reading and its end is counted when its parent in the tree waits for it;
    for a root, whose parent is outside, it is not.
    """

    def __init__(self, table: ProcessTable) -> None:
        self._table = table
        self._members: dict[int, _Member] = {}
        self._cpu_s = 0.0

    def add_root(self, pid: int) -> None:
        """Watch this process and its descendants from now on: what they used before does not count."""
        for each in (pid, *self._table.descendants([pid])):
            member = self._adopt(each)
            look = _look_at(member.process) if member else None
            if member and look:
                member.parent, member.own_s, member.waited_s = look.parent, look.own_s, look.waited_s

    def clear(self) -> None:
        """Watch nothing any more; the CPU time stands."""
        self._members.clear()

    def read(self) -> TreeReading:
        """The tree now, after `ProcessTable.refresh`."""
        born = [pid for pid in self._table.descendants(list(self._members)) if pid not in self._members]
        for pid in born:
            self._adopt(pid)
        looks: dict[int, _Look] = {}
        # Parents come first: a child that is waited for in between then shows as gone, never as counted twice.
        for pid, member in self._members.items():
            look = _look_at(member.process)
            if look is not None:
                looks[pid] = look
        self._bury([pid for pid in self._members if pid not in looks])
        for pid, look in looks.items():
            self._count(self._members[pid], look)
        return TreeReading(
            self._cpu_s,
            sum(look.rss_bytes for pid, look in looks.items() if pid not in born or not _is_forked(look, looks)),
            tuple(self._members[pid].process for pid, look in looks.items() if look.runs),
        )

    def _adopt(self, pid: int) -> _Member | None:
        if pid not in self._members:
            try:
                self._members[pid] = _Member(psutil.Process(pid))
            except psutil.Error:
                return None
        return self._members[pid]

    def _bury(self, gone: list[int]) -> None:
        for pid in reversed(gone):
            member = self._members.pop(pid)
            parent = self._members.get(member.parent)
            if parent is not None:
                parent.owed_s += member.own_s + member.waited_s + member.owed_s

    def _count(self, member: _Member, look: _Look) -> None:
        credited_s = max(0.0, look.waited_s - member.waited_s)
        repeated_s = min(credited_s, member.owed_s)
        self._cpu_s += max(0.0, look.own_s - member.own_s) + credited_s - repeated_s
        member.owed_s -= repeated_s
        member.own_s, member.waited_s, member.parent = look.own_s, look.waited_s, look.parent


def _is_forked(look: _Look, looks: Mapping[int, _Look]) -> bool:
    parent = looks.get(look.parent)
    return parent is not None and look.rss_bytes >= FORKED * parent.rss_bytes


def _look_at(process: psutil.Process) -> _Look | None:
    try:
        with process.oneshot():
            times = process.cpu_times()
            return _Look(
                own_s=times.user + times.system,
                waited_s=times.children_user + times.children_system,
                parent=process.ppid(),
                rss_bytes=process.memory_info().rss,
                runs=process.status() != psutil.STATUS_ZOMBIE,
            )
    except psutil.Error:
        return None
