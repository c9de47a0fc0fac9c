"""The scheduler's thread against a simulated actuator with a clock of its own."""

from __future__ import annotations

import threading

import pytest

from streamgauge.paradigms.actuator import Observation, Order
from streamgauge.paradigms.driving import Driven, drive
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.scheduler import Scheduler
from streamgauge.paradigms.simulated_segment import EPOCH_S, SimulatedSegment
from streamgauge.paradigms.tracking import Known
from tests.paradigms.worlds import WORD_COUNT, world


class OneSegment:
    """An actuator of one simulated segment under a burst from 5 to 10 s; the log is away from 2 to 3 s."""

    def __init__(self, refuses: bool = False) -> None:
        self.now_s = 0.0
        self.refuses = refuses
        self.segment = SimulatedSegment(world())
        self.orders: list[Order] = []
        self.prepared: list[Order] = []
        self.stop = threading.Event()

    def pause(self, seconds: float) -> bool:
        for _ in range(max(1, round(seconds / 0.05))):
            self.now_s += 0.05
            self.segment.step(self.now_s, 0.05, 4000 if 5 < self.now_s <= 10 else 25)
        return self.now_s > 20

    def observe(self) -> Observation:
        if 2.01 < self.now_s < 2.99:
            raise ConnectionError("the log does not answer")
        return Observation(EPOCH_S + self.now_s, {"count": self.segment.seen(self.now_s)})

    def prepare(self, order: Order) -> None:
        self.prepared.append(order)

    def switch(self, order: Order) -> None:
        if self.refuses:
            raise RuntimeError("no slot is free")
        self.orders.append(order)
        self.segment.switch(order, self.now_s)


def run(actuator: OneSegment) -> Driven:
    scheduler = Scheduler([Known("count", WORD_COUNT, True, 1.0)])
    return drive(actuator, scheduler, actuator.stop, clock_s=lambda: actuator.now_s, wait=actuator.pause)


def test_it_ticks_switches_and_survives_a_log_that_is_away() -> None:
    actuator = OneSegment()
    found = run(actuator)
    assert (found.failed, found.last_error) == (9, "the log does not answer")
    assert 185 <= found.ticks <= 195
    assert [order.paradigm for order in actuator.orders] == [Paradigm.OPERATION_STREAM, Paradigm.DATA_STREAM]
    assert actuator.orders[0].max_records_per_batch
    assert actuator.segment.paradigm is Paradigm.DATA_STREAM


def test_an_order_that_cannot_be_begun_is_not_hidden() -> None:
    with pytest.raises(RuntimeError, match="no slot"):
        run(OneSegment(refuses=True))


def test_it_ends_when_told() -> None:
    actuator = OneSegment()
    actuator.stop.set()
    assert run(actuator).ticks == 0
