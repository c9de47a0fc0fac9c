"""Pages and tables from stored runs: nothing here starts or imports an engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamgauge.report.drawing import DrawnTrial
    from streamgauge.report.markup import Markup
    from streamgauge.report.page import Part
    from streamgauge.store import StoredRun

__all__ = ["drawn_trials", "report_text", "run_body", "write_report"]

_DRAWN_TABLES = ("latency", "throughput", "resources", "scheduler")


# What the functions need is imported in them, so that the words of this room cost nothing to who prints a help page.


def write_report(stored: StoredRun, path: Path | None = None) -> Path:
    """Write the run's page, by default as report.html in its folder, and say where it is."""
    from streamgauge.report.page import write_page

    return write_page(report_text(stored), path or stored.folder / "report.html")


def report_text(stored: StoredRun) -> str:
    """The run's page as one self-contained HTML file."""
    from streamgauge.report.page import page

    return page(stored.run, drawn_trials(stored), stored.problems, stored.characterisation, stored.calibration)


def run_body(stored: StoredRun, further: Sequence[Part] = ()) -> Markup:
    """What stands on the run's page, without style and scripts, with further parts after the summary."""
    from streamgauge.report.page import page_body

    trials = drawn_trials(stored)
    return page_body(stored.run, trials, stored.problems, stored.characterisation, stored.calibration, further)


def drawn_trials(stored: StoredRun) -> list[DrawnTrial]:
    """The run's trials with the tables that charts are drawn from."""
    from streamgauge.report.drawing import DrawnTrial

    return [
        DrawnTrial(record, stored.tables(record, _DRAWN_TABLES), stored.decisions(record)) for record in stored.trials
    ]
