"""A later query of the same segments begins with what an earlier one measured, where it measured both paradigms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from streamgauge.paradigms import remembering
from streamgauge.paradigms.equations import assumed_figures
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.scheduler import Scheduler
from streamgauge.paradigms.simulation import simulate
from streamgauge.paradigms.tracking import Known
from tests.paradigms.worlds import WORD_COUNT, steps, world

ME = ("wordcount", "[]")


@pytest.fixture(autouse=True)
def a_new_process() -> Iterator[None]:
    remembering.forget()
    yield
    remembering.forget()


def after(load: tuple) -> Scheduler:
    scheduler = Scheduler([Known("count", assumed_figures())])
    simulate(*load, [world()], scheduler)
    return scheduler


def test_figures_of_both_paradigms_are_remembered() -> None:
    told = after(steps((10, 500), (10, 2 * WORD_COUNT.data_per_s), (10, 500)))
    remembering.remember(ME, told.trackers.values())
    (known,) = remembering.remembered(ME, [Known("count", assumed_figures(), pinned=Paradigm.DATA_STREAM)])
    assert known.measured and known.pinned is Paradigm.DATA_STREAM
    assert known.figures.data_per_s == pytest.approx(WORD_COUNT.data_per_s, rel=0.1)
    assert known.figures.operation_per_s == pytest.approx(WORD_COUNT.operation_per_s, rel=0.2)


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
