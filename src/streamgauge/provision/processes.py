"""Starting children so that they can be ended in order, and ending them with all that they started."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import psutil

from streamgauge.model import UserError
from streamgauge.provision.guard import Guard

Stream = int | IO[Any] | None
NICENESS_VARIABLE = "STREAMGAUGE_JOB_NICENESS"
_JOB_NICENESS = "5"
_MOST_NICE = 19
_KILL_S = 5.0


def start_child(
    arguments: Sequence[str],
    guard: Guard,
    *,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream = subprocess.DEVNULL,
    stderr: Stream = subprocess.STDOUT,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    **options: Any,
) -> subprocess.Popen[Any]:
    """Start a child in its own session, where Ctrl-C does not reach it, watched by the guard."""
    child = subprocess.Popen(
        list(arguments),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=dict(environment) if environment is not None else None,
        cwd=folder,
        start_new_session=True,
        **options,
    )
    guard.watch(child.pid)
    return child


def put_job_behind(pid: int) -> None:
    """Let publisher and broker, which may share the machine, go before a process of the job: a late load is no load."""
    given = os.environ.get(NICENESS_VARIABLE, _JOB_NICENESS)
    if not given.isdecimal() or int(given) > _MOST_NICE:
        raise UserError(f"{NICENESS_VARIABLE} is {given!r}", f"Set it to a number from 0 to {_MOST_NICE}, or unset it")
    lower_priority(pid, int(given))


def lower_priority(pid: int, niceness: int) -> None:
    """Put a child of `start_child`, and whatever it starts from now on, behind others; what is refused is left.

    Where Linux groups processes by session (autogroup), niceness counts within a session only: between sessions that of
    the group does.
    """
    with contextlib.suppress(psutil.Error):
        psutil.Process(pid).nice(niceness)
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(niceness))


def end_process(process: subprocess.Popen[Any] | int, grace_s: float, guard: Guard | None = None) -> None:
    """End a process and its descendants: TERM, wait for the grace, then KILL; one that is gone is no error."""
    pid = process if isinstance(process, int) else process.pid
    # The number of a child that has been collected may belong to somebody else by now.
    collected = not isinstance(process, int) and process.poll() is not None
    family = [] if collected else _family(pid)
    _each(family, psutil.Process.terminate)
    alive = _wait(family, grace_s)
    # What was started between the first look and TERM is only seen now.
    late = [p for survivor in alive for p in _family(survivor.pid) if p not in alive]
    _each([*alive, *late], psutil.Process.kill)
    _wait([*alive, *late], _KILL_S)
    if not isinstance(process, int):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
    if guard is not None:
        guard.release(pid)


def _family(pid: int) -> list[psutil.Process]:
    try:
        head = psutil.Process(pid)
        return [head, *head.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _wait(processes: Sequence[psutil.Process], limit_s: float) -> list[psutil.Process]:
    """Those still alive after the limit; a corpse that its parent has not collected counts as gone."""
    deadline = time.monotonic() + limit_s
    alive = list(processes)
    while True:
        alive = [p for p in alive if _is_alive(p)]
        if not alive or time.monotonic() >= deadline:
            return alive
        time.sleep(0.01)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _each(processes: Sequence[psutil.Process], action: Any) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            action(process)
