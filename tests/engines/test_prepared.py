"""Queries that are built ahead: reused where they fit, built once, and never in the way of a switch."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from streamgauge.engines.spark.prepared import KEPT, Prepared
from streamgauge.paradigms.paradigm import Paradigm
from tests.waiting import until

DATA, OPERATION = Paradigm.DATA_STREAM, Paradigm.OPERATION_STREAM


class Making:
    """Makes queries that are only their names; the first may be held up."""

    def __init__(self) -> None:
        self.made: list[tuple[Paradigm, int | None]] = []
        self.go_on = threading.Event()
        self.go_on.set()

    def __call__(self, paradigm: Paradigm, bound: int | None) -> Any:
        self.go_on.wait(30)
        self.made.append((paradigm, bound))
        return (paradigm, bound)


def test_what_was_built_is_handed_out_again_where_its_bound_is_near() -> None:
    making = Making()
    prepared = Prepared(making)
    assert prepared.take(DATA, None) == (DATA, None)
    assert prepared.take(OPERATION, 100_000) == (OPERATION, 100_000)
    assert prepared.take(OPERATION, 120_000) == (OPERATION, 100_000)
    assert prepared.take(OPERATION, 300_000) == (OPERATION, 300_000)
    assert prepared.take(OPERATION, None) == (OPERATION, None), "no bound is not a bound"
    assert prepared.take(DATA, None) == (DATA, None)
    assert len(making.made) == 4


def test_it_is_built_beside_and_a_switch_in_the_meantime_takes_it() -> None:
    making = Making()
    making.go_on.clear()
    prepared = Prepared(making)
    prepared.prepare(OPERATION, 100_000)
    prepared.prepare(OPERATION, 5_000)  # One at a time: this one is not begun.
    taken: list[Any] = []
    taking = threading.Thread(target=lambda: taken.append(prepared.take(OPERATION, 90_000)))
    taking.start()
    making.go_on.set()
    taking.join(30)
    assert taken == [(OPERATION, 100_000)]
    assert making.made == [(OPERATION, 100_000)]
    prepared.prepare(OPERATION, 110_000)
    assert making.made == [(OPERATION, 100_000)], "nothing is built where one is ready"


def test_what_cannot_be_built_is_told_by_the_switch_and_not_before() -> None:
    calls = []

    def refused(paradigm: Paradigm, bound: int | None) -> Any:
        calls.append(bound)
        raise ValueError("no such topic")

    prepared = Prepared(refused)
    prepared.prepare(OPERATION, 1_000)
    until(lambda: calls == [1_000])
    with pytest.raises(ValueError, match="no such topic"):
        prepared.take(OPERATION, 1_000)


def test_only_the_newest_are_kept() -> None:
    making = Making()
    prepared = Prepared(making)
    for power in range(KEPT + 1):
        prepared.take(OPERATION, 10 * 2**power)
    prepared.take(OPERATION, 10)
    assert len(making.made) == KEPT + 2
