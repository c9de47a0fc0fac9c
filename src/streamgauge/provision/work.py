"""Work folders: where a command keeps what it will throw away, each known by its owner."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from streamgauge.model.errors import UserError
from streamgauge.model.units import size
from streamgauge.provision import guardian
from streamgauge.provision.guard import PROCESSES_FILE

_OWNER_FILE = "streamgauge-owner.json"


def cache_folder() -> Path:
    """The user's cache folder of this program."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streamgauge"


def work_root() -> Path:
    """Where work folders lie: STREAMGAUGE_WORK, or in the user's cache folder."""
    given = os.environ.get("STREAMGAUGE_WORK")
    return Path(given) if given else cache_folder() / "work"


@dataclass(frozen=True)
class WorkFolder:
    """A folder of one command's own, removed when it closes or, by a later sweep, when its owner is gone."""

    path: Path

    @staticmethod
    def create(run_id: str) -> WorkFolder:
        """Make the folder, with this process as its owner."""
        root = work_root()
        name = f"{re.sub(r'[^A-Za-z0-9._-]+', '-', run_id)}-{os.getpid()}"
        unfinished = root / f".{name}"
        path = root / name
        try:
            root.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            owner = {"pid": os.getpid(), "mark": guardian.start_mark(os.getpid())}
            (unfinished / _OWNER_FILE).write_text(json.dumps(owner))
            # Renamed when complete: a sweep at this very moment never meets a folder without its owner.
            unfinished.rename(path)
        except OSError as error:
            raise UserError(
                f"cannot make a work folder in {root}: {error.strerror}",
                "Set STREAMGAUGE_WORK to a folder that can be written",
            ) from None
        return WorkFolder(path)

    def close(self) -> None:
        """Remove the folder; closing twice is allowed."""
        guardian.remove_folder(str(self.path))

    def __enter__(self) -> WorkFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def leftovers() -> list[Path]:
    """Work folders whose owner is gone."""
    root = work_root()
    if not root.is_dir():
        return []
    return sorted(p for p in root.iterdir() if p.is_dir() and _owner_is_gone(p))


def sweep() -> list[str]:
    """Remove the folders whose owner is gone, end their processes that still live, and name what was removed."""
    removed = []
    for folder in leftovers():
        guardian.end_all(_processes(folder))
        guardian.remove_folder(str(folder))
        removed.append(folder.name)
    return removed


def check_space(path: Path, needed_bytes: int) -> None:
    """Raise a UserError when the disk that holds the path has less free space than is needed."""
    existing = next(p for p in [path, *path.absolute().parents] if p.exists())
    free_bytes = shutil.disk_usage(existing).free
    if free_bytes < needed_bytes:
        raise UserError(
            f"{size(needed_bytes)} of disk space are needed in {path}, {size(free_bytes)} are free",
            "Publish fewer events, free some space, or set STREAMGAUGE_WORK to a folder on a larger disk",
        )


def _owner_is_gone(folder: Path) -> bool:
    try:
        owner = json.loads((folder / _OWNER_FILE).read_text())
        return not guardian.is_same(int(owner["pid"]), str(owner["mark"]))
    except (OSError, ValueError, KeyError, TypeError):
        # A folder that no work folder's owner signed is somebody else's: never touched.
        return False


def _processes(folder: Path) -> dict[int, str]:
    try:
        listed = json.loads((folder / PROCESSES_FILE).read_text())
        return {int(pid): str(mark) for pid, mark in listed.items()}
    except (OSError, ValueError, AttributeError):
        return {}
