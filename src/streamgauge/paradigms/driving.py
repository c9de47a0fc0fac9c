"""The scheduler's thread: look, decide, tell the actuator; a look that fails costs a tick and nothing else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from streamgauge.paradigms.actuator import Actuator, Observation, Order

TICK_S = 0.1
LONGEST_TICK_S = 0.25
"""Beyond this a burst is not surely seen within a second."""


class Deciding(Protocol):
    """Whoever says what is to be switched."""

    def tick(self, now: Observation) -> list[Order]:
        """Take what is seen, and say what is to be switched."""
        ...

    def prospects(self) -> list[Order]:
        """The orders that may come next, to be prepared."""
        ...


@dataclass(frozen=True)
class Driven:
    """What the deciding itself came to: how often it looked, how often in vain, and what that cost."""

    ticks: int
    failed: int
    late: int
    """Ticks that came later than `LONGEST_TICK_S` after the one before."""
    orders: int
    cpu_s: float
    last_error: str | None = None


def drive(
    actuator: Actuator,
    scheduler: Deciding,
    stop: threading.Event,
    tick_s: float = TICK_S,
    clock_s: Callable[[], float] = time.monotonic,
    wait: Callable[[float], bool] | None = None,
) -> Driven:
    """Tick until told to stop; an order that cannot be begun is an error of the actuator and ends it."""
    pause = wait or stop.wait
    ticks = failed = late = orders = 0
    error: str | None = None
    began_cpu_s = time.thread_time()
    next_s = last_s = clock_s()
    while not stop.is_set():
        now_s = clock_s()
        late += now_s - last_s > LONGEST_TICK_S
        last_s = now_s
        try:
            seen = actuator.observe()
        except Exception as failure:  # The log may be away for a time; the queries have their own supervisor.
            failed, error = failed + 1, str(failure)
        else:
            ticks += 1
            for order in scheduler.tick(seen):
                actuator.switch(order)
                orders += 1
            for order in scheduler.prospects():
                actuator.prepare(order)
        next_s = max(next_s + tick_s, clock_s())
        if pause(max(0.0, next_s - clock_s())):
            break
    return Driven(ticks, failed, late, orders, time.thread_time() - began_cpu_s, error)
