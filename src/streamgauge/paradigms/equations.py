"""The paper's equations (DO2, DO3): what is measured of a segment, and the queue at which the paradigms cross."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from streamgauge.model.errors import UserError

ASSUMED_K = 0.2
"""PD ÷ PO before any was measured: the value that the paper set by hand."""
FULL = 0.98
"""Utilisation above which a paradigm is taken not to catch up any more."""
BUSY = 0.8
"""Utilisation up to which the interval grows with the rate; beyond it the bound on a batch's records holds it."""


@dataclass(frozen=True)
class SegmentFigures:
    """What is measured of a segment in both paradigms; rates count the segment's own input records."""

    data_per_s: float
    """PD: records per second that the data stream works off."""
    operation_per_s: float
    """PO: records per second within a micro-batch, its fixed time left out."""
    schedule_s: float
    """t_s: planning, offsets and commits of a micro-batch, whatever its size."""
    operation_transfer_s: float
    """t_ot: the rest of a micro-batch's fixed time."""
    data_transfer_s: float
    """t_dt: latency of the data stream when nothing waits."""
    interval_s: float = 0.0
    """T as set by a trigger; 0 is Spark's default, the next batch as soon as the last has ended."""

    def __post_init__(self) -> None:
        if not (self.data_per_s > 0 and self.operation_per_s > 0):
            raise UserError("a segment's speeds must be above 0", "Calibrate it again")
        if min(self.schedule_s, self.operation_transfer_s, self.data_transfer_s, self.interval_s) < 0:
            raise UserError("a segment's times must not be negative", "Calibrate it again")

    @property
    def k(self) -> float:
        """K = PD ÷ PO."""
        return self.data_per_s / self.operation_per_s

    @property
    def fixed_s(self) -> float:
        """What a micro-batch costs however few records it has: t_s + t_ot."""
        return self.schedule_s + self.operation_transfer_s

    def interval_at(self, arrival_per_s: float) -> float:
        """T at a rate: a batch lasts t_s + t_ot + V·T ÷ PO, and the next cannot begin before that.

        The paper sets T by hand; with back-to-back batches it follows from the rate.
        """
        utilisation = min(arrival_per_s / self.operation_per_s, BUSY)
        return max(self.interval_s, self.fixed_s / (1 - utilisation))

    def c_at(self, arrival_per_s: float) -> float:
        """C = T ÷ 2 + t_s + t_ot − t_dt."""
        return self.interval_at(arrival_per_s) / 2 + self.fixed_s - self.data_transfer_s

    def data_latency_s(self, queue: float) -> float:
        """Equation 4: L ÷ PD + t_dt."""
        return queue / self.data_per_s + self.data_transfer_s

    def operation_latency_s(self, arrival_per_s: float) -> float:
        """Equation 5: T ÷ 2 + t_s + V·T ÷ PO + t_ot; above PO that of full batches, the queue apart."""
        interval_s = self.interval_at(arrival_per_s)
        return interval_s / 2 + self.fixed_s + min(1.0, arrival_per_s / self.operation_per_s) * interval_s

    def as_dict(self) -> dict[str, float]:
        """As plain JSON values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> SegmentFigures:
        """The figures that `as_dict` gave."""
        return cls(**{field.name: float(values[field.name]) for field in fields(cls) if field.name in values})


@dataclass(frozen=True)
class SwitchPoint:
    """L_switch at one rate, with the hysteresis around it and the terms it was made of."""

    k: float
    c_s: float
    interval_s: float
    switch: float
    up: float
    down: float


def switch_point(figures: SegmentFigures, arrival_per_s: float, delta: float) -> SwitchPoint:
    """L_switch = K·(V·T) + C·PD, L_up = (1+δ)·L_switch, L_down = (1−δ)·L_switch (Equations 6 and 7)."""
    if not 0 < delta < 1:
        raise UserError(f"delta is between 0 and 1, not {delta:g}", "Write it like delta=0.2")
    interval_s, c_s = figures.interval_at(arrival_per_s), figures.c_at(arrival_per_s)
    # Where micro-batches are faster even when nothing waits C is negative, and any queue is long enough.
    at = max(0.0, figures.k * arrival_per_s * interval_s + c_s * figures.data_per_s)
    return SwitchPoint(figures.k, c_s, interval_s, at, (1 + delta) * at, (1 - delta) * at)


def assumed_figures() -> SegmentFigures:
    """What is assumed of a segment before anything was measured: first sights of word count on two cores.

    Only the order of magnitude matters: the first burst replaces PD within a second, the first batches the rest.
    """
    data_per_s = 20_000.0
    return SegmentFigures(data_per_s, data_per_s / ASSUMED_K, 0.3, 0.1, 0.008)
