"""Loads taken several times as long, and rates that are whole only by the minute."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.load import parse_load
from streamgauge.load.scaling import longer
from streamgauge.load.spelling import rate_text
from streamgauge.model.units import parse_rate_per_s


@pytest.mark.parametrize(
    ("load", "factor", "expected"),
    [
        ("burst:3000/s:5min:200/s", 0.1, "burst:3000/s:30s:200/s"),
        ("ramp:500/s-2000/s:30s", 2, "ramp:500/s-2000/s"),
        ("bursts:200/s:19000:10s", 0.1, "bursts:200/s:19000:10s"),
        ("steps:500/s:20s:9000/s:10s:500/s", 0.5, "steps:500/s:10s:9000/s:5s:500/s"),
        ("constant:500/s", 0.5, "constant:500/s"),
        ("preloaded", 3, "preloaded"),
    ],
)
def test_only_a_burst_a_ramp_or_steps_have_a_length_of_its_own(load: str, factor: float, expected: str) -> None:
    assert longer(parse_load(load), factor).spelling == parse_load(expected).spelling


def test_a_rate_by_the_minute_is_spelled_so() -> None:
    assert rate_text(parse_rate_per_s("10000/min")) == "10000/min"
    assert rate_text(parse_rate_per_s("600/min")) == "10/s"


@given(rate=st.floats(1e-6, 1e9))
def test_a_spelled_rate_is_the_same_number_again(rate: float) -> None:
    assert parse_rate_per_s(rate_text(rate)) == rate
