"""A load: when each event is due, as a pure function of elapsed time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Load(Protocol):
    """When events are due; `job_starts_at_s` is None when all events are in the log before the job starts."""

    @property
    def spelling(self) -> str:
        """The text that parses back to this load."""
        ...

    @property
    def job_starts_at_s(self) -> float | None:
        """Elapsed time at which the job is started: 0 for most, later for a start-up burst."""
        ...

    def rate_per_s(self, elapsed_s: float) -> float:
        """The rate at that moment."""
        ...

    def events_by(self, elapsed_s: float) -> float:
        """How many events are due up to that moment (the integral of the rate)."""
        ...

    def due_s(self, index: Any) -> Any:
        """The moment at which each event of an index array is due: the inverse of `events_by`."""
        ...


@dataclass(frozen=True)
class LoadKind:
    """A family of loads: its name, how it is spelled, and the parser of what follows the colon."""

    name: str
    spelling: str
    about: str
    parse: Callable[[str], Load]
    papers: tuple[str, ...] = ()
