"""Every kind of load keeps the contract: a pure function of elapsed time whose parts agree with each other."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.load import load_kinds, parse_load
from streamgauge.load.burst import BurstLoad
from streamgauge.load.bursts import BurstsLoad
from streamgauge.load.constant import ConstantLoad
from streamgauge.load.ramp import RampLoad
from streamgauge.load.steps import StepsLoad
from streamgauge.load.trace import TraceLoad
from streamgauge.load.warmed import WarmedLoad
from streamgauge.model.errors import UserError
from streamgauge.model.load import Load

unhurried = settings(deadline=None)

rates = st.floats(0.5, 1e6)
durations = st.floats(0.01, 600.0)


@st.composite
def _bursts(draw: st.DrawFn) -> BurstsLoad:
    period_s = draw(st.floats(0.5, 60.0))
    return BurstsLoad(draw(rates), draw(st.integers(1, 100_000)), period_s, period_s * draw(st.floats(0.01, 1.0)))


@st.composite
def _traces(draw: st.DrawFn) -> TraceLoad:
    gaps = draw(st.lists(st.floats(0.1, 30.0), min_size=0, max_size=6))
    steps = draw(st.lists(st.one_of(st.just(0.0), rates), min_size=len(gaps) + 1, max_size=len(gaps) + 1))
    steps[draw(st.integers(0, len(gaps)))] = draw(rates)
    return TraceLoad("some.csv", tuple(np.cumsum([0.0, *gaps]).tolist()), tuple(steps))


@st.composite
def _steps(draw: st.DrawFn) -> StepsLoad:
    lengths = draw(st.lists(durations, min_size=1, max_size=5))
    return StepsLoad(tuple(draw(rates) for _ in range(len(lengths) + 1)), tuple(lengths))


steady_loads = st.one_of(
    st.builds(ConstantLoad, rates), st.builds(RampLoad, rates, rates, durations), _bursts(), _steps()
)
loads = st.one_of(
    steady_loads,
    st.builds(BurstLoad, rates, durations, rates),
    _traces(),
    st.builds(WarmedLoad, durations, steady_loads),
)


@given(loads)
@unhurried
def test_spelling_parses_back_to_the_same_load(load: Load) -> None:
    if not isinstance(load, TraceLoad):
        assert parse_load(load.spelling) == load


@pytest.mark.parametrize(
    "text",
    [
        "preloaded",
        "constant:500/s",
        "ramp:500/s-20000/s",
        "ramp:500/s-20000/s:30s",
        "burst:6000/s:5s:400/s",
        "bursts:400/s:38000:10s",
        "bursts:400/s:38000:10s:90ms",
    ],
)
def test_plain_spellings_stay_as_they_were_written(text: str) -> None:
    assert parse_load(text).spelling == text


@given(loads, st.lists(st.floats(0, 300), min_size=2, max_size=20))
@unhurried
def test_events_by_never_falls(load: Load, moments_s: list[float]) -> None:
    counts = [load.events_by(moment_s) for moment_s in sorted(moments_s)]
    assert counts[0] >= 0 and all(a <= b + 1e-9 * max(a, 1) for a, b in pairwise(counts))


@given(loads, st.floats(0.0, 200.0))
@unhurried
def test_events_by_is_the_integral_of_the_rate(load: Load, begin_s: float) -> None:
    """Over a time shorter than any step the events lie between what the two rates at its ends would give."""
    end_s = begin_s + 1e-3
    around = [load.rate_per_s(begin_s), load.rate_per_s(end_s)]
    events = load.events_by(end_s) - load.events_by(begin_s)
    slack = 1e-12 * max(load.events_by(end_s), 1.0) + 1e-9 * max(around)
    assert min(around) * 1e-3 - slack <= events <= max(around) * 1e-3 + slack


def _peak_rate_per_s(load: Load) -> float:
    match load:
        case WarmedLoad():
            return _peak_rate_per_s(load.inner)
        case BurstsLoad():
            return load.base_rate_per_s + load.burst_events / load.width_s
        case TraceLoad():
            return max(load.rates_per_s)
        case RampLoad():
            return max(load.first_rate_per_s, load.last_rate_per_s)
        case BurstLoad():
            return max(load.burst_rate_per_s, load.steady_rate_per_s)
    return load.rate_per_s(0.0)


@given(loads, st.integers(0, 2_000_000))
@unhurried
def test_due_s_is_the_inverse_of_events_by(load: Load, first: int) -> None:
    index = np.arange(first, first + 500)
    due_s = load.due_s(index)
    assert np.all(np.diff(due_s) >= -1e-9 * np.maximum(due_s[1:], 1))
    counted = np.array([load.events_by(float(moment_s)) for moment_s in due_s])
    # The moment carries a rounding error, and each part of it is worth as many events as the highest rate says.
    tolerance = 1e-6 * np.maximum(index, 1) + 1e-12 * _peak_rate_per_s(load) * np.maximum(due_s, 1)
    assert np.all(np.abs(counted - index) <= tolerance)


@given(loads, st.integers(0, 100_000), st.lists(st.integers(1, 200), min_size=1, max_size=5))
@unhurried
def test_due_s_is_the_same_for_any_split_into_blocks(load: Load, first: int, sizes: list[int]) -> None:
    whole = load.due_s(np.arange(first, first + sum(sizes)))
    starts = np.cumsum([first, *sizes])
    parts = [load.due_s(np.arange(a, b)) for a, b in pairwise(starts)]
    assert np.array_equal(whole, np.concatenate(parts))


def test_preloaded_is_due_at_once_and_before_the_job() -> None:
    load = parse_load("preloaded")
    assert load.job_starts_at_s is None
    assert load.due_s(np.arange(3)).tolist() == [0, 0, 0]
    assert load.events_by(0) == math.inf


def test_a_start_up_burst_ends_when_the_job_starts() -> None:
    load = parse_load("burst:6000/s:5s:400/s")
    assert load.job_starts_at_s == 5
    assert load.events_by(5) == 30_000
    assert load.events_by(7) == 30_800


def test_periodic_bursts_come_on_top_of_the_base_rate() -> None:
    load = parse_load("bursts:400/s:38000:10s")
    assert load.job_starts_at_s == 0
    assert load.events_by(10) == 4000
    assert load.events_by(10.175) == pytest.approx(4070 + 38_000)
    assert load.events_by(20) == pytest.approx(8000 + 38_000)
    assert load.rate_per_s(20.1) > 200_000 and load.rate_per_s(20.2) == 400


def test_a_ramp_holds_its_last_rate() -> None:
    load = parse_load("ramp:100/s-300/s:10s")
    assert load.events_by(10) == 2000
    assert load.events_by(11) == 2300
    assert load.rate_per_s(5) == 200
    assert parse_load("ramp:100/s-300/s").rate_per_s(60) == 300


def test_a_trace_repeats_after_its_last_step(tmp_path: Path) -> None:
    file = tmp_path / "rates.csv"
    file.write_text("elapsed_s,rate_per_s\n0,100\n2,0\n5,50\n")
    load = parse_load(f"trace:{file}")
    assert load.spelling == f"trace:{file}" and parse_load(load.spelling) == load
    assert [load.rate_per_s(t) for t in (0, 1.9, 2, 5, 7.9, 8)] == [100, 100, 0, 50, 50, 100]
    assert load.events_by(8) == 200 + 150
    assert load.due_s(np.array([0, 199, 200, 201, 350])).tolist() == pytest.approx([0, 1.99, 2, 5.02, 8])


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("", "does not begin with"),
        ("a,b\n0,1\n", "does not begin with"),
        ("elapsed_s,rate_per_s\n", "has no rates"),
        ("elapsed_s,rate_per_s\n0,0\n5,0\n", "no rate above zero"),
        ("elapsed_s,rate_per_s\n1,5\n", "first moment is not 0"),
        ("elapsed_s,rate_per_s\n0,5\n0,6\n", "line 3"),
        ("elapsed_s,rate_per_s\n0,5\n1,x\n", "line 3"),
        ("elapsed_s,rate_per_s\n0,-5\n", "line 2"),
        ("elapsed_s,rate_per_s\n0,5,6\n", "line 2"),
        ("elapsed_s,rate_per_s\n0,nan\n", "line 2"),
    ],
)
def test_a_bad_trace_names_the_file_and_the_line(tmp_path: Path, content: str, cause: str) -> None:
    file = tmp_path / "rates.csv"
    file.write_text(content)
    with pytest.raises(UserError, match=cause) as raised:
        parse_load(f"trace:{file}")
    assert str(file) in raised.value.cause


@pytest.mark.parametrize(
    "text",
    [
        "constant",
        "constant:",
        "constant:0/s",
        "constant:fast",
        "constant:5/s:5s",
        "preloaded:3",
        "ramp:5/s",
        "ramp:0/s-5/s",
        "ramp:5/s-0/s",
        "ramp:5/s-6/s:0s",
        "burst:5/s:5s",
        "burst:5/s:0s:5/s",
        "bursts:5/s:0:10s",
        "bursts:5/s:10:1s:2s",
        "bursts:5/s:1.5:1s",
        "trace",
        "trace:/no/such/file.csv",
    ],
)
def test_a_bad_spelling_shows_the_right_one(text: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_load(text)
    assert f"load '{text}'" in raised.value.cause
    assert load_kinds()[text.partition(":")[0]].spelling in raised.value.way_out


def test_an_unknown_kind_gets_the_nearest_name() -> None:
    with pytest.raises(UserError, match="Did you mean 'constant'"):
        parse_load("constent:500/s")


def test_all_kinds_are_found() -> None:
    assert {"preloaded", "constant", "ramp", "burst", "bursts", "trace", "warmed"} <= set(load_kinds())


def test_the_bursts_of_steps_are_the_runs_above_their_first_rate() -> None:
    load = parse_load("steps:500/s:20s:60k/s:6s:40k/s:4s:500/s:30s:90k/s:5s:500/s")
    assert isinstance(load, StepsLoad)
    assert load.bursts_s() == [(20.0, 30.0), (60.0, 65.0)]
    assert load.events_by(30) == 500 * 20 + 60_000 * 6 + 40_000 * 4
    assert load.due_s(10_000 + 60_000) == 21.0


@pytest.mark.parametrize("text", ["steps:500/s", "steps:500/s:20s", "steps:500/s:20s:0/s", "steps:500/s:0s:1/s"])
def test_steps_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="steps:500/s:20s"):
        parse_load(text)
