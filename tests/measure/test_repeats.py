"""The interval over repeats, and the quantile that it stands on."""

import math

import pytest

from streamgauge.measure.repeats import t95, t_interval

TEXTBOOK = {1: 12.7062, 1.5: 6.0167, 2: 4.30265, 3: 3.18245, 4: 2.77645, 8: 2.30600, 30: 2.04227, 120: 1.97993}


@pytest.mark.parametrize("degrees", TEXTBOOK)
def test_the_quantile_of_t_is_that_of_the_tables(degrees) -> None:
    assert t95(degrees) == pytest.approx(TEXTBOOK[degrees], rel=1e-4)


def test_the_quantile_falls_towards_the_normal_one() -> None:
    found = [t95(1 + step / 4) for step in range(40)]
    assert found == sorted(found, reverse=True)
    assert t95(5000) == pytest.approx(1.96, abs=2e-3)


def test_the_t_interval_is_the_textbook_one() -> None:
    interval = t_interval([10.0, 12.0, 14.0])
    assert interval.mean == 12
    assert interval.half == pytest.approx(4.30265 * 2 / math.sqrt(3), rel=1e-5)
    assert t_interval([5.0]).half is None
    assert t_interval([1.0, 2.0] * 16).half == pytest.approx(2.0395 * math.sqrt(8 / 31) / math.sqrt(32), rel=1e-3)
