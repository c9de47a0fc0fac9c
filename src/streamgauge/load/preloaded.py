"""preloaded: all events are in the log before the job starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamgauge.load.spelling import parts_of
from streamgauge.model.load import Load, LoadKind


@dataclass(frozen=True)
class PreloadedLoad:
    """Every event is due at once, and the job starts when the last is in the log."""

    spelling: str = "preloaded"
    job_starts_at_s: float | None = None

    def rate_per_s(self, elapsed_s: float) -> float:
        """Without bound: as fast as the log takes them."""
        return math.inf

    def events_by(self, elapsed_s: float) -> float:
        """Any number of events is due from the start on."""
        return math.inf if elapsed_s >= 0 else 0.0

    def due_s(self, index: Any) -> Any:
        """Zero for every event."""
        return np.zeros(np.shape(index))


def _parse(text: str) -> Load:
    parts_of(text, 0, 0)
    return PreloadedLoad()


LOAD = LoadKind("preloaded", "preloaded", "all events are in the log before the job starts", _parse, ("SB3", "BO21"))
