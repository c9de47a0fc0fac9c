"""constant: one rate from beginning to end (OS4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from streamgauge.load.spelling import parts_of, positive_rate_per_s, rate_text
from streamgauge.model.load import Load, LoadKind


@dataclass(frozen=True)
class ConstantLoad:
    """Events at even distances."""

    rate: float
    job_starts_at_s: float | None = 0.0

    @property
    def spelling(self) -> str:
        """The text that parses back to this load."""
        return f"constant:{rate_text(self.rate)}"

    def rate_per_s(self, elapsed_s: float) -> float:
        """The same at every moment."""
        return self.rate

    def events_by(self, elapsed_s: float) -> float:
        """Rate times elapsed time."""
        return self.rate * max(elapsed_s, 0.0)

    def due_s(self, index: Any) -> Any:
        """The moment at which each event is due."""
        return np.asarray(index, dtype=np.float64) / self.rate


def _parse(text: str) -> Load:
    (rate,) = parts_of(text, 1, 1)
    return ConstantLoad(positive_rate_per_s(rate))


LOAD = LoadKind("constant", "constant:500/s", "one rate from beginning to end", _parse, ("OS4", "OS5"))
