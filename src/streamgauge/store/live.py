"""What a run tells while it runs: a file of its folder that grows line by line, is bounded, and goes with the run.

One process writes, any number read. Neither locks anything: a line is written at once, and a reader takes whole lines.
When the file has grown too large it is replaced by a thinner one, which a reader notices; every line has a number that
only rises, so nothing is read twice.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from streamgauge.store.files import plain

LIVE = "live.jsonl"
WATCHERS = "watched"
"""Renewed by whoever shows the run: as long as it is fresh, what costs something to look at is looked at too."""
MOST_BYTES = 4 << 20
"""At about 400 bytes and two lines a second, an hour and a half until it is thinned for the first time."""
LEASE_S = 3.0
SILENT_S = 10.0
"""A run under way writes every half second: one that has not for so long was killed or stands still."""

_SAMPLE = b'{"what":"sample"'
"""How the lines begin that may be thinned out."""
_MOST_OTHERS = 4_000
"""Of all other lines so many of the newest survive, beside the first, which says what the run is."""


class LiveWriter:
    """Appends to a run's file of what happens; used by any thread. A disk that is full costs lines, never the run."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._path, self._folder, self._most_bytes = folder / LIVE, folder, most_bytes
        self._lock = threading.Lock()
        # A run that is resumed goes on above the numbers of the attempt before, which a page may still have on it.
        self._number = time.time_ns() // 1_000_000
        self._bytes = 0
        self._file: IO[bytes] | None = None
        clear_live(folder)
        with contextlib.suppress(OSError):
            self._file = self._path.open("wb", buffering=0)

    def say(self, what: str, **facts: Any) -> None:
        """Add a line; `what` says of which kind, and `sample` is the kind that may be thinned out later."""
        with self._lock:
            if self._file is None:
                return
            self._number += 1
            line = {"what": what, "n": self._number, "said_ms": time.time_ns() // 1_000_000, **plain(facts)}
            text = json.dumps(line, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n"
            with contextlib.suppress(OSError):
                self._bytes += self._file.write(text.encode())
                if self._bytes > self._most_bytes:
                    self._thin()

    def beat(self) -> None:
        """Say nothing, but that the run goes on."""
        with contextlib.suppress(OSError):
            os.utime(self._path)

    def watched(self, now_s: Callable[[], float] = time.time) -> bool:
        """Whether somebody looks at the run now."""
        try:
            return now_s() - (self._folder / WATCHERS).stat().st_mtime < LEASE_S
        except OSError:
            return False

    def close(self, status: str) -> None:
        """Say how the run ended and take the file away; who still reads it reads to its end."""
        self.say("end", status=status)
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None
        clear_live(self._folder)

    def _thin(self) -> None:
        # Where it fails, not before as much again has been written.
        self._bytes = 0
        kept = thinned(self._path.read_bytes().splitlines(keepends=True))
        fresh = self._path.with_name(f".{LIVE}.part")
        file = fresh.open("wb", buffering=0)
        file.write(b"".join(kept))
        fresh.replace(self._path)
        old, self._file = self._file, file
        self._bytes = sum(map(len, kept))
        if old is not None:
            old.close()


def thinned(lines: list[bytes]) -> list[bytes]:
    """Half of the samples, the first and last of them kept, and the newest of all other lines."""
    samples = [place for place, line in enumerate(lines) if line.startswith(_SAMPLE)]
    others = [place for place, line in enumerate(lines) if not line.startswith(_SAMPLE)]
    kept = {*samples[::2], *samples[-1:], *others[:1], *others[-_MOST_OTHERS:]}
    return [lines[place] for place in sorted(kept)]


def clear_live(folder: Path) -> None:
    """Remove what a run told while it ran."""
    for name in (LIVE, WATCHERS, f".{LIVE}.part"):
        with contextlib.suppress(OSError):
            (folder / name).unlink(missing_ok=True)


class LiveReader:
    """Follows what a run tells; not safe for several threads. It never raises for a file that is not there."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LIVE
        self._file: IO[bytes] | None = None
        self._rest = b""
        self.number = 0
        """Of the last line that was given."""

    def new(self) -> list[dict[str, Any]]:
        """The lines since the last call; of a file that is gone, or was replaced, its last ones first."""
        found = self._read()
        if self._replaced():
            found += self._read()
            self._open()
            found += self._read()
        return found

    def close(self) -> None:
        """Let the file go."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _replaced(self) -> bool:
        try:
            there = self._path.stat()
        except OSError:
            return False
        if self._file is None:
            return True
        mine = os.fstat(self._file.fileno())
        return (there.st_ino, there.st_dev) != (mine.st_ino, mine.st_dev)

    def _open(self) -> None:
        self.close()
        self._rest = b""
        with contextlib.suppress(OSError):
            self._file = self._path.open("rb")

    def _read(self) -> list[dict[str, Any]]:
        if self._file is None:
            return []
        try:
            *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        except OSError:
            return []
        found = []
        for line in lines:
            told = _parsed(line)
            if told is not None and told["n"] > self.number:
                self.number = told["n"]
                found.append(told)
        return found


def _parsed(line: bytes) -> dict[str, Any] | None:
    """A line as it was said; None of one that is damaged."""
    try:
        told = json.loads(line)
    except ValueError:
        return None
    sound = isinstance(told, dict) and isinstance(told.get("n"), int) and isinstance(told.get("what"), str)
    return told if sound else None


def renew_watch(folder: Path) -> None:
    """Say that somebody looks at the run; nothing where it is gone."""
    with contextlib.suppress(OSError):
        if (folder / LIVE).exists():
            (folder / WATCHERS).touch()


def end_watch(folder: Path) -> None:
    """Say that one who looked has gone; others say within half a second that they have not."""
    with contextlib.suppress(OSError):
        (folder / WATCHERS).unlink(missing_ok=True)


def heard_s_ago(folder: Path, now_s: Callable[[], float] = time.time) -> float | None:
    """How long ago the run last told something; None where it does not tell, or no more."""
    try:
        return max(0.0, now_s() - (folder / LIVE).stat().st_mtime)
    except OSError:
        return None


def first_told(folder: Path) -> Mapping[str, Any]:
    """What the run said first: which process it is of, and its trials; empty where it tells nothing."""
    try:
        with (folder / LIVE).open("rb") as file:
            return _parsed(file.readline()) or {}
    except OSError:
        return {}
