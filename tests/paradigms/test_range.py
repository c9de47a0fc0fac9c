"""Ranges, cuts and pins."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.model.errors import UserError
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.range import choose_cuts, parse_pins, plan_segments, switch_range

PAPER = (8, 0.625, 1, 0.1)


def test_the_papers_example() -> None:
    assert list(switch_range(PAPER, 2)) == [2, 3, 4]


def test_nothing_stands_before_the_first_operation() -> None:
    # 1·8·0.625·1 = 5, and only ·0.1 falls below 1.
    assert list(switch_range(PAPER, 1)) == [1, 2, 3, 4]
    assert list(switch_range((0.3, 8, 1), 1)) == [1]


def test_without_a_fall_below_1_the_range_ends_with_the_chain() -> None:
    assert list(switch_range((3, 1, 1), 2)) == [2, 3]
    # Exactly 1 is not below 1.
    assert list(switch_range((4, 0.25, 0.9), 2)) == [2, 3]


def test_an_operation_that_is_not_there() -> None:
    with pytest.raises(ValueError):
        switch_range(PAPER, 5)


magnifications = st.lists(st.floats(0.01, 20), min_size=1, max_size=7)


@given(magnifications, st.data())
def test_the_range_is_the_shortest_that_falls_below_1(values: list[float], data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(values)))
    found = switch_range(values, first)
    before = values[first - 2] if first > 1 else 1.0
    products = [before * math.prod(values[first - 1 : last]) for last in range(first, len(values) + 1)]
    assert found[0] == first
    inside = products[: len(found) - 1]
    assert all(product >= 1 for product in inside)
    assert found[-1] == len(values) or products[len(found) - 1] < 1


def test_cuts_stand_before_and_behind_the_range() -> None:
    stages = dict(zip(["split", "filter", "key", "count", "store"], [*PAPER, 1.0], strict=True))
    assert choose_cuts(stages) == ("split", "count")
    assert choose_cuts(stages, allowed={"split"}) == ("split",)


@pytest.mark.parametrize(
    "stages",
    [
        {"parse": 1.0, "filter": 0.33, "join": 1.0, "count": 0.1},
        {"split": 3.0, "count": 1.0},
        {"read": 1.0, "explode": 50.0},
        {"only": 9.0},
    ],
)
def test_no_burst_inside_means_one_segment(stages: dict[str, float]) -> None:
    cuts = choose_cuts(stages)
    assert cuts == ()
    assert [segment.stages for segment in plan_segments(list(stages), cuts)] == [tuple(stages)]


def test_segments_are_named_after_their_last_stage_and_keep_their_pins() -> None:
    pins = {"b": Paradigm.OPERATION_STREAM}
    found = plan_segments(["a", "b", "c"], ["b"], pins)
    assert [(s.name, s.stages, s.pinned) for s in found] == [
        ("b", ("a", "b"), Paradigm.OPERATION_STREAM),
        ("c", ("c",), None),
    ]


def test_mistakes_of_a_plan_are_one_line() -> None:
    pins = {"a": Paradigm.OPERATION_STREAM, "b": Paradigm.DATA_STREAM}
    with pytest.raises(UserError, match="different paradigms"):
        plan_segments(["a", "b"], (), pins)
    assert len(plan_segments(["a", "b"], ["a"], pins)) == 2
    with pytest.raises(UserError, match="Did you mean 'count'"):
        plan_segments(["split", "count"], ["coumt"])
    with pytest.raises(UserError, match="last stage"):
        plan_segments(["split", "count"], ["count"])


def test_pins_as_a_user_writes_them() -> None:
    assert parse_pins("split=data, count=operation") == {
        "split": Paradigm.DATA_STREAM,
        "count": Paradigm.OPERATION_STREAM,
    }
    assert parse_pins("") == {}
    for wrong in ("split", "=data", "split=dta"):
        with pytest.raises(UserError):
            parse_pins(wrong)
