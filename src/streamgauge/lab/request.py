"""What a user asks of the laboratory, and what it tells while it works."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from streamgauge.model import Gap, Trial

DEFAULT_ENGINES = ("spark-microbatch",)
DEFAULT_WARMUP_S = 10.0
DEFAULT_MEASURED_S = 15.0
DEFAULT_TIMEOUT_S = 600.0
SETTLING_S = 30.0
QUICK_SETTLING_S = 16.0
THOROUGH_SETTLING_S = 60.0
"""Longest time that a process is warmed by default: by one command, in a suite's quick look, and where many trials are
compared."""
DEFAULT_PRELOADED_EVENTS = 1_000_000


@dataclass(frozen=True)
class RunRequest:
    """One command's wish: applications × engines × repeats under one load."""

    applications: tuple[str, ...]
    engines: tuple[str, ...] = DEFAULT_ENGINES
    load: str = "constant:500/s"
    events: int | None = None
    """Measured events; or give `for_s`."""
    for_s: float | None = None
    """Measured seconds, after the warm-up."""
    warmup_s: float | None = None
    settling_s: float = SETTLING_S
    """Longest time that a job process which is cold is warmed; not at all where there is no warm-up."""
    seed: int = 1
    repeat: int = 1
    partitions: int | None = None
    place: str = "local"
    parameters: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    stop_after: str | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    """Input or stored table → recorded file; the name may be empty where an application has one input."""
    malformed: float = 0.0
    key_skew: str | None = None
    """How uneven the keys of generated events are."""
    dead_letters: bool = False
    faults: tuple[str, ...] = ()
    """What goes wrong, as `faults.grammar` spells it."""
    no_restart: bool = False
    failure_timeout_s: float | None = None
    sink: str | None = None
    kafka: str | None = None
    kafka_config: Path | None = None
    out: Path = Path("runs")
    keep: bool = False
    timeout_s: float = DEFAULT_TIMEOUT_S
    """Longest time that one trial may take beyond the time in which its events are due."""
    thresholds: tuple[str, ...] = ()
    command: str = ""
    verbose: bool = False
    """Whether what an engine decides is told while a trial runs."""


@dataclass(frozen=True)
class PlannedTrial:
    """A trial, and what conducting it needs to know beside what it is."""

    trial: Trial
    warmup_s: float = 0.0
    """Seconds at the trial's own load before its figures begin."""
    settling_s: float = SETTLING_S
    """Longest time that a process which is cold runs the job before, its outputs thrown away."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    thresholds: tuple[str, ...] = ()
    gap: Gap | None = None
    """Why it will not be conducted: it is stored as a gap, with this reason."""
    matrices: tuple[str, ...] = ()
    """The matrices of its suite that ask for it."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values, without the password of a sink."""
        return {**asdict(self), "trial": self.trial.as_dict()}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> PlannedTrial:
        """What `as_dict` gave."""
        gap = values["gap"]
        return PlannedTrial(
            trial=Trial.from_dict(values["trial"]),
            warmup_s=values["warmup_s"],
            settling_s=values["settling_s"],
            timeout_s=values["timeout_s"],
            thresholds=tuple(values["thresholds"]),
            gap=Gap(**gap) if gap else None,
            matrices=tuple(values["matrices"]),
        )


@dataclass(frozen=True)
class Plan:
    """Trials in the order in which they will be conducted, and where: in which log, stored in which folder."""

    trials: tuple[PlannedTrial, ...]
    kafka: str | None = None
    kafka_config: Path | None = None
    out: Path = Path("runs")
    keep: bool = False
    command: str = ""
    verbose: bool = False
    """Whether what an engine decides is told while a trial runs."""
    suite: Mapping[str, Any] | None = None
    """What is stored of the suite that the plan was made of."""


class Listener(Protocol):
    """Hears what the laboratory is doing; a console shows it."""

    def planned(self, run: str, trials: list[Trial]) -> None:
        """The run has begun and these trials will be conducted in this order."""
        ...

    def phase(self, number: int, trial: Trial, phase: str, done: float, total: float) -> None:
        """Trial `number` (from 1) is in a phase, `done` of `total` (events or seconds; total 0 = unknown)."""
        ...

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """A trial has ended; its record is stored."""
        ...

    def note(self, text: str) -> None:
        """Something a person should know, in one line."""
        ...


@dataclass(frozen=True)
class RunOutcome:
    """What a run left: where it is stored, its records, and the exit code it deserves."""

    run: str
    path: Path
    records: tuple[dict[str, Any], ...]
    exit_code: int
