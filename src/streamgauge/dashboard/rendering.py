"""Answers as HTML or JSON: the templates, and one shape for what went wrong."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from streamgauge import __version__
from streamgauge.report import markup

DATA = "/api/"
"""Where the addresses begin that answer in JSON."""


@cache
def templates() -> Environment:
    """The templates, in which every text is escaped and a name that is not given is a mistake."""
    found = Environment(
        loader=PackageLoader("streamgauge.dashboard", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finished,
    )
    found.globals["version"] = __version__
    return found


def _finished(value: Any) -> Any:
    """Markup of the report is finished HTML; nothing else that is not the template's own is."""
    return Markup(value.html) if isinstance(value, markup.Markup) else value


def shown(request: Request, template: str, /, status: int = 200, **values: Any) -> HTMLResponse:
    """A page made of the template of that name."""
    control = request.app.state.control
    text = templates().get_template(template).render(request=request, refused=control.refused, **values)
    return HTMLResponse(_writable(text), status, headers={"cache-control": "no-store"})


def _writable(text: str) -> str:
    """A text without what UTF-8 cannot write: a folder's name may hold any bytes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def fragment(template: str, /, **values: Any) -> markup.Markup:
    """A part of a page made of the template of that name."""
    return markup.Markup(templates().get_template(template).render(**values))


def failure(request: Request, status: int, cause: str, way_out: str = "") -> Response:
    """What went wrong: a page, or JSON where JSON was asked for."""
    if request.url.path.startswith(DATA) or request.method not in ("GET", "HEAD"):
        return JSONResponse({"error": _writable(cause), "way_out": _writable(way_out)}, status)
    return shown(request, "error.html", status=status, title="Not shown", cause=cause, way_out=way_out, code=status)
