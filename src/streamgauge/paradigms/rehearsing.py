"""Switching by the clock instead of by the load: to see what a switch costs, and that nothing is lost in many."""

from __future__ import annotations

from streamgauge.paradigms.actuator import Observation, Order
from streamgauge.paradigms.paradigm import How, Paradigm

BOUND = 50_000
"""Most records of a rehearsed micro-batch."""


class Rehearsal:
    """Orders every segment that may change into the other paradigm, over and over: there now drained, now replayed.

    A segment is left alone for `every_s` after its last switch was done, so that each of them has answered something.
    """

    def __init__(self, segments: list[str], every_s: float) -> None:
        self._segments, self._every_s = segments, every_s
        self._settled_at_s: dict[str, float] = {}
        self._ordered: dict[str, Paradigm] = {}
        self._count = dict.fromkeys(segments, 0)

    def tick(self, now: Observation) -> list[Order]:
        """The orders whose time has come."""
        orders = []
        for name in self._segments:
            seen = now.segments[name]
            going = name in self._ordered and seen.paradigm is not self._ordered[name]
            if seen.switching or going:
                self._settled_at_s.pop(name, None)
                continue
            if now.at_s - self._settled_at_s.setdefault(name, now.at_s) < self._every_s:
                continue
            orders.append(self._next(name, seen.paradigm))
            self._settled_at_s.pop(name)
        return orders

    def prospects(self) -> list[Order]:
        """Both ways of every segment."""
        return [_order(name, paradigm, How.REPLAY) for name in self._segments for paradigm in Paradigm]

    def _next(self, name: str, paradigm: Paradigm) -> Order:
        # There drained, then there replayed; the way back always drains.
        how = How.REPLAY if self._count[name] % 4 == 2 else How.DRAIN
        self._count[name] += 1
        self._ordered[name] = paradigm.other
        return _order(name, paradigm.other, how)


def _order(name: str, to: Paradigm, how: How) -> Order:
    return Order(name, to, how, BOUND if to is Paradigm.OPERATION_STREAM else None)
