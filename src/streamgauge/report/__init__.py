"""Pages and tables from stored runs: nothing here starts or imports an engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamgauge.store import StoredRun

__all__ = ["write_report"]

_DRAWN_TABLES = ("latency", "throughput", "resources", "scheduler")


def write_report(stored: StoredRun, path: Path | None = None) -> Path:
    """Write the run's page, by default as report.html in its folder, and say where it is."""
    # Imported here, so that the words of this room cost nothing to who prints a help page.
    from streamgauge.report.drawing import DrawnTrial
    from streamgauge.report.page import page, write_page

    trials = []
    for record in stored.trials:
        tables = stored.tables(record)
        drawn = {name: tables[name] for name in _DRAWN_TABLES if name in tables}
        trials.append(DrawnTrial(record, drawn, stored.decisions(record)))
    whole = page(stored.run, trials, stored.problems, stored.characterisation, stored.calibration)
    return write_page(whole, path or stored.folder / "report.html")
