"""A first query that is only starting is told from one that is slow."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from streamgauge.paradigms.starting import SHOWING_S, STARTING_S, Starting


def followed(answered: Sequence[float], clear: bool = False) -> Starting:
    """Looks every 100 ms."""
    starting = Starting()
    for number, each in enumerate(answered):
        starting.look(number / 10, each, clear)
    return starting


def test_one_that_has_answered_nothing_is_starting_until_its_time_is_over() -> None:
    looks = round(STARTING_S * 10)
    silent = followed([7.0] * looks, clear=True)
    assert not silent.going and not silent.caught_up
    late = followed([7.0] * (looks + 1))
    assert late.going and late.caught_up


def test_one_that_has_caught_up_is_going_at_once() -> None:
    assert followed([0, 0, 40], clear=True).caught_up


def test_one_that_goes_on_working_off_shows_what_it_carries_at_least() -> None:
    # 5,000 show at once: they were answered before, nobody saw when.
    looks = [0.0] * 8 + [5_000.0 + 100 * number for number in range(round(SHOWING_S * 10) + 1)]
    assert not followed(looks[:-1]).going
    shown = followed(looks)
    assert shown.going and not shown.caught_up
    assert shown.at_least_per_s == pytest.approx(1000)
