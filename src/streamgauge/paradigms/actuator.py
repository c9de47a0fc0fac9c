"""What the scheduler needs of whoever runs the queries: sights of the segments, and switches carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from streamgauge.paradigms.paradigm import How, Paradigm
from streamgauge.paradigms.queue import OriginSeen
from streamgauge.paradigms.smoothing import BatchSeen


@dataclass(frozen=True)
class SegmentSeen:
    """One segment at one moment; what is not known is left at its default."""

    paradigm: Paradigm
    """Of the query that runs or, while it is switching, that is being started."""
    ends: Mapping[int, int]
    """End offset of every partition of its input."""
    tail: tuple[OriginSeen, ...] = ()
    """Origins of the newest outputs since the last look: the bounded tail."""
    outputs: int | None = None
    """Records in its output so far."""
    consumed: Mapping[int, int] | None = None
    """Position of every partition where the engine itself tells it, such as at the end of a micro-batch."""
    batches: tuple[BatchSeen, ...] = ()
    """Micro-batches that ended since the last look."""
    switching: bool = False
    """From the order to switch until the new query reads its input."""
    warm: bool = True
    """Whether a standby of the other paradigm is ready, so that a switch does not begin cold."""
    since_boundary_s: float = 0.0
    """Since the last boundary of the query's batches: what a replay would repeat."""
    to_boundary_s: float = 0.0
    """Expected time to the next one: how long a drain would take."""
    in_batch: int = 0
    """Records of the running micro-batch that no output has answered: what a replay repeats is not among them."""
    can_replay: bool = True
    """Whether it may be stopped within a batch."""


@dataclass(frozen=True)
class Observation:
    """All segments at one moment, in seconds since the epoch; in the order of the chain."""

    at_s: float
    segments: Mapping[str, SegmentSeen] = field(default_factory=dict)


@dataclass(frozen=True)
class Order:
    """A switch to be carried out: which segment, to what, how, and the bound of its micro-batches."""

    segment: str
    paradigm: Paradigm
    how: How
    max_records_per_batch: int | None = None
    """`maxOffsetsPerTrigger` of the new query; None for the data stream."""


class Actuator(Protocol):
    """Runs the segments' queries; all calls return soon, and a switch shows as `switching` until it is done."""

    def observe(self) -> Observation:
        """What can be seen now."""
        ...

    def prepare(self, order: Order) -> None:
        """Build what such an order would start, beside the running query; it may never come."""
        ...

    def switch(self, order: Order) -> None:
        """Begin a switch: prepare, leave the old query as told, start the new one on the same checkpoint."""
        ...
