"""What a user asks of the laboratory, and what it tells while it works."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from streamgauge.model import Trial

DEFAULT_ENGINES = ("spark-microbatch",)
DEFAULT_WARMUP_S = 10.0
DEFAULT_MEASURED_S = 15.0
DEFAULT_TIMEOUT_S = 600.0
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
    dead_letters: bool = False
    sink: str | None = None
    kafka: str | None = None
    kafka_config: Path | None = None
    out: Path = Path("runs")
    keep: bool = False
    timeout_s: float = DEFAULT_TIMEOUT_S
    """Longest time that one trial may take beyond the time in which its events are due."""
    thresholds: tuple[str, ...] = ()
    command: str = ""


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
