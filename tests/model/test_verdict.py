"""What makes an answer right."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.model import Guarantee, Verdict
from streamgauge.model.verdict import duplicates_allowed

FORBIDDEN = ("lost", "wrong", "unexpected", "out_of_order")
COUNT = st.integers(0, 3)
RIGHT = Verdict(expected=10, seen=10)


def test_nothing_differs() -> None:
    assert RIGHT.correct


@pytest.mark.parametrize("word", FORBIDDEN)
def test_any_difference_is_wrong_whatever_is_allowed(word: str) -> None:
    assert not replace(RIGHT, **{word: 1}).correct
    assert not replace(RIGHT, **{word: 1}, restarts=1, duplicates_allowed=True).correct


def test_duplicates_are_right_only_where_they_are_allowed() -> None:
    assert not replace(RIGHT, duplicated=2).correct
    assert replace(RIGHT, duplicated=2, duplicates_allowed=True).correct


@pytest.mark.parametrize("word", ["late", "rejected", "restarts"])
def test_what_is_only_counted_does_not_decide(word: str) -> None:
    assert replace(RIGHT, **{word: 5}).correct


@given(st.tuples(COUNT, COUNT, COUNT, COUNT), COUNT, st.booleans())
def test_correct_is_the_rule_and_nothing_else(differing: tuple[int, ...], duplicated: int, allowed: bool) -> None:
    verdict = replace(
        RIGHT, **dict(zip(FORBIDDEN, differing, strict=True)), duplicated=duplicated, duplicates_allowed=allowed
    )
    assert verdict.correct == (not any(differing) and (allowed or not duplicated))


@pytest.mark.parametrize("outputs", ["exactly-once", "at-least-once", "at-most-once"])
@pytest.mark.parametrize("restarts", [0, 1, 2])
def test_duplicates_are_allowed_after_a_restart_of_an_at_least_once_engine(outputs: str, restarts: int) -> None:
    guarantee = Guarantee(outputs=outputs)  # type: ignore[arg-type]
    assert duplicates_allowed(guarantee, restarts) == (outputs == "at-least-once" and restarts > 0)


def test_as_plain_values() -> None:
    plain = replace(RIGHT, lost=1, examples=("key 'a' never appeared",)).as_dict()
    assert next(iter(plain)) == "correct"
    assert plain["correct"] is False
    assert plain["lost"] == 1
    assert json.loads(json.dumps(plain)) == plain
