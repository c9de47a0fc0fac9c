"""The rows of an application's stored tables, written where the job and the oracle find them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq

from streamgauge.model import Application


def write_tables(application: Application, data: Mapping[str, str], folder: Path) -> dict[str, Path]:
    """Stored table → the file that holds its rows: those of a recorded file where one is given, else generated."""
    found: dict[str, Path] = {}
    for name, table in application.tables.items():
        recorded = data.get(name)
        rows = table.recorded(Path(recorded)) if recorded and table.recorded else table.synthetic()
        found[name] = table_path(folder, name)
        pq.write_table(rows, found[name])
    return found


def table_path(folder: Path, name: str) -> Path:
    """The file of one table in a trial's folder."""
    return folder / f"table-{name}.parquet"
