"""Faults of a trial: checked when it is planned, laid out in time when it is conducted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from streamgauge.faults.grammar import parse_fault, spelled
from streamgauge.faults.timeline import DEFAULT_FAILURE_TIMEOUT_S, Scene, timeline
from streamgauge.load import parse_load
from streamgauge.measure.validity import Record, ranked
from streamgauge.model import EngineError, Load, Trial, UserError
from streamgauge.model.fault import CLUSTER, RANDOM, PlannedFault
from streamgauge.places import fault_targets


def canonical(faults: Iterable[str]) -> tuple[str, ...]:
    """The one spelling of each fault."""
    return tuple(spelled(parse_fault(text)) for text in faults)


def stretched(spelling: str, factor: float) -> str:
    """A fault whose times are taken so many times."""

    def times(seconds: float | None) -> float | None:
        return None if seconds is None else round(seconds * factor, 3)

    fault = parse_fault(spelling)
    at = fault.at if isinstance(fault.at, str) else times(fault.at)
    every_s, after_s, for_s = map(times, (fault.every_s, fault.after_s, fault.for_s))
    return spelled(replace(fault, at=at, every_s=every_s, after_s=after_s, for_s=for_s))


def measured_length_s(trial: Trial, load: Load, warmup_s: float) -> float | None:
    """Seconds from the first measured event to the last by the load, as it is published; None of a preloaded one."""
    if load.job_starts_at_s is None:
        return None
    return float(load.due_s([trial.events - 1])[0]) - warmup_s


def check_faults(trial: Trial, load: Load, warmup_s: float, *, own_broker: bool) -> None:
    """Raise what is wrong with the faults of a trial; of a preloaded one half is not known yet, and taken for given."""
    length_s = measured_length_s(trial, load, warmup_s)
    faults = [parse_fault(text) for text in trial.faults]
    if length_s is None:
        faults = [replace(fault, at=0.0) if fault.at == "half" else fault for fault in faults]
    for planned in timeline(faults, _scene(trial, length_s, own_broker)):
        if planned.target == "publisher" and length_s is None:
            raise UserError(
                f"fault '{planned.fault}': a preloaded trial has published everything before its time begins",
                "Give another load, or another target",
            )
        if planned.target == "broker" and planned.until_s is None and planned.verb != "continue":
            raise UserError(
                f"fault '{planned.fault}': a log that stays away cannot be read back",
                "Say how long it is away: 'for 5s'",
            )


def laid_out(
    trial: Trial, load: Load, warmup_s: float, *, own_broker: bool, drained_s: float | None
) -> tuple[PlannedFault, ...]:
    """The timeline of a trial; `drained_s` is how long the same preloaded trial took without its faults."""
    length_s = measured_length_s(trial, load, warmup_s)
    faults = [parse_fault(text) for text in trial.faults]
    if length_s is None and needs_twin(trial):
        if drained_s is None:
            raise EngineError(
                "half of the trial is not known: the same trial without its faults gave no figure",
                "See why that one failed, or give the fault a time",
            )
        faults = [replace(fault, at=round(drained_s / 2, 3)) if fault.at == "half" else fault for fault in faults]
    return timeline(faults, _scene(trial, length_s, own_broker))


def needs_twin(trial: Trial) -> bool:
    """Whether the same trial without faults must run first: half of a preloaded one is half of that (SB6)."""
    preloaded = parse_load(trial.load).job_starts_at_s is None
    return preloaded and any(parse_fault(text).at == "half" for text in trial.faults)


def failure_timeout_of(trial: Trial) -> float | None:
    """How long a node of the trial may be silent before it counts as failed; None where nothing goes wrong."""
    return (trial.failure_timeout_s or DEFAULT_FAILURE_TIMEOUT_S) if trial.faults else None


def breaks_the_cluster(trial: Trial) -> bool:
    """Whether a fault is meant for a part of an embedded cluster, or may be drawn for one."""
    faults = [parse_fault(text) for text in trial.faults]
    return any(fault.verb == RANDOM or fault.target in CLUSTER for fault in faults)


def without_faults(trial: Trial) -> Trial:
    """The same trial, and nothing goes wrong in it."""
    return replace(trial, faults=(), no_restart=False, failure_timeout_s=None)


def drained_s_of(trial: Trial, records: Sequence[Record | None]) -> float | None:
    """The mean time in which the repeats of the same trial without faults were drained; None where none is known."""
    wanted = _identity(without_faults(trial).as_dict())
    found = []
    for record in records:
        if record is not None and ranked(record) and _identity(record["trial"]) == wanted:
            rate = (record.get("throughput") or {}).get("events_per_s")
            found += [record["measured_events"] / rate] if rate else []
    return sum(found) / len(found) if found else None


def _identity(trial: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in trial.items() if name != "repeat"}


def _scene(trial: Trial, length_s: float | None, own_broker: bool) -> Scene:
    return Scene(
        seed=trial.seed,
        targets=fault_targets(trial.place, own_broker=own_broker),
        place=trial.place,
        length_s=length_s,
        failure_timeout_s=failure_timeout_of(trial) or DEFAULT_FAILURE_TIMEOUT_S,
        restarts=not trial.no_restart,
    )
