"""A decision made by hand, for the tests that show decisions."""

from __future__ import annotations

from streamgauge.paradigms.decisions import Decision
from streamgauge.paradigms.paradigm import How, Paradigm

STARTED_S = 1_760_000_000.0


def decision(at_s: float, to: Paradigm = Paradigm.OPERATION_STREAM, how: How = How.REPLAY) -> Decision:
    """A switch of the second of two segments, so many seconds after the start."""
    return Decision(
        at_s=STARTED_S + at_s,
        segment="count",
        action="switch",
        paradigm=to.other,
        to=to,
        how=how,
        reason="a burst goes on",
        arrival_per_s=80_000,
        afterwards_per_s=500,
        queue=62_000,
        age_s=0.7,
        k=40 / 150,
        c_s=0.82,
        interval_s=0.85,
        l_switch=51_000,
        l_up=61_200,
        l_down=40_800,
        delta=0.2,
        data_per_s=40_000,
        operation_per_s=150_000,
        schedule_s=0.35,
        operation_transfer_s=0.05,
        data_transfer_s=0.005,
        magnifications=(3.0, 1.0),
        range=("count",),
        switched=("count",),
        cost_stay=32.7,
        cost_switch=7.3,
        burst_s=0.4,
        gap_s=0.4,
        max_records_per_batch=120_000 if to is Paradigm.OPERATION_STREAM else None,
    )
