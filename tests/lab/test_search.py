"""The search on simulated engines: exact ones, ones that waver near their edge, and publishers that fall behind."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.lab.search import SearchRange, rounded, search
from streamgauge.measure.sustainability import ProbeOutcome, Says
from streamgauge.model import UserError


def engine(
    capacity: float, publisher: float = float("inf"), waver: float = 0.0, seed: int = 0
) -> Callable[[float], Any]:
    """Holds up to its capacity; within `waver` of it a coin decides. Beyond what is published it says nothing."""
    coin = random.Random(seed)

    def probe(rate: float) -> ProbeOutcome:
        says: Says = "holds" if rate <= capacity else "breaks"
        if waver and abs(rate / capacity - 1) <= waver:
            says = coin.choice(("holds", "breaks"))
        return ProbeOutcome(rate, "nothing" if rate > publisher else says)

    return probe


RATES = st.floats(2, 2_000_000)


@given(capacity=RATES, start=RATES, tolerance=st.floats(0.01, 1))
def test_an_exact_engine_is_found_within_the_tolerance(capacity: float, start: float, tolerance: float) -> None:
    found = search(engine(capacity), SearchRange(start, min(1.0, start), tolerance=tolerance, most_probes=80))
    assert found.rate_per_s is not None and found.above_per_s is not None
    assert found.rate_per_s <= capacity < found.above_per_s
    assert found.above_per_s / found.rate_per_s <= 1 + tolerance + 0.011, "rates have three digits"
    assert (found.limit, found.confirmed) == ("engine", True)


@given(capacity=RATES, publisher=RATES, start=RATES, seed=st.integers(0, 99))
def test_a_rate_at_which_the_publisher_fell_behind_is_never_the_result(
    capacity: float, publisher: float, start: float, seed: int
) -> None:
    found = search(engine(capacity, publisher, 0.2, seed), SearchRange(start, min(1.0, start), most_probes=80))
    behind = {probe.rate_per_s for probe in found.probes if probe.says == "nothing"}
    assert found.rate_per_s not in behind
    assert found.rate_per_s is None or found.rate_per_s <= publisher
    if found.limit == "publisher":
        assert found.above_per_s in behind


@given(capacity=st.floats(50, 1_000_000), waver=st.floats(0, 0.3), seed=st.integers(0, 1_000))
@settings(max_examples=200)
def test_an_engine_that_wavers_is_found_within_its_own_wavering(capacity: float, waver: float, seed: int) -> None:
    found = search(engine(capacity, waver=waver, seed=seed), SearchRange(1_000, 1.0, most_probes=200))
    assert found.rate_per_s is not None and found.confirmed
    assert capacity * (1 - waver) / 1.111 <= found.rate_per_s <= capacity * (1 + waver) * 1.01


@given(capacity=st.floats(10, 100_000), seed=st.integers(0, 500), repeats=st.integers(1, 5))
def test_both_sides_of_the_edge_are_decided_by_a_majority(capacity: float, seed: int, repeats: int) -> None:
    where = SearchRange(1_000, 1.0, repeats=repeats, most_probes=300)
    found = search(engine(capacity, waver=0.15, seed=seed), where)
    assert found.rate_per_s is not None and found.above_per_s is not None
    held, broke = (
        [probe.says for probe in found.probes if probe.rate_per_s == rate]
        for rate in (found.rate_per_s, found.above_per_s)
    )
    assert 2 * held.count("holds") > repeats and held.count("holds") > held.count("breaks")
    assert 2 * broke.count("breaks") > repeats


def test_rates_are_doubled_then_halved_between_then_repeated() -> None:
    found = search(engine(5_000), SearchRange(1_000, tolerance=0.2))
    assert [probe.rate_per_s for probe in found.probes] == [
        *(1_000, 2_000, 4_000, 8_000),
        *(5_660, 4_760),
        *(4_760, 5_660),
    ]
    assert (found.rate_per_s, found.above_per_s) == (4_760, 5_660)


def test_a_start_that_does_not_hold_is_halved() -> None:
    found = search(engine(300), SearchRange(10_000))
    assert [probe.rate_per_s for probe in found.probes][:6] == [10_000, 5_000, 2_500, 1_250, 625, 312]
    assert found.rate_per_s is not None and 270 <= found.rate_per_s <= 300


def test_one_bad_probe_far_below_the_edge_does_not_decide() -> None:
    told = iter(["breaks"])
    exact = engine(100_000)

    def hiccup(rate: float) -> ProbeOutcome:
        return ProbeOutcome(rate, next(told)) if rate == 4_000 and len(seen) < 3 else exact(rate)  # type: ignore[arg-type]

    seen: list[float] = []

    def probe(rate: float) -> ProbeOutcome:
        outcome = hiccup(rate)
        seen.append(rate)
        return outcome

    found = search(probe, SearchRange(1_000))
    assert found.rate_per_s is not None
    assert 90_000 < found.rate_per_s <= 100_000


def test_no_rate_at_all() -> None:
    found = search(engine(0.5), SearchRange(100, least_per_s=10))
    assert (found.rate_per_s, found.limit, found.confirmed) == (None, "nothing", False)
    assert found.why == "no rate held"


def test_a_highest_rate_that_holds_is_confirmed_and_is_the_end() -> None:
    found = search(engine(1e9), SearchRange(1_000, most_per_s=5_000))
    assert [probe.rate_per_s for probe in found.probes] == [1_000, 2_000, 4_000, 5_000, 5_000]
    assert (found.rate_per_s, found.above_per_s, found.limit, found.confirmed) == (5_000, None, "asked", True)


@given(capacity=st.floats(50, 1_000_000), start=RATES, paused=st.integers(1, 12))
def test_a_pause_of_the_machine_does_not_end_a_search(capacity: float, start: float, paused: int) -> None:
    holds, taken = engine(capacity), itertools.count(1)

    def probe(rate: float) -> ProbeOutcome:
        return ProbeOutcome(rate, "nothing") if next(taken) == paused else holds(rate)

    found = search(probe, SearchRange(start, min(1.0, start), most_probes=80))
    assert found.rate_per_s is not None and found.above_per_s is not None
    assert (found.limit, found.confirmed) == ("engine", True)
    assert found.rate_per_s <= capacity < found.above_per_s
    assert found.above_per_s / found.rate_per_s <= 1.1 + 0.011, "rates have three digits"


def test_a_publisher_that_falls_behind_is_the_limit_that_is_named() -> None:
    found = search(engine(1e9, publisher=30_000), SearchRange(1_000))
    assert found.limit == "publisher"
    assert "so the engine may hold more" in found.why
    assert found.rate_per_s is not None and 27_000 <= found.rate_per_s <= 30_000


def test_probes_that_are_used_up_are_said() -> None:
    found = search(engine(100_000), SearchRange(1_000, most_probes=5))
    assert (found.rate_per_s, found.limit, found.confirmed, len(found.probes)) == (16_000, "probes", False, 5)
    assert found.as_dict()["probes"][0] == {
        "rate_per_s": 1_000, "says": "holds", "reasons": [], "remarks": [], "figures": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"start_per_s": 0.0}, "cannot begin"),
        ({"start_per_s": 10.0, "most_per_s": 5.0}, "cannot begin"),
        ({"tolerance": 0.001}, "a tolerance of 0.001 is not between"),
        ({"repeats": 0}, "at least one probe"),
    ],
)
def test_a_range_that_cannot_be_searched_is_said(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        SearchRange(**change)


@pytest.mark.parametrize(("rate", "text"), [(1414.2, 1410.0), (0.014142, 0.0141), (1e6, 1e6), (99_960, 100_000)])
def test_rates_have_three_digits(rate: float, text: float) -> None:
    assert rounded(rate) == pytest.approx(text)
