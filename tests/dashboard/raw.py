"""Requests as they come over the wire: no client that tidies an address before it is sent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette

from tests.dashboard.conftest import PORT


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: bytes


def request(
    app: Starlette,
    path: str,
    *,
    method: str = "GET",
    query: bytes = b"",
    headers: tuple[tuple[bytes, bytes], ...] = (),
    body: bytes = b"",
) -> Answer:
    """The application's answer to exactly that path, decoded as a server decodes it."""
    named = ((b"host", f"127.0.0.1:{PORT}".encode()), (b"content-length", str(len(body)).encode()))
    scope = {
        **{"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": ""},
        **{"method": method, "path": path, "raw_path": path.encode("utf-8", "surrogatepass"), "query_string": query},
        **{"headers": [*named, *headers], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", PORT)},
    }
    return asyncio.run(_exchanged(app, scope, body))


async def _exchanged(app: Starlette, scope: dict[str, Any], body: bytes) -> Answer:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(dict(message))

    await app(scope, receive, send)
    found = b"".join(each.get("body", b"") for each in sent if each["type"] == "http.response.body")
    return Answer(next(each["status"] for each in sent if each["type"] == "http.response.start"), found)
