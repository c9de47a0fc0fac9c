"""Where a trial's checkpoints lie: with its other files, in a folder or file system of the user's, or in memory."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from streamgauge.model import Gap, UserError
from streamgauge.provision.guard import Guard

IN_MEMORY = Path("/dev/shm")
MEMORY = "memory"


def location_gap(location: str) -> Gap | None:
    """Why this machine has no such location, or None; a folder that cannot be written to is the user's mistake."""
    if location == MEMORY:
        return None if _writable(IN_MEMORY) else Gap("not-here", "this system has no folder in memory")
    if location and "://" not in location and not _writable(Path(location)):
        raise UserError(
            f"checkpoint-location is '{location}', where nothing can be written", "Name a folder that is there"
        )
    return None


def _writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK)


class CheckpointFolder:
    """A folder of the trial's own at a location.

    One of this machine is removed with the trial, and by the guard when the command dies; one in another file system
    is removed by the job process, when it is told to forget it.
    """

    def __init__(self, location: str, trial_folder: Path, prefix: str, guard: Guard) -> None:
        self._mine: Path | None = None
        self.elsewhere = f"{location.rstrip('/')}/{prefix}" if "://" in location else None
        """Where they lie in a file system that only the job process reaches; None for a folder of this machine."""
        if self.elsewhere is not None:
            self._at = self.elsewhere
            return
        if location:
            self._mine = (IN_MEMORY if location == MEMORY else Path(location).absolute()) / prefix
            self._mine.mkdir()
            guard.folder(self._mine)
        self._at = str(self._mine or trial_folder)

    def of(self, name: str) -> str:
        """The location of the checkpoint of that name."""
        return f"{self._at}/checkpoint-{name}"

    def remove(self) -> None:
        """Remove what the trial's own folder does not take along."""
        if self._mine is not None:
            shutil.rmtree(self._mine, ignore_errors=True)
