"""How a trial varies within itself: blocks of its seconds, drawn again."""

import numpy as np
import pyarrow as pa
import pytest

from streamgauge.measure.comparison import NO_DIFFERENCE, Repeats, compare
from streamgauge.measure.figures import get_figure
from streamgauge.measure.quantiles import quantiles_of_table
from streamgauge.measure.resampling import MOST_SLOTS, _per_slot, log_spreads

PER_SECOND = 60


def counts_of(latencies: np.ndarray, kind: str = "event") -> pa.Table:
    """Latency counts of a trial whose row i holds the samples of second i."""
    seconds = np.repeat(np.arange(len(latencies)), latencies.shape[1])
    pairs = np.stack([seconds, np.round(latencies).astype(np.int64).ravel()])
    (second, value), count = np.unique(pairs, axis=1, return_counts=True)
    columns = {"kind": [kind] * len(count), "second": second.astype(np.int32), "latency_ms": value, "count": count}
    return pa.table(columns)


def trial(rng: np.random.Generator, seconds: int, median: float, together: float) -> Repeats:
    """One repeat whose seconds are slower and faster by 10 %, each sharing `together` of that with the one before."""
    level = np.zeros(seconds)
    shock = rng.normal(0, 0.1, seconds)
    level[0] = shock[0]
    for second in range(1, seconds):
        level[second] = together * level[second - 1] + np.sqrt(1 - together**2) * shock[second]
    counts = counts_of(median * np.exp(rng.normal(0, 0.35, (seconds, PER_SECOND)) + level[:, None]))
    return Repeats(({"latency_ms": quantiles_of_table(counts, "latency_ms").as_dict()},), counts)


def shown(name: str, seconds: int, together: float, slower: float = 1.0, pairs: int = 50) -> float:
    """The share of pairs whose difference is shown."""
    rng = np.random.default_rng(7)
    figure = get_figure(name)
    found = [
        compare(figure, trial(rng, seconds, 100, together), trial(rng, seconds, 100 * slower, together)).verdict
        for _ in range(pairs)
    ]
    return sum(verdict != NO_DIFFERENCE for verdict in found) / pairs


@pytest.mark.parametrize(("name", "seconds"), [("p50", 15), ("p95", 20), ("mean", 10)])
def test_trials_that_are_alike_are_seldom_told_apart(name, seconds) -> None:
    assert shown(name, seconds, together=0.4) <= 0.1


def test_a_trial_that_is_half_slower_is_found() -> None:
    assert shown("p50", 20, together=0.4, slower=1.5, pairs=30) >= 0.95


def test_the_same_counts_give_the_same_spread() -> None:
    counts = trial(np.random.default_rng(3), 20, 300, 0.4).counts
    assert log_spreads(counts, "event") == log_spreads(counts, "event")


def test_the_spread_of_independent_seconds_is_that_of_the_theory() -> None:
    levels = np.random.default_rng(5).normal(0, 0.1, 100)
    constant = counts_of(np.repeat(10_000 * np.exp(levels)[:, None], 20, axis=1))
    spread = log_spreads(constant, "event")["mean"]
    assert spread.variance == pytest.approx(0.01 / 100, rel=0.35)
    assert spread.degrees == pytest.approx(100 / 5 - 1)


def test_what_does_not_vary_has_no_spread_and_what_is_short_none_at_all() -> None:
    same = np.full((12, 20), 5)
    assert log_spreads(counts_of(same), "event")["p50"].variance == pytest.approx(0)
    assert log_spreads(counts_of(same[:9]), "event") == {}
    assert log_spreads(counts_of(same), "output") == {}


def test_only_percentiles_that_the_sample_carries_are_resampled() -> None:
    assert set(log_spreads(counts_of(np.full((12, 20), 5)), "event")) == {"mean", "p50", "p95"}


def test_seconds_without_a_sample_count_as_time_that_passed() -> None:
    sparse = pa.table({"kind": ["event"] * 3, "second": [0, 10, 19], "latency_ms": [5, 6, 7], "count": [1, 1, 1]})
    values, slots = _per_slot(sparse)
    assert (values.tolist(), slots.shape) == ([5, 6, 7], (20, 3))
    assert np.isfinite(log_spreads(sparse, "event")["p50"].variance)


def test_a_long_trial_is_cut_into_wider_slots_and_loses_nothing() -> None:
    seconds = 1000
    long = pa.table(
        {"kind": ["event"] * seconds, "second": range(seconds), "latency_ms": [5, 6] * 500, "count": [3] * seconds}
    )
    _, slots = _per_slot(long)
    assert len(slots) <= MOST_SLOTS
    assert slots.sum() == 3 * seconds
    assert slots.sum(axis=1).min() >= 3 * 9
