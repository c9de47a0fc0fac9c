"""The change of a figure: its interval and its verdict."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.measure.comparison import NO_DIFFERENCE, Repeats, compare
from streamgauge.measure.figures import get_figure

VALUES = st.lists(st.integers(1, 100_000), min_size=2, max_size=6)
NEAR = st.lists(st.integers(100, 1000), min_size=2, max_size=6)


def repeats(name: str, values: list[float]) -> Repeats:
    """Repeats with that figure and no other."""
    path = get_figure(name).path

    def record(value: float) -> dict:
        made: object = value
        for step in reversed(path):
            made = {step: made}
        return made  # type: ignore[return-value]

    return Repeats(tuple(record(value) for value in values))


def change(name: str, before: list[float], after: list[float]):
    return compare(get_figure(name), repeats(name, before), repeats(name, after))


@pytest.mark.parametrize(
    ("name", "before", "after", "verdict", "word"),
    [
        ("p50", [480, 470, 490], [580, 590, 570], "worse", "slower"),
        ("p50", [580, 590, 570], [480, 470, 490], "better", "faster"),
        ("p50", [480, 470, 490], [490, 475, 480], NO_DIFFERENCE, NO_DIFFERENCE),
        ("p50", [400, 600], [500, 700], NO_DIFFERENCE, NO_DIFFERENCE),
        ("events_per_s", [1000, 1010, 990], [1200, 1210, 1190], "better", "faster"),
        ("events_per_s", [1200, 1210, 1190], [1000, 1010, 990], "worse", "slower"),
        ("cpu", [0.5, 0.51, 0.49], [0.7, 0.71, 0.69], "worse", "more"),
        ("rss_bytes_max", [9e8, 9.1e8, 8.9e8], [7e8, 7.1e8, 6.9e8], "better", "less"),
    ],
)
def test_verdicts_fit_the_figure(name, before, after, verdict, word) -> None:
    found = change(name, before, after)
    assert (found.verdict, found.word, found.basis) == (verdict, word, "repeats")


def test_the_interval_is_welchs_on_logarithms() -> None:
    before, after = [100.0, 110.0, 105.0], [130.0, 120.0]
    found = change("cpu", before, after)
    a, b = np.log(before), np.log(after)
    parts = a.var(ddof=1) / 3, b.var(ddof=1) / 2
    degrees = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 1)
    assert degrees == pytest.approx(1.9509, abs=1e-3)
    half = 4.4081 * math.sqrt(sum(parts))
    assert found.percent == pytest.approx((math.exp(b.mean() - a.mean()) - 1) * 100)
    assert found.low_percent == pytest.approx((math.exp(b.mean() - a.mean() - half) - 1) * 100, abs=0.05)
    assert found.high_percent == pytest.approx((math.exp(b.mean() - a.mean() + half) - 1) * 100, abs=0.05)


def test_a_millisecond_is_not_told_from_the_next_but_from_the_one_after() -> None:
    assert change("p50", [5] * 5, [6] * 5).verdict == NO_DIFFERENCE
    assert change("p50", [0] * 5, [1] * 5).verdict == NO_DIFFERENCE
    assert change("p50", [5] * 5, [7] * 5).verdict == "worse"
    found = change("p50", [0] * 5, [300] * 5)
    assert (found.verdict, found.high_percent) == ("worse", math.inf)
    assert found.as_dict()["high_percent"] is None


def test_one_repeat_without_samples_has_no_interval() -> None:
    found = change("cpu", [0.5], [0.9, 0.91, 0.92])
    assert (found.verdict, found.note, found.basis) == (NO_DIFFERENCE, "no interval: one repeat", None)
    assert found.percent == pytest.approx(82, abs=0.1)
    assert found.low_percent is None


def test_a_figure_that_is_missing_or_zero_has_no_change() -> None:
    found = change("p99", [10, 10], [])
    assert (found.percent, found.verdict, found.note) == (None, NO_DIFFERENCE, "no trial")
    empty = Repeats(({"latency_ms": {"n": 500, "p99": None}},) * 2)
    found = compare(get_figure("p99"), empty, repeats("p99", [10, 11]))
    assert (found.percent, found.note) == (None, "a sample of 500 does not carry p99")
    assert change("cpu", [0.0, 0.5], [0.5, 0.5]).note == "no ratio: a value is 0"
    assert change("p5_events_per_s", [0.0, 0.0, 0.0], [400.0, 410.0, 405.0]).verdict == "better"


@given(before=VALUES, after=VALUES)
def test_the_interval_holds_the_change_and_the_verdict_follows_from_it(before, after) -> None:
    found = change("rss_bytes_max", before, after)
    assert found.low_percent <= found.percent + 1e-6
    assert found.percent <= found.high_percent + 1e-6
    outside = found.low_percent > 1e-6 or found.high_percent < -1e-6
    assert (found.verdict != NO_DIFFERENCE) == outside


@given(before=NEAR, after=NEAR, unit=st.sampled_from([1, 1000, 0.001]))
def test_the_unit_does_not_matter_and_the_other_way_round_is_the_inverse(before, after, unit) -> None:
    found = change("rss_bytes_max", before, after)
    scaled = change("rss_bytes_max", [v * unit for v in before], [v * unit for v in after])
    assert scaled.percent == pytest.approx(found.percent, rel=1e-6, abs=1e-6)
    back = change("rss_bytes_max", after, before)
    assert (1 + back.percent / 100) * (1 + found.percent / 100) == pytest.approx(1)
    assert (1 + back.low_percent / 100) * (1 + found.high_percent / 100) == pytest.approx(1, rel=1e-6)
    opposite = {"better": "worse", "worse": "better", NO_DIFFERENCE: NO_DIFFERENCE}
    assert back.verdict == opposite[found.verdict]


@given(values=VALUES)
def test_what_is_compared_with_itself_does_not_differ(values) -> None:
    assert change("p50", values, values).verdict == NO_DIFFERENCE
    assert change("cpu", values, values).percent == pytest.approx(0, abs=1e-9)


def share_shown(n: int, slower: float = 1.0, noise: float = 0.03, pairs: int = 1000) -> float:
    """The share of seeded pairs of n repeats whose difference is shown."""
    rng = np.random.default_rng(20)
    drawn = 1e6 * np.exp(rng.normal(0, noise, (pairs, 2, n)))
    drawn[:, 1] *= slower
    found = [change("rss_bytes_max", list(before), list(after)).verdict for before, after in drawn]
    return sum(verdict != NO_DIFFERENCE for verdict in found) / pairs


@pytest.mark.parametrize("n", [2, 3, 5])
def test_repeats_that_are_alike_are_told_apart_in_no_more_than_five_of_a_hundred(n) -> None:
    assert share_shown(n) <= (0.07 if n == 5 else 0.05)


def test_a_bootstrap_over_repeats_would_tell_them_apart_twice_as_often_as_it_says() -> None:
    rng = np.random.default_rng(20)
    one, other = rng.normal(0, 0.03, (2, 400, 5))
    drawn = rng.integers(0, 5, (2, 300, 5))
    differences = other[:, drawn[1]].mean(axis=2) - one[:, drawn[0]].mean(axis=2)
    low, high = np.quantile(differences, [0.025, 0.975], axis=1)
    assert ((low > 0) | (high < 0)).mean() >= 0.1


def test_a_fifth_slower_under_three_percent_noise_is_found() -> None:
    assert share_shown(5, slower=1.2, pairs=300) >= 0.95
    assert share_shown(3, slower=1.2, pairs=300) >= 0.95


def test_milliseconds_of_repeats_that_are_alike_are_not_told_apart_either() -> None:
    rng = np.random.default_rng(4)
    drawn = np.round(6 * np.exp(rng.normal(0, 0.05, (300, 2, 5))))
    found = [change("p50", list(before), list(after)).verdict for before, after in drawn]
    assert sum(verdict != NO_DIFFERENCE for verdict in found) / 300 <= 0.05
