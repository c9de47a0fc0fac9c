"""What a query has committed, read from its checkpoint: the same for every Spark engine, and no load on the query."""

from __future__ import annotations

import json
from dataclasses import dataclass

from streamgauge.engines.execution import Offsets
from streamgauge.engines.spark.checkpoint_paths import CheckpointPath

HEADING_LINES = 2
"""An offset file begins with its version and the batch's metadata; a line per source follows."""


def committed_offsets(checkpoint: CheckpointPath) -> Offsets:
    """The input offsets up to which a query's newest committed batch or epoch has gone; empty before the first."""
    newest = newest_commit(checkpoint)
    return {} if newest is None else _offsets(checkpoint / "offsets" / str(newest))


def newest_commit(checkpoint: CheckpointPath) -> int | None:
    """The number of the newest committed batch or epoch; None before the first."""
    return max((int(f.name) for f in _numbered(checkpoint / "commits")), default=None)


@dataclass(frozen=True)
class RunningBatch:
    """A micro-batch whose offsets are planned and not yet committed; a real-time batch plans nothing."""

    number: int
    began_s: float
    """Seconds since the epoch."""
    ends: Offsets


def running_batch(checkpoint: CheckpointPath) -> RunningBatch | None:
    """The micro-batch that runs now, or None."""
    committed = newest_commit(checkpoint)
    planned = max((int(f.name) for f in _numbered(checkpoint / "offsets")), default=-1)
    if planned <= (-1 if committed is None else committed):
        return None
    file = checkpoint / "offsets" / str(planned)
    try:
        return RunningBatch(planned, file.stat().st_mtime, _offsets(file))
    except FileNotFoundError:
        return None


def _offsets(file: CheckpointPath) -> Offsets:
    try:
        lines = file.read_text().splitlines()
    except FileNotFoundError:
        return {}
    found: Offsets = {}
    for line in lines[HEADING_LINES:]:
        for topic, partitions in json.loads(line).items() if line.startswith("{") else ():
            found.setdefault(topic, {}).update({int(p): int(o) for p, o in partitions.items()})
    return found


def _numbered(folder: CheckpointPath) -> list[CheckpointPath]:
    try:
        return [file for file in folder.iterdir() if file.name.isdigit()]
    except (FileNotFoundError, NotADirectoryError):
        return []
