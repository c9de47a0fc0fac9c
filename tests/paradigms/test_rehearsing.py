"""Switching by the clock: there and back, drained and replayed, never two at once."""

from __future__ import annotations

from streamgauge.paradigms.actuator import Observation, SegmentSeen
from streamgauge.paradigms.paradigm import How, Paradigm
from streamgauge.paradigms.rehearsing import Rehearsal


def test_every_segment_goes_there_in_both_ways_and_back_drained() -> None:
    rehearsal = Rehearsal(["count"], every_s=1.0)
    paradigm, done, at_s = Paradigm.DATA_STREAM, [], 0.0
    ordered_at_s = None
    while len(done) < 8:
        at_s += 0.1
        # A switch takes 0.5 s to begin and 0.3 s to be done.
        waited_s = 9.0 if ordered_at_s is None else at_s - ordered_at_s
        if 0.5 <= waited_s < 0.6:
            paradigm = paradigm.other
        seen = SegmentSeen(paradigm, {0: 1}, switching=0.5 <= waited_s < 0.8)
        for order in rehearsal.tick(Observation(at_s, {"count": seen})):
            assert waited_s >= 1.7
            assert order.paradigm is paradigm.other
            assert (order.max_records_per_batch is not None) == (order.paradigm is Paradigm.OPERATION_STREAM)
            done.append(order.how)
            ordered_at_s = at_s
    assert done == [How.DRAIN, How.DRAIN, How.REPLAY, How.DRAIN] * 2
