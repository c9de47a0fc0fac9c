"""Theil–Sen slopes and the Mann–Kendall test, on literal series and against what must always hold."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamgauge.measure.trend import MOST_POINTS, trend_of

NUMBERS = st.integers(-1_000, 1_000)
SERIES = st.lists(NUMBERS, min_size=5, max_size=40)


@given(values=SERIES)
def test_it_agrees_with_the_definition(values: list[int]) -> None:
    pairs = list(itertools.combinations(range(len(values)), 2))
    slopes = [(values[j] - values[i]) / (j - i) for i, j in pairs]
    s = sum((values[j] > values[i]) - (values[j] < values[i]) for i, j in pairs)
    found = trend_of(range(len(values)), values)
    assert found.slope == pytest.approx(float(np.median(slopes)))
    assert found.rise == pytest.approx(found.slope * (len(values) - 1))
    assert found.p_value is not None
    assert (found.p_value < 0.5) == (s > 1)
    assert found.level == np.median(values)


@given(values=SERIES, shift=NUMBERS, scale=st.integers(1, 50))
def test_a_shift_changes_nothing_and_a_factor_only_the_slope(values: list[int], shift: int, scale: int) -> None:
    times = np.arange(len(values))
    first = trend_of(times, values)
    other = trend_of(times + shift, [scale * value + shift for value in values])
    assert other.slope == pytest.approx(scale * first.slope)
    assert other.p_value == pytest.approx(first.p_value)


@given(values=st.lists(NUMBERS, min_size=5, max_size=40, unique=True))
def test_a_series_and_its_mirror_cannot_both_rise(values: list[int]) -> None:
    up, down = trend_of(range(len(values)), values), trend_of(range(len(values)), values[::-1])
    assert up.slope == pytest.approx(-down.slope)
    assert not (up.significant and down.significant)
    assert trend_of(range(len(values)), sorted(values)).significant


@example(slope=1.0, wild=[25, 26, 27, 28, 29])
@given(slope=st.floats(0.5, 100), wild=st.lists(st.integers(0, 29), max_size=5, unique=True))
def test_a_few_wild_points_move_neither_slope_nor_verdict(slope: float, wild: list[int]) -> None:
    values = slope * np.arange(30.0)
    values[wild] = -1e9
    found = trend_of(range(30), values)
    assert found.significant
    assert 0 < found.slope <= slope * 1.000001


def test_the_p_value_of_a_series_without_ties_is_the_textbooks() -> None:
    values = [1, 2, 4, 3, 6, 5, 8, 7, 10, 9]
    found = trend_of(range(10), values)
    z = (37 - 1) / math.sqrt(10 * 9 * 25 / 18)
    assert found.p_value == pytest.approx(0.5 * math.erfc(z / math.sqrt(2)))
    assert (found.slope, found.significant) == (1.0, True)


def test_ties_make_the_variance_smaller() -> None:
    values = [1, 1, 2, 2, 3, 3]
    z = (12 - 1) / math.sqrt((6 * 5 * 17 - 3 * 2 * 1 * 9) / 18)
    assert trend_of(range(6), values).p_value == pytest.approx(0.5 * math.erfc(z / math.sqrt(2)))


def test_noise_without_a_trend_is_seldom_significant() -> None:
    draws = np.random.default_rng(7).normal(100, 20, (400, 30))
    rate = np.mean([trend_of(range(30), series).significant for series in draws])
    assert 0.02 < rate < 0.08


def test_too_little_to_tell() -> None:
    assert trend_of([], []).points == 0
    assert trend_of([1], [5]).p_value is None
    assert not trend_of([1, 2, 3, 4], [1, 2, 3, 4]).significant
    assert trend_of(range(9), [4] * 9).p_value == 1.0
    assert trend_of(range(6), [1, 2, math.nan, 4, 5, 6]).points == 5


def test_a_long_series_is_shortened_and_keeps_its_slope() -> None:
    n = 200_000
    values = 3 * np.arange(n) + np.random.default_rng(1).normal(0, 5_000, n)
    found = trend_of(np.arange(n), values)
    assert found.points == MOST_POINTS
    assert found.slope == pytest.approx(3, rel=0.01)
