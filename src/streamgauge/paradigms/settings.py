"""What a user may set of the scheduler, and the objective that biases it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamgauge.measure.figures import get_figure
from streamgauge.measure.thresholds import parse_threshold
from streamgauge.model.errors import UserError
from streamgauge.paradigms.paradigm import Paradigm

BREACH_WEIGHT = 10.0
"""Seconds of latency above an objective's limit count so many times."""


@dataclass(frozen=True)
class Objective:
    """A latency that is to be kept: time above it is dearer than time below it."""

    text: str
    limit_s: float

    @classmethod
    def parse(cls, text: str) -> Objective:
        """'p99<200ms' and the like; only an upper limit on a latency can bias the choice of paradigm."""
        threshold = parse_threshold(text)
        # In steady state a segment's quantiles move together, so the limit is set against the latency itself.
        measured = get_figure(threshold.figure).path[0]
        if threshold.op not in ("<", "<=") or not measured.endswith("latency_ms"):
            raise UserError(
                f"'{text}' is no objective for choosing a paradigm", "Give an upper limit on a latency, like p99<200ms"
            )
        return cls(threshold.text, threshold.value / 1000)


@dataclass(frozen=True)
class SchedulerSettings:
    """How the scheduler decides; the defaults suit a warm standby on one machine."""

    delta: float = 0.2
    """δ of the hysteresis."""
    dwell_s: float = 2.0
    """Least time from one switch of a segment to its next."""
    confirm_s: float = 0.4
    """A rate above PD for this long, and for three ticks, is a burst that goes on; a shorter one is a spike."""
    burst_s: float = 5.0
    """How long a burst that goes on is expected to last at least; one that has lasted longer, as long again."""
    catch_up_s: float = 1.0
    """Wanted duration of a micro-batch while it catches up: a bound on its records."""
    objective: Objective | None = None
    pinned: Mapping[str, Paradigm] = field(default_factory=dict)
    """Stage → the paradigm that it must stay in."""

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise UserError(f"delta is between 0 and 1, not {self.delta:g}", "Write it like delta=0.2")
        for name in ("dwell_s", "confirm_s", "burst_s", "catch_up_s"):
            if not getattr(self, name) > 0:
                raise UserError(f"{name.removesuffix('_s')} must be more than 0", "Write it like 2s")

    def dearness(self, latency_s: float) -> float:
        """What a latency counts: itself, and much more for what lies above the objective."""
        if self.objective is None:
            return latency_s
        return latency_s + BREACH_WEIGHT * max(0.0, latency_s - self.objective.limit_s)
