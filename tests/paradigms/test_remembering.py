"""A later query of the same segments begins with what an earlier one measured, where it measured both paradigms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from streamgauge.paradigms import remembering
from streamgauge.paradigms.equations import SegmentFigures, assumed_figures
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.scheduler import Scheduler
from streamgauge.paradigms.simulation import simulate, simulate_adaptive
from streamgauge.paradigms.tracking import Known
from tests.paradigms.worlds import WORD_COUNT, steps, world

ME = ("wordcount", "[]")


@pytest.fixture(autouse=True)
def a_new_process() -> Iterator[None]:
    remembering.forget()
    yield
    remembering.forget()


def after(load: tuple, figures: SegmentFigures = WORD_COUNT, **changes: float) -> Scheduler:
    scheduler = Scheduler([Known("count", assumed_figures())])
    simulate(*load, [world(figures, **changes)], scheduler)
    return scheduler


def test_figures_of_both_paradigms_are_remembered() -> None:
    told = after(steps((10, 500), (10, 2 * WORD_COUNT.data_per_s), (10, 500)))
    remembering.remember(ME, told.trackers.values())
    (known,) = remembering.remembered(ME, [Known("count", assumed_figures(), pinned=Paradigm.DATA_STREAM)])
    assert known.measured and known.pinned is Paradigm.DATA_STREAM
    assert known.figures.data_per_s == pytest.approx(WORD_COUNT.data_per_s, rel=0.1)
    assert known.figures.operation_per_s == pytest.approx(WORD_COUNT.operation_per_s, rel=0.2)


def test_what_a_switch_took_is_remembered() -> None:
    told = after(steps((10, 500), (10, 2 * WORD_COUNT.data_per_s), (10, 500)), to_data_s=1.2, to_operation_s=0.9)
    remembering.remember(ME, told.trackers.values())
    again = Scheduler(remembering.remembered(ME, [Known("count", assumed_figures())]))
    tracker = again.trackers["count"]
    assert tracker.gap_s(Paradigm.DATA_STREAM, warm=True) == pytest.approx(1.2, abs=0.3)
    assert tracker.gap_s(Paradigm.OPERATION_STREAM, warm=True) == pytest.approx(0.9, abs=0.3)
    remembering.remember(ME, again.trackers.values())
    (known,) = remembering.remembered(ME, [Known("count", assumed_figures())])
    assert known.gaps_s == tracker.measured_gaps_s, "a query in which nothing was switched forgets nothing"


def test_one_freak_among_the_switches_is_not_what_the_next_query_expects() -> None:
    burst, known = steps((10, 500), (10, 2 * WORD_COUNT.data_per_s), (10, 500)), [Known("count", assumed_figures())]
    for gap_s in (0.2, 0.2, 2.0):
        scheduler = Scheduler(remembering.remembered(ME, known))
        assert simulate(*burst, [world(to_data_s=gap_s)], scheduler).switches == 2
        remembering.remember(ME, scheduler.trackers.values())
    tracker = Scheduler(remembering.remembered(ME, known)).trackers["count"]
    assert tracker.gap_s(Paradigm.DATA_STREAM, warm=True) == pytest.approx(0.2, abs=0.15)


def test_a_data_stream_that_was_probably_measured_cold_is_measured_again_before_it_is_left() -> None:
    slow = replace(WORD_COUNT, data_per_s=0.04 * WORD_COUNT.operation_per_s)
    scheduler = Scheduler([Known("count", assumed_figures())])
    simulate(*steps((10, 500), (10, 2 * slow.data_per_s), (10, 500)), [world(slow)], scheduler)
    assert scheduler.trackers["count"].measured
    remembering.remember(ME, scheduler.trackers.values())
    (known,) = remembering.remembered(ME, [Known("count", assumed_figures())])
    assert known.figures.data_per_s == pytest.approx(slow.data_per_s, rel=0.1)
    again = Scheduler([known]).trackers["count"]
    assert not again.speed_known and again.figures == known.figures


def test_micro_batches_that_were_probably_measured_cold_are_tried_again() -> None:
    cold = replace(WORD_COUNT, operation_per_s=1.1 * WORD_COUNT.data_per_s)
    told = after(steps((10, 500), (10, 2 * WORD_COUNT.data_per_s), (10, 500)), figures=cold)
    assert told.trackers["count"].figures.k > remembering.MOST_K
    remembering.remember(ME, told.trackers.values())
    known = remembering.remembered(ME, [Known("count", assumed_figures())])
    found = simulate_adaptive(*steps((10, 500), (10, 2 * WORD_COUNT.data_per_s), (10, 500)), [world()], known=known)
    assert found.switches == 2


def test_what_was_measured_is_remembered_though_the_query_ended_in_doubt_of_its_data_stream() -> None:
    told = after(steps((10, 500), (10, 2 * WORD_COUNT.data_per_s), (10, 500)))
    told.trackers["count"].doubt_speed()
    assert not told.trackers["count"].speed_known
    remembering.remember(ME, told.trackers.values())
    (known,) = remembering.remembered(ME, [Known("count", assumed_figures())])
    again = Scheduler([known]).trackers["count"]
    assert again.speed_known and again.figures.fixed_s == pytest.approx(WORD_COUNT.fixed_s, rel=0.5)


def test_half_of_them_are_not() -> None:
    remembering.remember(ME, after(steps((30, 500))).trackers.values())
    assumed = Known("count", assumed_figures())
    assert remembering.remembered(ME, [assumed]) == [assumed]


def test_a_calibration_and_other_segments_are_left_alone() -> None:
    told = after(steps((10, 500), (10, 2 * WORD_COUNT.data_per_s), (10, 500)))
    remembering.remember(ME, told.trackers.values())
    calibrated, other = Known("count", WORD_COUNT, True), Known("split", assumed_figures())
    assert remembering.remembered(ME, [calibrated, other]) == [calibrated, other]
    assert remembering.remembered(("grep", "[]"), [Known("count", assumed_figures())])[0].measured is False
