"""The page as an application: its routes in one table, and what a failure looks like."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from streamgauge.dashboard import assets, live, pages
from streamgauge.dashboard.guard import Control, Guarded
from streamgauge.dashboard.rendering import failure
from streamgauge.model.errors import StreamgaugeError
from streamgauge.store import RunStore

ROUTES = (
    Route("/", pages.runs, name="runs"),
    Route("/runs/{run}", pages.run, name="run"),
    Route("/runs/{run}/live", live.stream, name="live"),
    Route("/static/plotly.js", assets.plotly, name="plotly"),
    Route("/static/report.css", assets.report_style, name="report_style"),
    Route("/static/report.js", assets.report_script, name="report_script"),
    Mount("/static", StaticFiles(packages=[("streamgauge.dashboard", "static")]), name="static"),
)


def application(store_root: Path | str, control: Control | None = None) -> Starlette:
    """The page over the runs of a folder; without a control it can be read on loopback and not changed."""
    guarded = control or Control.reading_only()
    app = Starlette(
        routes=list(ROUTES),
        middleware=[Middleware(Guarded, control=guarded)],
        exception_handlers={HTTPException: _no_page, StreamgaugeError: _refused, Exception: _mistake},
    )
    app.state.store = RunStore(store_root)
    app.state.control = guarded
    return app


async def _no_page(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "there is no such page", 405: "that cannot be done here"}
    detail = error.detail if isinstance(error, HTTPException) else ""
    return failure(request, status, words.get(status, detail or "the request cannot be answered"))


async def _refused(request: Request, error: Exception) -> Response:
    """A mistake in what was asked, or a run that cannot be read: its own words."""
    cause, way_out = getattr(error, "cause", str(error)), getattr(error, "way_out", "")
    return failure(request, getattr(error, "status", 422), cause, way_out)


async def _mistake(request: Request, error: Exception) -> Response:
    traceback.print_exception(error, file=sys.stderr)
    return failure(request, 500, "this is a mistake of streamgauge; its trace is on the console")
