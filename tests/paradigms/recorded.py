"""A calibration with recorded figures: the first sights of word count on two cores, warm and tuned."""

from __future__ import annotations

from streamgauge.paradigms.calibration import Calibration, MeasuredPoint, SegmentCalibration
from streamgauge.paradigms.equations import SegmentFigures
from streamgauge.paradigms.paradigm import Paradigm

DATA, OPERATION = Paradigm.DATA_STREAM, Paradigm.OPERATION_STREAM


def word_count() -> Calibration:
    """One segment of two stages, with the points that were measured at 500/s, 20,000/s and 60,000/s."""
    segment = SegmentCalibration(
        "count",
        {"split": 3.0, "count": 1.0},
        SegmentFigures(40_000, 210_000, 0.22, 0.05, 0.006),
        pause_s=0.3,
        pause_every_s=10.0,
    )
    points = (
        MeasuredPoint(DATA, 500, 30, 5, 40),
        MeasuredPoint(OPERATION, 500, 30, 500, 900),
        MeasuredPoint(DATA, 20_000, 30, 7),
        MeasuredPoint(OPERATION, 20_000, 30, 350),
        MeasuredPoint(DATA, 60_000, 10, 2600),
        MeasuredPoint(OPERATION, 60_000, 10, 700),
    )
    return Calibration("wordcount", (segment,), points, {"partitions": 2})
