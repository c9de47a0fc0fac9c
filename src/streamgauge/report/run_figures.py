"""All figures of a run's trials as one table, for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from streamgauge.measure.figures import FIGURES, Figure
from streamgauge.measure.validity import Record, correct
from streamgauge.report.words import in_order, told_apart

_ALIASES = "event."
_UNITS = {"ms": "ms", "s": "s", "%": "percent"}
"""Units that a figure's name does not end in already."""


def figures_table(run: Mapping[str, Any], records: Sequence[Record]) -> pa.Table:
    """Every figure that a trial of the run has, a row for each trial: numbers for programs, in their own units."""
    rows = []
    for record, detail in zip(records, told_apart(records), strict=True):
        named = {"run": run.get("run"), "trial": record["number"], "differs_in": detail}
        named |= {member: record[member] for member in ("application", "engine", "load", "seed", "status", "valid")}
        named |= {"repeat": int((record.get("trial") or {}).get("repeat") or 1), "correct": correct(record)}
        rows.append({**named, **{_heading(f.name): f.value(record) for f in _listed()}})
    known = [name for name in in_order(n for row in rows for n in row) if any(row[name] is not None for row in rows)]
    return pa.Table.from_pylist([{name: row[name] for name in known} for row in rows])


def _listed() -> list[Figure]:
    """Every figure once: 'event.p50' is another name of 'p50'."""
    return [figure for name, figure in FIGURES.items() if not name.startswith(_ALIASES)]


def _heading(name: str) -> str:
    ending = _UNITS.get(FIGURES[name].unit)
    return name if ending is None or name.endswith(f"_{ending}") else f"{name}_{ending}"
