"""How much disk a run will take at its fullest."""

from __future__ import annotations

from streamgauge.lab.planning import resolved
from streamgauge.model import Trial
from streamgauge.model.wire import FieldType

BYTES_PER_FIELD = {FieldType.STRING: 24, FieldType.LONG: 8, FieldType.DOUBLE: 8, FieldType.TIMESTAMP: 20}
COPIES = 4
"""An event in the log, its output, and both again as tables while they are verified."""
RESERVE_BYTES = 512 * 1024**2


def needed_bytes(trials: list[Trial]) -> int:
    """An upper estimate for the largest trial: trials do not overlap, and each removes what it wrote."""
    return RESERVE_BYTES + max((_trial_bytes(trial) for trial in trials), default=0)


def _trial_bytes(trial: Trial) -> int:
    application = resolved(trial.found_at, trial.stop_after)
    per_event = sum(100 + sum(BYTES_PER_FIELD[f.type] for f in s.fields) for s in application.inputs.values())
    return COPIES * per_event * trial.events
