"""The page as an application: its routes in one table, and what a failure looks like."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from streamgauge.dashboard import assets, changes, data, live, pages, starting
from streamgauge.dashboard.commands import BusyError, Commands
from streamgauge.dashboard.feeds import Feeds
from streamgauge.dashboard.guard import Control, Guarded
from streamgauge.dashboard.live import status_of
from streamgauge.dashboard.reading import RunReader
from streamgauge.dashboard.rendering import failure
from streamgauge.dashboard.samples import SampleReader
from streamgauge.model.errors import StreamgaugeError
from streamgauge.store import HeldRunError, RunStore, UnknownRunError

ROUTES: tuple[BaseRoute, ...] = (
    Route("/", pages.runs),
    Route("/runs/{run}", pages.run),
    Route("/runs/{run}/live", live.stream),
    Route("/runs/{run}/report.html", data.report),
    Route("/runs/{run}/figures.csv", data.figures),
    Route("/runs/{run}/trials/{trial:int}/{table}.csv", data.table),
    Route("/compare", pages.compare),
    Route("/start", starting.form),
    Route("/api/control", starting.control),
    Route("/api/start", starting.start, methods=["POST"]),
    Route("/api/start/check", starting.check, methods=["POST"]),
    Route("/api/stop", starting.stop, methods=["POST"]),
    Route("/compare.csv", data.comparison),
    Route("/api/runs/{run}/overlay", data.overlay),
    Route("/api/runs/{run}/span", data.span),
    Route("/api/runs/{run}/notes", changes.write_note, methods=["POST"]),
    Route("/api/runs/{run}/delete", changes.delete, methods=["POST"]),
    Route("/static/plotly.js", assets.plotly),
    Route("/static/report.css", assets.report_style),
    Route("/static/report.js", assets.report_script),
    Mount("/static", StaticFiles(packages=[("streamgauge.dashboard", "static")])),
)


def application(store_root: Path | str, control: Control | None = None) -> Starlette:
    """The page over the runs of a folder; without a control it can be read on loopback and not changed."""
    guarded = control or Control.reading_only()
    app = Starlette(
        routes=list(ROUTES),
        middleware=[Middleware(Guarded, control=guarded)],
        exception_handlers=_HANDLERS,
    )
    app.router.redirect_slashes = False
    app.state.control = guarded
    app.state.reader = RunReader(RunStore(store_root))
    app.state.samples = SampleReader()
    app.state.writing = anyio.Lock()
    app.state.feeds = Feeds(status_of)
    app.state.commands = Commands(app.state.reader.store)
    return app


async def _no_page(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "there is no such page", 405: "that cannot be done here"}
    detail = error.detail if isinstance(error, HTTPException) else ""
    return failure(request, status, words.get(status, detail or "the request cannot be answered"))


async def _refused(request: Request, error: Exception) -> Response:
    """A mistake in what was asked, or a run that cannot be read: its own words."""
    status = next((code for kind, code in _STATUSES.items() if isinstance(error, kind)), 422)
    return failure(request, status, getattr(error, "cause", str(error)), getattr(error, "way_out", ""))


async def _gone(request: Request, error: Exception) -> Response:
    return failure(request, 404, "the run was removed while it was being read")


async def _mistake(request: Request, error: Exception) -> Response:
    traceback.print_exception(error, file=sys.stderr)
    return failure(request, 500, "this is a mistake of streamgauge; its trace is on the console")


_STATUSES = {UnknownRunError: 404, HeldRunError: 409, BusyError: 409}
_HANDLERS = {
    HTTPException: _no_page,
    StreamgaugeError: _refused,
    FileNotFoundError: _gone,
    Exception: _mistake,
}
