"""Decisions as lines, and ticks as a table."""

from __future__ import annotations

import pytest

from streamgauge.model.errors import StoreError
from streamgauge.paradigms.decisions import from_lines, to_lines
from streamgauge.paradigms.simulation import simulate_adaptive
from streamgauge.paradigms.ticks import SCHEMA, ticks_table
from tests.paradigms.worlds import steps, world

FOUND = simulate_adaptive(*steps((5, 500), (5, 80_000), (10, 500)), [world()], keep_ticks=True)


def test_decisions_survive_lines() -> None:
    assert len(FOUND.decisions) == 2
    assert tuple(from_lines(to_lines(FOUND.decisions))) == FOUND.decisions
    assert list(from_lines("")) == []


def test_a_line_that_was_cut_off_at_the_end_is_left_out() -> None:
    text = to_lines(FOUND.decisions)
    assert tuple(from_lines(text[:-40])) == FOUND.decisions[:1]


def test_damage_in_the_middle_is_named() -> None:
    first, second = to_lines(FOUND.decisions).splitlines()
    with pytest.raises(StoreError, match="line 1"):
        list(from_lines(f"{first[:-9]}\n{second}\n"))
    with pytest.raises(StoreError, match="cannot be read"):
        list(from_lines(second.replace('"data stream"', '"dta stream"') + "\n"))


def test_ticks_are_a_table() -> None:
    table = ticks_table(FOUND.ticks)
    assert table.schema == SCHEMA
    assert table.num_rows == len(FOUND.ticks) > 190
    assert set(table.column("switching").to_pylist()) == {True, False}
    assert ticks_table([]).num_rows == 0
