"""What the pages answer: a handler takes the request apart, lets a view be built, and shows it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from streamgauge.dashboard import compare_view, live, run_view
from streamgauge.dashboard.reading import RunReader, whole
from streamgauge.dashboard.rendering import fragment, shown
from streamgauge.report import run_body
from streamgauge.report.overlay import MOST_NAMES
from streamgauge.store import StoredRun, read_notes

STORED = "stored"
"""In the address of a run under way: what is stored of it so far, instead of what it does now."""


def runs(request: Request) -> Response:
    """All runs of the store."""
    read = reader(request)
    return shown(request, "runs.html", title="Runs", runs=read.rows(), root=str(read.store.root))


def run(request: Request) -> Response:
    """One run: its report, with trials to choose and lay over each other, downloads, tags and a note."""
    stored = opened(request)
    name = stored.folder.name
    if STORED not in request.query_params and live.under_way(stored.folder, stored.run):
        return live.page(request, name, stored.run)
    with whole(name):
        rows = run_view.trial_rows(stored)
    values = {"name": name, "trials": rows, "kinds": run_view.KINDS, "most": MOST_NAMES}
    explore = fragment("explore.html", **values) if rows else None
    with whole(name):
        body = run_body(stored, [("explore", "Lay trials over each other", explore)])
    notes = read_notes(stored.folder)
    return shown(request, "run.html", title=stored.id, name=name, run=stored.run, notes=notes, trials=rows, body=body)


def compare(request: Request) -> Response:
    """Runs and trials against each other, and the form to choose them."""
    wanted = compare_view.choices(request.query_params.getlist("with"))
    read = reader(request)
    chosen = [compare_view.narrowed(choice, read.opened(choice.run)) for choice in wanted]
    with whole(", ".join(str(choice) for choice in wanted)):
        view = compare_view.comparison_view(chosen)
        known = [(each.run, run_view.trial_rows(read.opened(each.run))) for each in _once(wanted)]
    named = [str(choice) for choice in wanted]
    return shown(request, "compare.html", title="Compare", runs=read.rows(), view=view, chosen=named, known=known)


def _once(wanted: list[compare_view.Choice]) -> list[compare_view.Choice]:
    return [compare_view.Choice(run) for run in dict.fromkeys(choice.run for choice in wanted)]


def reader(request: Request) -> RunReader:
    """The runs that are served."""
    found: RunReader = request.app.state.reader
    return found


def opened(request: Request) -> StoredRun:
    """The run that the address names, by its whole name only: an address is never a path."""
    return reader(request).opened(request.path_params["run"])
