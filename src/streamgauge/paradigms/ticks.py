"""What the scheduler saw at every tick, as a table that a report draws from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

import pyarrow as pa

from streamgauge.paradigms.equations import SwitchPoint

if TYPE_CHECKING:
    from streamgauge.paradigms.tracking import SegmentTracker

TICKS = "scheduler"
"""The name of the table in a stored trial."""
SCHEMA = pa.schema(
    [
        pa.field("at_ms", pa.float64(), nullable=False),
        *(pa.field(name, pa.string(), nullable=False) for name in ("segment", "paradigm")),
        pa.field("switching", pa.bool_(), nullable=False),
        *(
            pa.field(name, pa.float64(), nullable=False)
            for name in (
                "arrival_per_s",
                "queue",
                "age_s",
                "l_up",
                "l_down",
                "data_per_s",
                "operation_per_s",
                "k",
                "c_s",
            )
        ),
    ]
)


@dataclass(frozen=True)
class Tick:
    """One segment at one tick."""

    at_ms: float
    segment: str
    paradigm: str
    switching: bool
    arrival_per_s: float
    queue: float
    age_s: float
    l_up: float
    l_down: float
    data_per_s: float
    operation_per_s: float
    k: float
    c_s: float

    @classmethod
    def of(cls, at_s: float, tracker: SegmentTracker, point: SwitchPoint) -> Tick:
        """What a tracker and its switch point say at that moment."""
        assert tracker.seen is not None
        return cls(
            at_ms=at_s * 1000,
            segment=tracker.name,
            paradigm=tracker.paradigm.value,
            switching=tracker.switching,
            arrival_per_s=tracker.arrival.fast_per_s,
            queue=tracker.seen.length,
            age_s=tracker.seen.age_s,
            l_up=point.up,
            l_down=point.down,
            data_per_s=tracker.figures.data_per_s,
            operation_per_s=tracker.figures.operation_per_s,
            k=point.k,
            c_s=point.c_s,
        )


def ticks_table(ticks: Sequence[Tick]) -> pa.Table:
    """Ticks as they are stored with a trial."""
    assert tuple(field.name for field in fields(Tick)) == tuple(SCHEMA.names)
    columns = zip(*map(astuple, ticks), strict=True) if ticks else [[] for _ in SCHEMA.names]
    return pa.table(dict(zip(SCHEMA.names, map(list, columns), strict=True)), schema=SCHEMA)
