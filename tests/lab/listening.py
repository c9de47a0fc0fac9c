"""A listener that remembers what it heard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamgauge.model import Trial


class Remembering:
    """Keeps phases, records and notes; `on_phase` may act on a phase when it is first heard."""

    def __init__(self, on_phase: Callable[[int, str], None] | None = None) -> None:
        self.phases: list[tuple[int, str]] = []
        self.records: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.run = ""
        self._on_phase = on_phase

    def planned(self, run: str, trials: list[Trial]) -> None:
        """Remember the run's id."""
        self.run = run

    def phase(self, number: int, trial: Trial, phase: str, done: float, total: float) -> None:
        """Remember a phase once."""
        if (number, phase) not in self.phases:
            self.phases.append((number, phase))
            if self._on_phase:
                self._on_phase(number, phase)

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Remember a record."""
        self.records.append(record)

    def note(self, text: str) -> None:
        """Remember a note."""
        self.notes.append(text)
