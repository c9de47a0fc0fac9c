"""The command's side of the guardian: announce what must not outlive the command."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from streamgauge.provision import guardian

PROCESSES_FILE = "processes.json"
"""In every guarded folder: pid → start mark of the processes that belong to it, for the next command's sweep."""


class Guard:
    """Ends watched processes and removes folders within seconds when this command dies, even by kill -9."""

    def __init__(self) -> None:
        self._guardian: subprocess.Popen[bytes] | None = None
        self._watched: dict[int, str] = {}
        self._folders: list[Path] = []

    def start(self) -> Guard:
        """Start the guardian process, in a session of its own so that Ctrl-C does not reach it."""
        if self._guardian is None:
            self._guardian = subprocess.Popen(
                [sys.executable, "-I", "-S", guardian.__file__, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        return self

    @property
    def pid(self) -> int | None:
        """The guardian's process id while it is running."""
        return self._guardian.pid if self._guardian else None

    def watch(self, pid: int) -> None:
        """From now on the process ends when this command ends; unknown processes are passed over."""
        mark = guardian.start_mark(pid)
        if mark is not None:
            self._watched[pid] = mark
            self._tell(f"watch {pid} {mark}")
            self._write_processes()

    def release(self, pid: int) -> None:
        """The process has ended in order."""
        if self._watched.pop(pid, None) is not None:
            self._tell(f"release {pid}")
            self._write_processes()

    def folder(self, path: Path) -> None:
        """From now on the folder is removed when this command dies."""
        self._folders.append(path.absolute())
        self._tell(f"folder {path.absolute()}")
        self._write_processes()

    def close(self) -> None:
        """The normal end: the guardian leaves without touching anything."""
        if self._guardian is None or self._guardian.stdin is None:
            return
        self._tell("done")
        with contextlib.suppress(OSError):
            self._guardian.stdin.close()
        try:
            self._guardian.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._guardian.kill()
            self._guardian.wait()
        self._guardian = None

    def _tell(self, line: str) -> None:
        if self._guardian is None or self._guardian.stdin is None:
            raise RuntimeError("the guard is not started")
        # A guardian that somebody killed must not take the command with it; the next sweep stands in for it.
        with contextlib.suppress(BrokenPipeError):
            self._guardian.stdin.write(line.encode() + b"\n")
            self._guardian.stdin.flush()

    def _write_processes(self) -> None:
        text = json.dumps({str(pid): mark for pid, mark in self._watched.items()})
        for folder in self._folders:
            if folder.is_dir():
                unfinished = folder / f".{PROCESSES_FILE}"
                unfinished.write_text(text)
                unfinished.replace(folder / PROCESSES_FILE)

    def __enter__(self) -> Guard:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
