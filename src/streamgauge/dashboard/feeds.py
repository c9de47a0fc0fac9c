"""One reader for each run that is watched, however many watch it: what it reads is told to all of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from streamgauge.dashboard.following import Followed
from streamgauge.store.live import SILENT_S, LiveReader, end_watch, heard_s_ago, renew_watch

EVERY_S = 0.5
STILL_THERE_S = 10.0
MOST_WAITING = 40
"""Frames that one who takes none may leave lying: twenty seconds. Then its stream ends, and its page comes back."""
RETRY_MS = 1_000

Status = Callable[[Path], str | None]
"""How a run stands: running, complete, …; None of one that is gone."""


class Feed:
    """Reads one run as long as somebody listens."""

    def __init__(self, folder: Path, status: Status, every_s: float = EVERY_S) -> None:
        self._folder, self._status, self._every_s = folder, status, every_s
        self._followed = Followed()
        self._reader = LiveReader(folder)
        self._listeners: set[asyncio.Queue[bytes | None]] = set()
        self._task: asyncio.Task[None] | None = None
        self._started = asyncio.Event()
        self._quiet_since_s = time.monotonic()
        self._said_silent = False
        self.looks = 0
        """How often the file was read."""

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    async def frames(self, after: int = 0) -> AsyncIterator[bytes]:
        """What a page needs to know all, then every half second what is new; ends with the run."""
        mine: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_WAITING)
        if self._task is None:
            self._task = asyncio.create_task(self._read_on())
        # Counted from here on, so that the reader does not stop for want of listeners before its first look.
        self._listeners.add(mine)
        try:
            await self._started.wait()
            while not mine.empty():
                mine.get_nowait()
            yield f"retry: {RETRY_MS}\n\n".encode()
            yield frame("records", self._followed.snapshot(after), self._followed.number)
            if self._task.done():
                yield self._end()
                return
            while True:
                try:
                    told = await asyncio.wait_for(mine.get(), STILL_THERE_S)
                except TimeoutError:
                    told = b": still there\n\n"
                if told is None:
                    return
                yield told
        finally:
            self._listeners.discard(mine)

    async def _read_on(self) -> None:
        try:
            while self._listeners:
                lines, ended = await asyncio.to_thread(self._look)
                told = [message for line in lines for message in self._followed.take(line)]
                if told:
                    self._tell(frame("records", told, self._followed.number))
                self._started.set()
                if ended or self._followed.status is not None:
                    self._followed.status = self._followed.status or ended
                    self._tell(self._end())
                    self._tell(None)
                    return
                self._tell_silence(bool(lines))
                await asyncio.sleep(self._every_s)
        finally:
            self._started.set()
            self._reader.close()
            end_watch(self._folder)

    def _look(self) -> tuple[list[dict[str, Any]], str | None]:
        self.looks += 1
        renew_watch(self._folder)
        lines = self._reader.new()
        heard_s = heard_s_ago(self._folder)
        if lines or (heard_s is not None and heard_s < SILENT_S):
            return lines, None
        status = self._status(self._folder)
        return lines, "gone" if status is None else (status if status != "running" else None)

    def _tell_silence(self, heard: bool) -> None:
        now_s = time.monotonic()
        if heard:
            self._quiet_since_s, self._said_silent = now_s, False
        elif now_s - self._quiet_since_s > SILENT_S and not self._said_silent:
            self._said_silent = True
            self._tell(frame("records", [{"what": "silent", "n": self._followed.number}], self._followed.number))

    def _tell(self, told: bytes | None) -> None:
        for listener in list(self._listeners):
            try:
                listener.put_nowait(told)
            except asyncio.QueueFull:
                self._listeners.discard(listener)
                while not listener.empty():
                    listener.get_nowait()
                listener.put_nowait(None)

    def _end(self) -> bytes:
        return frame("end", {"status": self._followed.status or "gone"}, self._followed.number)

    @property
    def ended(self) -> bool:
        """Whether nobody reads any more: who comes now begins anew."""
        return self._task is not None and self._task.done()


class Feeds:
    """The feeds of a server, one for each run that is watched."""

    def __init__(self, status: Status, every_s: float = EVERY_S) -> None:
        self._status, self._every_s = status, every_s
        self._open: dict[Path, Feed] = {}

    async def frames(self, folder: Path, after: int = 0) -> AsyncIterator[bytes]:
        """The frames of a run, from a feed that all who watch it share."""
        feed = self._open.get(folder)
        if feed is None or feed.ended:
            feed = self._open[folder] = Feed(folder, self._status, self._every_s)
        stream = feed.frames(after)
        try:
            async for each in stream:
                yield each
        finally:
            await stream.aclose()  # type: ignore[attr-defined]
            if not feed.listeners and self._open.get(folder) is feed:
                del self._open[folder]

    @property
    def open(self) -> dict[Path, Feed]:
        """Folder → its feed, of those that are watched."""
        return dict(self._open)


def frame(kind: str, told: Any, number: int) -> bytes:
    """One event of a stream; its id is the number of the newest line, from which a page resumes."""
    data = json.dumps(told, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return f"id: {number}\nevent: {kind}\ndata: {data}\n\n".encode()
