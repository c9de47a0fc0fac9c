"""Spellings of durations, rates, counts and sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.model.errors import UserError
from streamgauge.model.units import (
    duration,
    parse_count,
    parse_duration_s,
    parse_rate_per_s,
    parse_size_bytes,
    rate,
    size,
)

WHOLE = st.integers(0, 10**9)
DECIMAL = st.decimals(min_value=0, max_value=10**6, places=3).map(str)
SECONDS = {"ms": 0.001, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400}
SCALES = {"": 1, "k": 1000, "M": 10**6, "G": 10**9}
PER = {"s": 1, "min": 60, "m": 60, "h": 3600}
SPACE = st.sampled_from(["", " ", "  "])


@given(DECIMAL, st.sampled_from(list(SECONDS)), SPACE)
def test_a_duration_is_its_number_times_its_unit(number: str, unit: str, space: str) -> None:
    assert parse_duration_s(f"{space}{number}{space}{unit}{space}") == pytest.approx(float(number) * SECONDS[unit])


@given(DECIMAL, st.sampled_from(list(SCALES)), st.sampled_from(list(PER)), SPACE)
def test_a_rate_is_its_number_times_its_scale_by_its_unit(number: str, scale: str, unit: str, space: str) -> None:
    parsed = parse_rate_per_s(f"{number}{space}{scale}{space}/{space}{unit}")
    assert parsed == pytest.approx(float(number) * SCALES[scale] / PER[unit])


@given(WHOLE, st.sampled_from(list(SCALES)))
def test_a_count_is_exact(number: int, scale: str) -> None:
    assert parse_count(f"{number}{scale}") == number * SCALES[scale]
    assert parse_count(f"{number:_}{scale}") == number * SCALES[scale]


@given(st.integers(0, 999))
def test_printed_milliseconds_parse_back(milliseconds: int) -> None:
    assert parse_duration_s(duration(milliseconds / 1000)) == pytest.approx(milliseconds / 1000)


@given(st.integers(1, 59))
def test_printed_seconds_and_minutes_parse_back(number: int) -> None:
    assert parse_duration_s(duration(number)) == number
    assert parse_duration_s(duration(number * 60)) == number * 60


@given(st.integers(0, 999))
def test_a_printed_rate_parses_back(per_s: int) -> None:
    assert parse_rate_per_s(rate(per_s)) == per_s


@pytest.mark.parametrize("text", ["", "s", "5", "5 parsecs", "-5s", "5s 3", "1e3s", "5 S", "five s"])
def test_what_is_no_duration_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_duration_s(text)
    assert str(caught.value) == f"'{text}' is not a duration. Write it like 30s, 175ms, 5min or 2h"


@pytest.mark.parametrize("text", ["", "500", "/s", "500/d", "500 s", "-1/s", "5K/s", "500//s"])
def test_what_is_no_rate_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_rate_per_s(text)
    assert str(caught.value) == f"'{text}' is not a rate. Write it like 500/s, 20k/s or 1M/min"


@pytest.mark.parametrize("text", ["", "many", "-1", "3m", "5/s", "1,000"])
def test_what_is_no_count_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_count(text)
    assert str(caught.value) == f"'{text}' is not a number of events. Write it like 50000, 50k or 3M"


@pytest.mark.parametrize(
    ("text", "count_bytes"),
    [("4096", 4096), ("900MB", 9e8), ("1.5GiB", 1.5 * 2**30), ("12 kB", 12_000), ("7KiB", 7168), ("3B", 3)],
)
def test_a_size_is_its_number_times_its_unit(text: str, count_bytes: float) -> None:
    assert parse_size_bytes(text) == count_bytes


@pytest.mark.parametrize("text", ["", "GB", "5gb", "-1MB", "5MB/s", "1.2.3MB"])
def test_what_is_no_size_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_size_bytes(text)
    assert str(caught.value) == f"'{text}' is not a size. Write it like 900MB or 1.5GiB"


def test_half_an_event_is_refused() -> None:
    assert parse_count("1.5k") == 1500
    with pytest.raises(UserError, match=r"'1\.5' is not a whole number of events"):
        parse_count("1.5")


@pytest.mark.parametrize("parse", [parse_duration_s, parse_rate_per_s, parse_count])
@given(st.text(st.sampled_from("0123456789._kMGmsinhd/ -e"), max_size=10))
def test_any_text_is_a_value_or_the_users_mistake(parse: Callable[[str], float], text: str) -> None:
    try:
        assert parse(text) >= 0
    except UserError as mistake:
        assert mistake.way_out


@pytest.mark.parametrize(
    ("parse", "text"), [(parse_duration_s, "1.2.3s"), (parse_rate_per_s, "1.2.3/s"), (parse_count, "1.2.3")]
)
def test_a_number_with_two_points_is_the_users_mistake(parse: Callable[[str], float], text: str) -> None:
    with pytest.raises(UserError):
        parse(text)


@pytest.mark.parametrize(("text", "count"), [("1.005k", 1005), ("9007199254740993", 9007199254740993)])
def test_a_count_loses_nothing_to_rounding(text: str, count: int) -> None:
    assert parse_count(text) == count


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 ms"), (0.175, "175 ms"), (12.34, "12.3 s"), (60, "1 min"), (125, "2 min 5 s"), (7260, "2 h 1 min")],
)
def test_durations_as_printed(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count_bytes", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 20, "3.0 MiB"), (5 << 30, "5.0 GiB"), (2 << 40, "2.0 TiB")],
)
def test_sizes_as_printed(count_bytes: int, text: str) -> None:
    assert size(count_bytes) == text


@pytest.mark.parametrize(("per_s", "text"), [(0.5, "0.5/s"), (9.876, "9.88/s"), (20000, "20,000/s")])
def test_rates_as_printed(per_s: float, text: str) -> None:
    assert rate(per_s) == text
