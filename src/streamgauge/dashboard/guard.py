"""Who may ask for what: reading is open to the address that is served, changing something needs the token."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "x-streamgauge-token"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
LARGEST_BODY_BYTES = 64 * 1024
"""More than any form of the page sends."""

_READING = ("GET", "HEAD")
_READ_ONLY = "this page is for reading only"
_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; object-src 'none'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True)
class Control:
    """What one server may be asked: under which names it is reached, and with which token it is changed."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    host: str = LOOPBACK[0]
    port: int | None = None
    """The port that a request must name; None where any will do."""
    refused: str = ""
    """Why nothing can be changed here, whatever the token; empty where it can."""

    @classmethod
    def at(cls, host: str, port: int, *, allow_control: bool = False) -> Control:
        """The control of a server at that address; away from loopback nothing can be changed unless allowed."""
        if loopback(host) or allow_control:
            return cls(host=host, port=port)
        why = f"the page is served at {host}, not on loopback alone: start it with --allow-control to change things"
        return cls(host=host, port=port, refused=why)

    @classmethod
    def reading_only(cls) -> Control:
        """The control of a page on loopback that cannot change anything."""
        return cls(refused=_READ_ONLY)

    def serves(self, host_header: str) -> bool:
        """Whether that Host header names this server: a name that was rebound to our address does not."""
        parts = _authority(host_header)
        if parts is None:
            return False
        name, port = parts
        if self.port is not None and port != self.port:
            return False
        if loopback(self.host):
            return name in LOOPBACK or name == self.host
        # An address in figures cannot be rebound by a name server; a name must be this machine's own.
        return _is_address(name) or name in {"localhost", self.host.lower(), *_own_names()}

    def refusal(self, method: str, headers: Headers) -> str:
        """Why a request may not be answered, in words; empty where it may."""
        host = headers.get("host", "")
        if not self.serves(host):
            return "the Host header names no address that is served here"
        if method in _READING:
            return ""
        if self.refused:
            return self.refused
        if not _same_origin(headers, host):
            return "the request comes from another origin"
        given = headers.get(TOKEN_HEADER, "").encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(given, self.token.encode()):
            return "the token is missing or wrong: it is printed on the console of `streamgauge serve`"
        return ""


def loopback(host: str) -> bool:
    """Whether nobody but this machine reaches that address."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guarded:
    """An application behind its control; plain ASGI, so that endless answers are passed on as they come."""

    def __init__(self, app: ASGIApp, control: Control) -> None:
        self.app = app
        self.control = control

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        sender = _with_headers(send)
        why = self.control.refusal(scope["method"], headers)
        if why:
            await JSONResponse({"error": why}, status_code=403)(scope, receive, sender)
        elif _too_long(scope["method"], headers):
            words = f"the request is larger than {LARGEST_BODY_BYTES:,} bytes, or does not say how large it is"
            await JSONResponse({"error": words}, status_code=413)(scope, receive, sender)
        else:
            await self.app(scope, receive, sender)


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            _add_headers(message)
        await send(message)

    return sender


def _add_headers(message: MutableMapping[str, Any]) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)


def _too_long(method: str, headers: Headers) -> bool:
    if method in _READING:
        return False
    length = headers.get("content-length")
    if length is None:
        return "transfer-encoding" in headers
    return not length.isascii() or not length.isdigit() or int(length) > LARGEST_BODY_BYTES


def _same_origin(headers: Headers, host: str) -> bool:
    """Whether the request says that it comes from this page; one without an Origin must not come from a browser."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _authority(header: str) -> tuple[str, int] | None:
    """Name and port of a Host header; None where it is not one."""
    if not header or any(c.isspace() or c in "/?#@\\" for c in header):
        return None
    try:
        parts = urlsplit(f"//{header}")
        name, port = parts.hostname, parts.port
    except ValueError:
        return None
    return None if not name else (name.rstrip(".").lower(), 80 if port is None else port)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _own_names() -> set[str]:
    own = socket.gethostname().lower()
    return {own, own.partition(".")[0]}
