"""A run while it is measured: its page, and the stream of events that moves it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from streamgauge.dashboard.feeds import Feeds
from streamgauge.dashboard.following import PHASES
from streamgauge.dashboard.reading import RunReader
from streamgauge.dashboard.rendering import shown
from streamgauge.model.errors import StoreError
from streamgauge.report import live_charts
from streamgauge.report.page import drawn_figures
from streamgauge.store.files import read_json
from streamgauge.store.live import SILENT_S, heard_s_ago

AFTER = "after"
"""In an address: the number of the last line that the page knows, where it was not the browser that reconnected."""


class EventStream(Response):
    """Frames as they come, until there are no more or the browser is gone; in both cases nothing is left."""

    media_type = "text/event-stream"

    def __init__(self, frames: AsyncIterator[bytes]) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._frames = frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        tasks = {asyncio.create_task(self._pump(send)), asyncio.create_task(_until_gone(receive))}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _pump(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with contextlib.aclosing(self._frames) as frames:  # type: ignore[type-var]
            async for each in frames:
                await send({"type": "http.response.body", "body": each, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def stream(request: Request) -> Response:
    """What a run tells, as server-sent events."""
    reader: RunReader = request.app.state.reader
    folder = await asyncio.to_thread(reader.store.folder, request.path_params["run"])
    if request.method == "HEAD":
        return Response(media_type=EventStream.media_type)
    feeds: Feeds = request.app.state.feeds
    return EventStream(feeds.frames(folder, _after(request)))


def under_way(folder: Path, run: Mapping[str, Any]) -> bool:
    """Whether the run is being measured now: it says so, and it was heard of just now."""
    heard_s = heard_s_ago(folder)
    return run.get("status") == "running" and heard_s is not None and heard_s < SILENT_S


def page(request: Request, name: str, run: Mapping[str, Any]) -> Response:
    """The page of a run that is under way: empty charts, which its stream fills."""
    figures = live_charts.figures()
    return shown(
        request,
        "live.html",
        title=f"{name}, under way",
        run_name=name,
        run=run,
        phases=PHASES,
        charts=drawn_figures("live", list(figures.values())),
    )


def status_of(folder: Path) -> str | None:
    """How a run stands, by its own word; None of one that is gone, and 'damaged' of one that cannot be read."""
    try:
        return str(read_json(folder / "run.json", "").get("status"))
    except StoreError:
        return "damaged" if (folder / "run.json").exists() else None


def _after(request: Request) -> int:
    """From which line on, by the browser's own header or by the address; what is no number counts as nothing."""
    given = request.headers.get("last-event-id") or request.query_params.get(AFTER, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 16 else 0
