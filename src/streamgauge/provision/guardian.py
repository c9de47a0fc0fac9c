"""The guardian process: ends what a command started when the command dies without saying so.

Run by path with a bare interpreter, so standard library only and no import from this package. It reads lines on
standard input: `watch PID MARK`, `release PID`, `folder PATH`, `done`. A mark tells a process from a later one that
was given the same number.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

GRACE_S = 2.0
_PARENT_CHECK_S = 0.5


def start_mark(pid: int) -> str | None:
    """When a process started, as a text to compare; None when there is no such process or only its corpse."""
    if sys.platform == "linux":
        try:
            fields = _stat(pid)
            boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        except OSError:
            return None
        return None if fields[0] in ("Z", "X") else f"{fields[19]}@{boot}"
    said = _ps("-o", "state=,lstart=", "-p", str(pid)).split()
    return None if not said or said[0].startswith("Z") else "-".join(said[1:])


def is_same(pid: int, mark: str) -> bool:
    """Whether the process with that number is still the one that the mark was taken of."""
    return start_mark(pid) == mark


def end_all(marks: dict[int, str], grace_s: float = GRACE_S) -> None:
    """End the processes and their descendants: TERM, then KILL for those that outlive the grace."""
    victims = {pid: mark for pid, mark in marks.items() if is_same(pid, mark)}
    for pid in _descendants(victims):
        if (mark := start_mark(pid)) is not None:
            victims.setdefault(pid, mark)
    _signal(victims, signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while time.monotonic() < deadline and any(is_same(p, m) for p, m in victims.items()):
        time.sleep(0.02)
    _signal(victims, signal.SIGKILL)
    deadline = time.monotonic() + grace_s
    while time.monotonic() < deadline and any(is_same(p, m) for p, m in victims.items()):
        time.sleep(0.02)


def remove_folder(path: str) -> None:
    """Remove a folder that a dying process may still be writing to."""
    for _ in range(5):
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path):
            return
        time.sleep(0.1)


def _signal(victims: dict[int, str], number: int) -> None:
    for pid, mark in victims.items():
        if not is_same(pid, mark):
            continue
        try:
            if os.getpgid(pid) == pid:
                os.killpg(pid, number)
            else:
                os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def _descendants(pids: Iterable[int]) -> list[int]:
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    todo = list(pids)
    while todo:
        below = children.get(todo.pop(), [])
        found.extend(below)
        todo.extend(below)
    return found


def _parents() -> list[tuple[int, int]]:
    if sys.platform != "linux":
        lines = (line.split() for line in _ps("-A", "-o", "pid=,ppid=").splitlines())
        return [(int(line[0]), int(line[1])) for line in lines if len(line) == 2]
    found = []
    for pid in [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]:
        try:
            found.append((pid, int(_stat(pid)[1])))
        except OSError:
            continue
    return found


def _stat(pid: int) -> list[str]:
    """Linux: the process's state, parent and so on; its name, which may hold anything, is left out."""
    return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()


def _ps(*arguments: str) -> str:
    try:
        return subprocess.run(["ps", *arguments], capture_output=True, text=True, timeout=5).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _follow(parent: int) -> tuple[bool, dict[int, str], list[str]]:
    """Obey lines until the command says done, closes the pipe or is gone: (done, watched, folders)."""
    watched: dict[int, str] = {}
    folders: list[str] = []
    unread = b""
    while True:
        if not select.select([0], [], [], _PARENT_CHECK_S)[0]:
            # The pipe's end alone is not enough: a fork of the command would hold it open after the command's death.
            if os.getppid() != parent:
                break
            continue
        some = os.read(0, 65536)
        if not some:
            break
        *lines, unread = (unread + some).split(b"\n")
        for line in lines:
            verb, _, rest = line.decode().partition(" ")
            if verb == "watch":
                pid, _, mark = rest.partition(" ")
                watched[int(pid)] = mark
            elif verb == "release":
                watched.pop(int(rest), None)
            elif verb == "folder":
                folders.append(rest)
            elif verb == "done":
                return True, watched, folders
    return False, watched, folders


def main() -> None:
    """Follow the command; when it ended without `done`, end and remove what it had announced."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    done, watched, folders = _follow(int(sys.argv[1]))
    if done:
        return
    end_all(watched)
    for path in folders:
        remove_folder(path)


if __name__ == "__main__":
    main()
