"""The paper's equations against cases worked by hand."""

from __future__ import annotations

import pytest

from streamgauge.model.errors import UserError
from streamgauge.paradigms.equations import SegmentFigures, switch_point

FIXED_T = SegmentFigures(
    data_per_s=1000,
    operation_per_s=5000,
    schedule_s=0.1,
    operation_transfer_s=0.05,
    data_transfer_s=0.01,
    interval_s=1.0,
)


def test_the_switch_point_by_hand() -> None:
    point = switch_point(FIXED_T, 2000, 0.2)
    # K = 1000/5000; T: 0.15/(1-0.4) = 0.25 < 1, so 1 s; C = 0.5+0.1+0.05-0.01; L = 0.2*2000 + 0.64*1000.
    assert point.k == pytest.approx(0.2)
    assert point.interval_s == pytest.approx(1.0)
    assert point.c_s == pytest.approx(0.64)
    assert point.switch == pytest.approx(1040)
    assert (point.up, point.down) == (pytest.approx(1248), pytest.approx(832))


def test_latencies_are_equal_at_the_switch_point() -> None:
    for rate in (100, 2000, 3900):
        point = switch_point(FIXED_T, rate, 0.5)
        assert FIXED_T.data_latency_s(point.switch) == pytest.approx(FIXED_T.operation_latency_s(rate))


def test_back_to_back_batches_lengthen_with_the_rate_and_then_are_bounded() -> None:
    figures = SegmentFigures(1000, 5000, 0.3, 0.1, 0.01)
    assert figures.interval_at(0) == pytest.approx(0.4)
    assert figures.interval_at(2500) == pytest.approx(0.8)
    # In 0.8 s 2,000 records arrive, which take 0.4 s and the fixed 0.4 s.
    assert figures.operation_latency_s(2500) == pytest.approx(0.4 + 0.4 + 0.4)
    assert figures.interval_at(50_000) == figures.interval_at(4000) == pytest.approx(2.0)


def test_a_switch_point_is_never_negative() -> None:
    slow_stream = SegmentFigures(1000, 5000, 0.01, 0.0, 0.5)
    assert switch_point(slow_stream, 10, 0.2).switch == 0


@pytest.mark.parametrize("delta", [0, 1, -0.1])
def test_delta_lies_between_0_and_1(delta: float) -> None:
    with pytest.raises(UserError, match="delta"):
        switch_point(FIXED_T, 10, delta)


def test_impossible_figures_are_refused() -> None:
    with pytest.raises(UserError, match="speeds"):
        SegmentFigures(0, 1, 0, 0, 0)
    with pytest.raises(UserError, match="times"):
        SegmentFigures(1, 1, -1, 0, 0)


def test_figures_survive_json() -> None:
    assert SegmentFigures.from_dict(FIXED_T.as_dict()) == FIXED_T
