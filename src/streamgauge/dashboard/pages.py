"""What the pages answer: a handler takes the request apart, lets a view be built, and shows it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from streamgauge.dashboard import live
from streamgauge.dashboard.rendering import failure, shown
from streamgauge.model.errors import StoreError
from streamgauge.report import run_body
from streamgauge.store import RunStore, StoredRun


def runs(request: Request) -> Response:
    """All runs of the store."""
    return shown(request, "runs.html", title="Runs", runs=store(request).list()[::-1], root=str(store(request).root))


def run(request: Request) -> Response:
    """One run."""
    name = request.path_params["run"]
    if name not in store(request).names():
        return failure(request, 404, f"there is no run '{name}' in {store(request).root}", "See the list of all runs")
    stored = opened(request)
    if live.under_way(stored.folder, stored.run):
        return live.page(request, name, stored.run)
    return shown(request, "run.html", title=stored.id, run=stored.run, body=run_body(stored))


def store(request: Request) -> RunStore:
    """The runs that are served."""
    found: RunStore = request.app.state.store
    return found


def opened(request: Request) -> StoredRun:
    """The run that the address names, by its whole name only: an address is never a path."""
    name = request.path_params["run"]
    if name not in store(request).names():
        raise StoreError(f"there is no run '{name}'", "See the list of all runs")
    return StoredRun.open(store(request).root / name)
