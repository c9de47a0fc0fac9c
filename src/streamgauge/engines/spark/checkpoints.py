"""What a query has committed, read from its checkpoint: the same for every Spark engine, and no load on the query."""

from __future__ import annotations

import json
from pathlib import Path

from streamgauge.engines.execution import Offsets

HEADING_LINES = 2
"""An offset file begins with its version and the batch's metadata; a line per source follows."""


def committed_offsets(checkpoint: Path) -> Offsets:
    """The input offsets up to which a query's newest committed batch or epoch has gone; empty before the first."""
    newest = max((int(f.name) for f in _numbered(checkpoint / "commits")), default=None)
    if newest is None:
        return {}
    try:
        lines = (checkpoint / "offsets" / str(newest)).read_text().splitlines()
    except FileNotFoundError:
        return {}
    found: Offsets = {}
    for line in lines[HEADING_LINES:]:
        for topic, partitions in json.loads(line).items() if line.startswith("{") else ():
            found.setdefault(topic, {}).update({int(p): int(o) for p, o in partitions.items()})
    return found


def _numbered(folder: Path) -> list[Path]:
    return [f for f in folder.iterdir() if f.name.isdigit()] if folder.is_dir() else []
