"""Files of other packages that the page needs: the drawing library from its wheel, style and script of the report."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

_AGE = {"cache-control": "public, max-age=3600"}


def plotly(request: Request) -> Response:
    """The drawing library, as it is installed."""
    return Response(_plotly(), media_type="text/javascript; charset=utf-8", headers=_AGE)


def report_style(request: Request) -> Response:
    """The style sheet that pages and reports share."""
    return Response(_of_report("page.css"), media_type="text/css; charset=utf-8", headers={"cache-control": "no-cache"})


def report_script(request: Request) -> Response:
    """The script that draws, which pages and reports share."""
    kept = {"cache-control": "no-cache"}
    return Response(_of_report("page.js"), media_type="text/javascript; charset=utf-8", headers=kept)


@cache
def _plotly() -> bytes:
    return files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()


@cache
def _of_report(name: str) -> bytes:
    return files("streamgauge.report").joinpath(name).read_bytes()
