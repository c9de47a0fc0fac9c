"""Where a trial's checkpoints lie: with its other files, in a folder of the user's, or in memory."""

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
    if location and not _writable(Path(location)):
        raise UserError(
            f"checkpoint-location is '{location}', where nothing can be written", "Name a folder that is there"
        )
    return None


def _writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK)


class CheckpointFolder:
    """A folder of the trial's own at a location, which the guard removes too when the command dies."""

    def __init__(self, location: str, trial_folder: Path, prefix: str, guard: Guard) -> None:
        self._elsewhere = bool(location)
        base = IN_MEMORY if location == MEMORY else Path(location).absolute()
        self.folder = base / prefix if self._elsewhere else trial_folder
        if self._elsewhere:
            self.folder.mkdir()
            guard.folder(self.folder)

    def remove(self) -> None:
        """Remove what the trial's own folder does not take along."""
        if self._elsewhere:
            shutil.rmtree(self.folder, ignore_errors=True)
