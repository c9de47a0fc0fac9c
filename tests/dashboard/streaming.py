"""A browser that reads a stream of events, spoken to the application itself: it can leave when it likes."""

from __future__ import annotations

import asyncio
import json
from typing import Any


class Reading:
    """One open stream; `await leave()` is a browser that is closed."""

    def __init__(self, app: Any, path: str, headers: dict[str, str] | None = None, query: str = "") -> None:
        self.events: list[tuple[str, Any, str]] = []
        self.status = 0
        self.ended = asyncio.Event()
        self._gone = asyncio.Event()
        self._news = asyncio.Event()
        self._rest = b""
        given = {"host": "127.0.0.1", **(headers or {})}
        scope = {
            **{"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http"},
            **{"path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": ""},
            **{"headers": [(k.encode(), v.encode()) for k, v in given.items()], "server": ("127.0.0.1", 80)},
        }
        self._task = asyncio.create_task(self._serve(app, scope))

    async def _serve(self, app: Any, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._send)
        finally:
            self.ended.set()
            self._news.set()

    async def _receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        *whole, self._rest = (self._rest + message.get("body", b"")).split(b"\n\n")
        for block in whole:
            fields = dict(line.split(": ", 1) for line in block.decode().splitlines() if not line.startswith(":"))
            if "data" in fields:
                self.events.append((fields["event"], json.loads(fields["data"]), fields["id"]))
        self._news.set()

    def records(self, what: str | None = None) -> list[dict[str, Any]]:
        """What was told so far, of one kind or all."""
        told = [each for kind, data, _ in self.events if kind == "records" for each in data]
        return [each for each in told if what in (None, each["what"])]

    async def until(self, condition: Any, limit_s: float = 5.0) -> None:
        """Return when the condition holds."""
        async with asyncio.timeout(limit_s):
            while not condition():
                self._news.clear()
                if condition():
                    return
                await self._news.wait()

    async def leave(self) -> None:
        """Close the browser and wait until the server has noticed."""
        self._gone.set()
        async with asyncio.timeout(5):
            await self._task
