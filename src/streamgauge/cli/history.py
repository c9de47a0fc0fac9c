"""`streamgauge history`: one figure over the stored runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from streamgauge.cli.options import AsJson, RunsFolder
from streamgauge.cli.verb import Verb
from streamgauge.model.errors import UserError


def history(
    figure: Annotated[str, typer.Argument(metavar="FIGURE", help="A figure as in thresholds: p99, events_per_s, cpu.")],
    application: Annotated[
        str | None, typer.Option("--application", "-a", metavar="NAME", help="Only this application.")
    ] = None,
    engine: Annotated[str | None, typer.Option("--engine", "-e", metavar="NAME", help="Only this engine.")] = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the series to this .csv, .parquet or .md file too.")
    ] = None,
    out: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Show one figure over all stored runs, oldest first, with its interval over repeats."""
    from streamgauge.measure.figures import get_figure
    from streamgauge.report.export import check_export, write_sheet
    from streamgauge.report.history import history as read_history
    from streamgauge.report.history import history_sheet, history_table
    from streamgauge.report.tables import console, remark
    from streamgauge.store import RunStore

    wanted = get_figure(figure)
    if export is not None:
        check_export(export)
    found, problems = read_history(RunStore(out), wanted, application, engine)
    if not found and not problems:
        raise UserError(f"there is no trial in the runs of {out}", "Make one with: streamgauge run wordcount")
    if as_json:
        shown = [series.as_dict() for series in found]
        print(json.dumps({"schema": 1, "figure": figure, "unit": wanted.unit, "series": shown, "problems": problems}))
    else:
        screen = console()
        for series in found:
            screen.print(history_table(series))
        for problem in problems:
            screen.print(remark("red", "not read", problem))
    if export is not None:
        write_sheet(history_sheet(wanted, found), export)


VERB = Verb(
    name="history",
    function=history,
    examples=(
        "streamgauge history p99",
        "streamgauge history events_per_s --application wordcount --engine spark-microbatch",
        "streamgauge history output.p95 --export history.csv",
    ),
)
