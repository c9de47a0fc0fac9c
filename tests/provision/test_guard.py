from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from streamgauge.provision import guardian
from streamgauge.provision.guard import Guard
from streamgauge.provision.processes import end_process, start_child
from tests.waiting import until

PARENT = """
import subprocess, sys, time
from pathlib import Path
from streamgauge.provision.guard import Guard
from streamgauge.provision.processes import start_child

guard = Guard().start()
folder = Path(sys.argv[1])
folder.mkdir()
guard.folder(folder)
(folder / "data").write_text("x")
child = start_child(["sh", "-c", sys.argv[2]], guard)
released = start_child(["sleep", "60"], guard)
guard.release(released.pid)
print(guard.pid, child.pid, released.pid, flush=True)
if sys.argv[3] == "close":
    guard.close()
else:
    time.sleep(60)
"""


def _gone(pid: int) -> bool:
    return guardian.start_mark(pid) is None


def _ignores(pid: int, number: int) -> bool:
    if sys.platform != "linux":
        time.sleep(1)
        return True
    ignored = re.search(r"SigIgn:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())
    return ignored is not None and bool(int(ignored[1], 16) >> (number - 1) & 1)


def _start_parent(folder: Path, child: str, end: str = "wait") -> tuple[subprocess.Popen[str], list[int]]:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(folder), child, end], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    return parent, [int(word) for word in parent.stdout.readline().split()]


@pytest.mark.parametrize(
    "child",
    ["exec sleep 60", "trap '' TERM; while true; do sleep 1; done"],
    ids=["obedient", "deaf to TERM"],
)
def test_kill_9_of_the_command_ends_its_processes_and_removes_its_folder(tmp_path: Path, child: str) -> None:
    folder = tmp_path / "run"
    parent, [watcher, watched, released] = _start_parent(folder, child)
    try:
        below = [p.pid for p in psutil.Process(watched).children(recursive=True)]
        until(lambda: _ignores(watcher, signal.SIGINT))
        os.kill(watcher, signal.SIGINT)
        parent.kill()
        parent.wait()
        until(lambda: _gone(watched) and all(map(_gone, below)) and not folder.exists())
        until(lambda: _gone(watcher))
        assert not _gone(released)
    finally:
        parent.kill()
        end_process(released, 0)
        end_process(watched, 0)


def test_a_command_that_dies_before_the_guardian_is_awake_is_seen_too(tmp_path: Path) -> None:
    code = PARENT.replace("time.sleep(60)", "import os\n    os.kill(os.getpid(), 9)")
    said = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run"), "exec sleep 60", "die"], capture_output=True, text=True
    )
    _, watched, released = (int(word) for word in said.stdout.split())
    try:
        until(lambda: _gone(watched) and not (tmp_path / "run").exists())
    finally:
        end_process(watched, 0)
        end_process(released, 0)


def test_a_command_that_ends_in_order_is_left_alone(tmp_path: Path) -> None:
    parent, [watcher, watched, released] = _start_parent(tmp_path / "run", "exec sleep 60", "close")
    try:
        assert parent.wait(timeout=15) == 0
        assert _gone(watcher)
        assert not _gone(watched)
        assert (tmp_path / "run" / "data").exists()
    finally:
        end_process(watched, 0)
        end_process(released, 0)


def test_a_fork_that_holds_the_pipe_does_not_blind_the_guardian(tmp_path: Path) -> None:
    code = PARENT.replace("time.sleep(60)", "import os\n    os.fork()\n    time.sleep(60)")
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "run"), "exec sleep 60", "wait"], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    _, watched, released = (int(word) for word in parent.stdout.readline().split())
    until(lambda: len(psutil.Process(parent.pid).children()) == 4)
    fork = [p for p in psutil.Process(parent.pid).children() if "-c" in p.cmdline() and PARENT[:20] in str(p.cmdline())]
    try:
        parent.kill()
        parent.wait()
        until(lambda: _gone(watched))
    finally:
        for pid in (watched, released, *(p.pid for p in fork)):
            end_process(pid, 0)


def test_end_process_ends_the_whole_family_and_tells_the_guard(guard: Guard) -> None:
    child = start_child(["sh", "-c", "trap '' TERM; sleep 60 & sleep 60; sleep 60"], guard)
    until(lambda: len(psutil.Process(child.pid).children()) == 2)
    family = [child.pid, *(p.pid for p in psutil.Process(child.pid).children())]
    end_process(child, 0.2, guard)
    assert all(map(_gone, family))
    assert child.returncode == -signal.SIGKILL
    end_process(child, 0.2, guard)
    end_process(child.pid, 0.2)


def test_a_child_does_not_share_the_commands_group(guard: Guard) -> None:
    child = start_child(["sleep", "60"], guard)
    try:
        assert os.getpgid(child.pid) == child.pid != os.getpgid(0)
    finally:
        end_process(child, 1, guard)


def test_a_guard_that_was_not_started_says_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="not started"):
        Guard().folder(tmp_path)
