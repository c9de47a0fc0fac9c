"""What the page's script asks for while it is open, and what can be downloaded."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
from pyarrow import csv
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from streamgauge.dashboard import compare_view, run_view
from streamgauge.dashboard.pages import opened, reader
from streamgauge.dashboard.reading import whole
from streamgauge.model.errors import unknown
from streamgauge.report import report_text
from streamgauge.report.comparison import comparison_sheet
from streamgauge.report.export import csv_text
from streamgauge.report.run_figures import figures_table

_ROWS_AT_A_TIME = 64 * 1024


def overlay(request: Request) -> Response:
    """Charts of some trials of a run, laid over each other."""
    stored = opened(request)
    with whole(stored.folder.name):
        numbers = run_view.chosen_numbers(request.query_params.getlist("trial"), stored)
        return JSONResponse(run_view.overlaid(stored, numbers))


def span(request: Request) -> Response:
    """Quantiles of some trials within a span of time, taken again from their samples."""
    began = time.perf_counter()
    stored, asked = opened(request), request.query_params
    kind = asked.get("kind", "event")
    if kind not in run_view.KINDS:
        raise unknown("kind of latency", kind[:40], list(run_view.KINDS))
    wanted = run_view.span_of(asked.get("from"), asked.get("to"))
    with whole(stored.folder.name):
        numbers = run_view.chosen_numbers(asked.getlist("trial"), stored)
        found = request.app.state.samples.spans(stored, numbers, wanted, kind)
    took = round((time.perf_counter() - began) * 1000, 1)
    return JSONResponse({"rows": run_view.span_json(found), "kind": kind, "took_ms": took})


def report(request: Request) -> Response:
    """The run's self-contained page."""
    stored = opened(request)
    with whole(stored.folder.name):
        text = report_text(stored)
    return _download(text, "text/html; charset=utf-8", f"{stored.folder.name}.html")


def figures(request: Request) -> Response:
    """All figures of a run's trials as CSV."""
    stored = opened(request)
    with whole(stored.folder.name):
        text = csv_text(figures_table(stored.run, stored.trials))
    return _download(text, "text/csv; charset=utf-8", f"{stored.folder.name}.csv")


def table(request: Request) -> Response:
    """One stored table of a trial as CSV, row by row however long it is."""
    stored, name = opened(request), request.path_params["table"]
    number = request.path_params["trial"]
    if number not in {record["number"] for record in stored.trials}:
        raise unknown(f"trial in run {stored.id}", str(number)[:40], [str(r["number"]) for r in stored.trials])
    paths = stored.table_paths(number)
    if name not in paths:
        raise unknown(f"table of trial {number}", name[:40], list(paths))
    stored.check_table(number, name)
    file = f"{stored.folder.name}-{number}-{name}.csv"
    return StreamingResponse(_rows(paths[name]), media_type="text/csv; charset=utf-8", headers=_attached(file))


def _rows(path: Path) -> Iterator[bytes]:
    """The table in pieces; a file that is removed meanwhile stays readable until its end."""
    with pq.ParquetFile(path) as file:
        written = io.BytesIO()
        with csv.CSVWriter(written, file.schema_arrow) as writer:
            for batch in file.iter_batches(_ROWS_AT_A_TIME):
                writer.write_batch(batch)
                yield written.getvalue()
                written.seek(0)
                written.truncate()
        yield written.getvalue()


def comparison(request: Request) -> Response:
    """Every figure of every pair of a comparison as CSV."""
    read = reader(request)
    wanted = compare_view.choices(request.query_params.getlist("with"))
    chosen = [compare_view.narrowed(choice, read.opened(choice.run)) for choice in wanted]
    with whole(", ".join(str(choice) for choice in wanted)):
        sheet = comparison_sheet(compare_view.compared_pairs(compare_view.matches(chosen)))
    return _download(csv_text(sheet.numbers), "text/csv; charset=utf-8", "comparison.csv")


def _download(text: str, media_type: str, file: str) -> Response:
    return Response(text, media_type=media_type, headers=_attached(file))


def _attached(file: str) -> dict[str, str]:
    return {"content-disposition": f"attachment; filename*=UTF-8''{quote(file, safe='')}", "cache-control": "no-store"}
