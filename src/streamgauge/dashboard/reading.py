"""Runs as pages read them: each once, as long as nothing of it changes on disk."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from streamgauge.dashboard.runs_view import RunRow, run_row
from streamgauge.model.errors import StoreError
from streamgauge.store import ListedRun, RunStore, StoredRun, read_notes

MOST_ROWS = 5_000
MOST_OPENED = 8
"""Opened runs that are kept: each holds the records of its trials, not their tables."""

_WAY_OUT = "Remove the run's folder, or run again; other runs are not touched"
_MISSHAPEN = (KeyError, TypeError, ValueError, AttributeError, IndexError)

Read = TypeVar("Read")
_Signature = tuple[tuple[str, int], ...]


class DamagedRunError(StoreError):
    """A run whose files can be read, but do not say what they should."""


@contextlib.contextmanager
def whole(name: str) -> Iterator[None]:
    """Inside, records that lack what every record has are a damaged run, not a mistake of the program."""
    try:
        yield
    except _MISSHAPEN as error:
        why = f"the run '{name}' is damaged: {type(error).__name__} {str(error)[:200]}"
        raise DamagedRunError(why.strip(), _WAY_OUT) from error


class RunReader:
    """The runs of a store, as rows of a list and opened; what was read is kept until one of its files changes."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        self._rows: _Kept[RunRow] = _Kept(MOST_ROWS)
        self._opened: _Kept[StoredRun] = _Kept(MOST_OPENED)

    def rows(self) -> list[RunRow]:
        """Every run, the newest first; one that vanishes while it is read is left out."""
        found = []
        for listed in self.store.list()[::-1]:
            with contextlib.suppress(FileNotFoundError):
                found.append(self._rows.get(listed.folder, lambda listed=listed: _row(listed)))  # type: ignore[misc]
        return found

    def opened(self, name: str) -> StoredRun:
        """The run of exactly that name."""
        folder = self.store.folder(name)
        with whole(name):
            return self._opened.get(folder, lambda: StoredRun.open(folder))


def _row(listed: ListedRun) -> RunRow:
    notes = read_notes(listed.folder)
    try:
        records, problems = ([], []) if listed.problem else listed.records()
        with whole(listed.id):
            return run_row(listed, records, len(problems), notes)
    except StoreError as error:
        return RunRow(listed.id, problem=str(error), notes=notes)


class _Kept(Generic[Read]):
    """What was read of folders, with when their files were last written."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Path, tuple[_Signature, Read]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, folder: Path, read: Callable[[], Read]) -> Read:
        """What is kept of the folder, or else read and kept."""
        signature = _signature(folder)
        with self._lock:
            kept = self._found.get(folder)
            if kept is not None and kept[0] == signature:
                self._found.move_to_end(folder)
                return kept[1]
        found = read()
        with self._lock:
            self._found[folder] = (signature, found)
            while len(self._found) > self._most:
                self._found.popitem(last=False)
        return found


def _signature(folder: Path) -> _Signature:
    """When each file that is read of a run was last written."""
    files = [*folder.glob("*.json"), *(folder / "trials").glob("[0-9]*/trial.json")]
    return tuple((str(path), path.stat().st_mtime_ns) for path in sorted(files))
