"""A tree's CPU time must equal what its own processes say, however its children end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any, cast

import pytest

from streamgauge.watch import processes
from streamgauge.watch.processes import ProcessTable, ProcessTree, TreeReading

STEPS_S = 0.06
"""The system counts CPU time in steps of 10 ms, apart for user and system and for each process."""
BURN_S = 0.25


class Watched:
    """A tree on one root, read after a fresh look at the machine."""

    def __init__(self, pid: int) -> None:
        self.table = ProcessTable()
        self.table.refresh()
        self.tree = ProcessTree(self.table)
        self.tree.add_root(pid)

    def read(self) -> TreeReading:
        self.table.refresh()
        return self.tree.read()


def pids(reading: TreeReading) -> set[int]:
    return {process.pid for process in reading.processes}


def test_own_cpu_counts_from_the_moment_of_adding(actor: Callable[[], Any]) -> None:
    root = actor()
    root("burn", BURN_S)
    before_s = root("used")
    watched = Watched(root.pid)
    root("burn", BURN_S)
    assert watched.read().cpu_s == pytest.approx(root("used") - before_s, abs=STEPS_S)


def test_a_child_that_was_watched_counts_once_when_it_ends(actor: Callable[[], Any]) -> None:
    root = actor()
    before_s = root("used")
    watched = Watched(root.pid)
    root("spawn")
    root("tell", 0, "burn", BURN_S)
    while_it_lives = watched.read()
    assert while_it_lives.cpu_s >= BURN_S - STEPS_S
    root("tell", 0, "burn", BURN_S)
    root("end", 0)
    assert watched.read().cpu_s == pytest.approx(root("used") - before_s, abs=STEPS_S)
    assert watched.read().cpu_s == pytest.approx(root("used") - before_s, abs=STEPS_S)


def test_a_child_that_no_reading_saw_counts_too(actor: Callable[[], Any]) -> None:
    root = actor()
    before_s = root("used")
    watched = Watched(root.pid)
    watched.read()
    root("spawn")
    root("tell", 0, "burn", BURN_S)
    root("end", 0)
    assert watched.read().cpu_s == pytest.approx(root("used") - before_s, abs=STEPS_S)


def test_a_child_that_was_old_when_its_tree_was_added_counts_only_what_came_after(actor: Callable[[], Any]) -> None:
    root = actor()
    root("spawn")
    root("tell", 0, "burn", BURN_S)
    used_before_s = root("used") + root("tell", 0, "used")
    watched = Watched(root.pid)
    root("tell", 0, "burn", BURN_S)
    root("end", 0)
    assert watched.read().cpu_s == pytest.approx(root("used") - used_before_s, abs=STEPS_S)


def test_a_family_that_ends_between_two_readings_counts_once(actor: Callable[[], Any]) -> None:
    root = actor()
    before_s = root("used")
    watched = Watched(root.pid)
    root("spawn")
    root("tell", 0, "spawn")
    root("tell", 0, "tell", 0, "burn", BURN_S)
    root("tell", 0, "burn", BURN_S)
    watched.read()
    root("tell", 0, "end", 0)
    root("end", 0)
    assert watched.read().cpu_s == pytest.approx(root("used") - before_s, abs=STEPS_S)


def test_a_child_that_waits_to_be_waited_for_counts_once_and_does_not_run(actor: Callable[[], Any]) -> None:
    root = actor()
    before_s = root("used")
    watched = Watched(root.pid)
    child = root("spawn")
    root("tell", 0, "burn", BURN_S)
    assert child in pids(watched.read())
    root("end_unwaited", 0)
    unwaited = watched.read()
    assert child not in pids(unwaited)
    assert unwaited.cpu_s >= BURN_S - STEPS_S
    root("end", 0)
    assert watched.read().cpu_s == pytest.approx(root("used") - before_s, abs=STEPS_S)


def test_an_orphan_stays_in_the_tree(actor: Callable[[], Any]) -> None:
    root = actor()
    watched = Watched(root.pid)
    root("spawn")
    grandchild = root("tell", 0, "spawn")
    assert grandchild in pids(watched.read())
    child = next(iter(pids(watched.read()) - {root.pid, grandchild}))
    os.kill(grandchild, signal.SIGSTOP)
    os.kill(child, signal.SIGKILL)
    try:
        root("end_unwaited", 0)
        root("end", 0)
        assert pids(watched.read()) == {root.pid, grandchild}
    finally:
        os.kill(grandchild, signal.SIGKILL)


def test_memory_is_that_of_the_whole_tree(actor: Callable[[], Any]) -> None:
    root = actor()
    root("used")
    watched = Watched(root.pid)
    alone = watched.read().rss_bytes
    root("spawn")
    root("tell", 0, "used")
    watched.read()
    assert watched.read().rss_bytes > 1.5 * alone > 0


class Family:
    """A table in which this process is the child of its parent, once it is born."""

    born = False

    def descendants(self, roots: list[int]) -> list[int]:
        return [os.getpid()] if self.born else []


@pytest.mark.parametrize(("child_bytes", "first"), [(1_000, 1_000), (990, 1_000), (300, 1_300)])
def test_a_child_that_was_just_forked_has_no_memory_of_its_own(
    monkeypatch: pytest.MonkeyPatch, child_bytes: int, first: int
) -> None:
    # Seen in trials: a JVM that starts a program had twice its memory for one sample.
    sizes = {os.getppid(): 1_000, os.getpid(): child_bytes}
    monkeypatch.setattr(
        processes, "_look_at", lambda process: processes._Look(0.0, 0.0, os.getppid(), sizes[process.pid], True)
    )
    family = Family()
    tree = ProcessTree(cast(ProcessTable, family))
    tree.add_root(os.getppid())
    assert tree.read().rss_bytes == 1_000
    family.born = True
    assert tree.read().rss_bytes == first
    assert tree.read().rss_bytes == 1_000 + child_bytes, "it is no longer new"


def test_a_tree_that_has_ended_keeps_its_cpu_and_runs_nothing(actor: Callable[[], Any]) -> None:
    root = actor()
    watched = Watched(root.pid)
    root("burn", BURN_S)
    last = watched.read()
    root.end()
    ended = watched.read()
    assert ended.processes == ()
    assert ended.rss_bytes == 0
    assert ended.cpu_s == last.cpu_s


def test_a_process_that_never_was_is_an_empty_tree() -> None:
    reading = Watched(2**22 + 1).read()
    assert reading == TreeReading(0.0, 0, ())
