"""What a tracker makes of sights that mislead: outputs of a burst that is over, of which one look shows hundreds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from streamgauge.paradigms.actuator import SegmentSeen
from streamgauge.paradigms.equations import SegmentFigures
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.queue import OriginSeen
from streamgauge.paradigms.smoothing import BatchSeen
from streamgauge.paradigms.tracking import Known, SegmentTracker

PD = 40_000
FIGURES = SegmentFigures(PD, 200_000, 0.02, 0.06, 0.002)
FIRST_S = 1_000.0


def seen(end: int, tail: Iterable[OriginSeen] = (), answered: int | None = None) -> SegmentSeen:
    """A look at one partition, of which outputs say that all, or so many, are answered."""
    outputs = end if answered is None else answered
    return SegmentSeen(Paradigm.DATA_STREAM, {0: end}, tuple(tail), outputs, {0: outputs})


def answers(end: int, latency_ms: int, at_s: float, many: int = 200) -> list[OriginSeen]:
    """The newest outputs: all of them this late."""
    now_ms = round(at_s * 1000)
    return [OriginSeen(now_ms - latency_ms, 0, end - many + n, now_ms) for n in range(many)]


def test_what_a_burst_left_in_the_tail_is_not_the_latency_without_a_queue() -> None:
    tracker, end = SegmentTracker(Known("count", FIGURES, measured=True)), 1_000
    for look in range(400):
        at_s = FIRST_S + look / 10
        bursting = look % 100 == 50
        end += 20_000 if bursting else 50
        if bursting:
            tracker.look(at_s, seen(end, answered=end - 20_000))
            continue
        # The first look behind a burst finds the queue empty, and a tail of outputs that waited in it.
        late_ms = 140 if look % 100 in range(51, 57) else 3
        tracker.look(at_s, seen(end, answers(end, late_ms, at_s) if look % 5 == 1 else ()))
        assert tracker.figures.data_transfer_s <= 0.003
    assert tracker.figures.data_transfer_s == pytest.approx(0.003)


def test_one_look_counts_once_however_many_outputs_it_shows() -> None:
    tracker, end = SegmentTracker(Known("count", FIGURES, measured=True)), 1_000
    for look in range(60):
        at_s = FIRST_S + look
        end += 500
        late_ms, many = (90, 400) if look == 58 else (3, 10)
        tracker.look(at_s, seen(end, answers(end, late_ms, at_s, many)))
    assert tracker.figures.data_transfer_s == pytest.approx(0.003)


def test_a_faster_data_stream_has_faster_batches_up_to_what_is_assumed_of_them() -> None:
    def operation_per_s(known_pd: float, known_po: float, worked_s: float = 1.0) -> float:
        figures = SegmentFigures(known_pd, known_po, 0.02, 0.06, 0.002)
        known = Known("count", figures, measured=True, worked_s=dict.fromkeys(Paradigm, worked_s))
        tracker, end = SegmentTracker(known), 1_000
        for look in range(40):
            end += PD // 10
            tracker.look(FIRST_S + look / 10, seen(end))
        assert tracker.figures.data_per_s == pytest.approx(PD, rel=0.05), "what it carried with nothing waiting"
        return tracker.figures.operation_per_s

    assert operation_per_s(PD / 4, PD / 2) == pytest.approx(2 * PD, rel=0.05)
    assert operation_per_s(PD / 4, 4 * PD) == pytest.approx(5 * PD, rel=0.05)
    assert operation_per_s(PD / 4, 8 * PD) == 8 * PD
    # 10 s of batches showed 370,000/s, real time then grew by half, and 570,000/s were reckoned with: 300,000 came.
    assert operation_per_s(PD / 4, PD / 2, worked_s=10.0) == PD / 2


def test_how_long_each_paradigm_was_at_work_is_kept() -> None:
    tracker, end = SegmentTracker(Known("count", FIGURES)), 1_000
    assert tracker.young(Paradigm.DATA_STREAM)
    for look in range(70):
        end += 10_000
        at_s = FIRST_S + look / 10
        tracker.look(at_s, seen(end, answered=1_000 + 4_000 * look))
    assert tracker.worked_s == pytest.approx({Paradigm.DATA_STREAM: 6.8, Paradigm.OPERATION_STREAM: 0.0}, abs=0.3)
    assert not tracker.young(Paradigm.DATA_STREAM) and tracker.young(Paradigm.OPERATION_STREAM)
    large, small = BatchSeen(50_000, 0.3, 0.02), BatchSeen(50, 0.1, 0.02)
    batches = replace(seen(end), paradigm=Paradigm.OPERATION_STREAM, batches=(large, small))
    tracker.told_to_switch(FIRST_S + 7, Paradigm.OPERATION_STREAM, None)
    tracker.look(FIRST_S + 8, batches)
    assert tracker.worked_s[Paradigm.OPERATION_STREAM] == pytest.approx(0.3), "a small one is no work"
