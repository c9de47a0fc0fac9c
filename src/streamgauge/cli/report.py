"""`streamgauge report`: rebuild a stored run's page, with no engine installed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamgauge.cli.options import RunsFolder
from streamgauge.cli.verb import Verb


def report(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]", help="A run's name, the beginning of one, or its folder (default: the latest)."
        ),
    ] = None,
    out: RunsFolder = Path("runs"),
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the page (default: report.html in the run).")
    ] = None,
) -> None:
    """Rebuild the HTML report of a stored run from its samples; its path is the last line."""
    from streamgauge.report import write_report
    from streamgauge.report.characterisations import print_characterisation
    from streamgauge.report.findings import console_tables
    from streamgauge.report.tables import console, print_summary
    from streamgauge.store import RunStore

    stored = RunStore(out).open(run or "latest")
    path = write_report(stored, to)
    if stored.characterisation is not None:
        print_characterisation(stored.characterisation)
    if stored.characterisation is None or stored.trials or stored.problems:
        further = console_tables(stored.run, stored.trials, console().width)
        print_summary(stored.trials, stored.problems, further=further)
    print(path)


VERB = Verb(
    name="report",
    function=report,
    examples=("streamgauge report", "streamgauge report 20250101-120000-1a2b --to page.html"),
)
