"""How much disk a run will take at its fullest."""

from __future__ import annotations

from streamgauge.lab.inputs import InputEvents, preloaded_inputs
from streamgauge.lab.planning import resolved
from streamgauge.model import Trial
from streamgauge.model.wire import FieldType

BYTES_PER_FIELD = {FieldType.STRING: 24, FieldType.LONG: 8, FieldType.DOUBLE: 8, FieldType.TIMESTAMP: 20}
COPIES = 4
"""An event in the log, its output, and both again as tables while they are verified."""
RESERVE_BYTES = 512 * 1024**2


def needed_bytes(trials: list[Trial]) -> int:
    """An upper estimate: the largest trial, for trials do not overlap, beside all inputs that may stay in the log."""
    largest = max((COPIES * _input_bytes(trial) for trial in trials), default=0)
    kept = {each: each.events * _event_bytes(trial, name) for trial in trials for name, each in _kept(trial)}
    return RESERVE_BYTES + largest + sum(kept.values())


def _kept(trial: Trial) -> list[tuple[str, InputEvents]]:
    return list(preloaded_inputs(trial, resolved(trial.found_at, trial.stop_after)).items())


def _input_bytes(trial: Trial) -> int:
    inputs = resolved(trial.found_at, trial.stop_after).inputs
    return trial.events * sum(_event_bytes(trial, name) for name in inputs)


def _event_bytes(trial: Trial, name: str) -> int:
    stream = resolved(trial.found_at, trial.stop_after).inputs[name]
    return 100 + sum(BYTES_PER_FIELD[f.type] for f in stream.fields)
