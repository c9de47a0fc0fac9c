"""What staying and switching are expected to cost: latency summed over the time at which records arrive.

The unit is seconds of latency × seconds of time: divided by a trial's length it is the mean of the one-second medians.
Queues are fluid: rates are constant within a phase, so latency is a line in each, and a course is a list of lines. The
paper compares latencies of one moment; the cost of the way there and back is ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from streamgauge.paradigms.equations import FULL, SegmentFigures
from streamgauge.paradigms.settings import BREACH_WEIGHT, SchedulerSettings

CATCH_UP_MARGIN = 1.25
"""A bounded micro-batch must work off at least so much more than arrives, or it would never catch up."""
OVERHEAD_SHARE = 0.25
"""A micro-batch that catches up may spend so much of its time on what does not depend on its records."""
REST_SHARE = 1.5
"""A queue up to so many times the bound is taken in one batch."""
LEAST_RECORDS = 1_000
"""A speed that was seen cold or starved must not make batches that never catch up; below 1,000/s they are longer."""
LONGEST_BATCHES = 3.0
"""To keep up with a rate it may take at most so many times the wanted duration."""

Phase = tuple[float, float, float]
"""Seconds of arrivals, and the latency of the first and of the last of them."""


@dataclass(frozen=True)
class Situation:
    """Where a segment stands, and what is expected to arrive."""

    queue: float
    """Records that wait now."""
    age_s: float
    """How long the oldest has waited."""
    arrival_per_s: float
    """Expected for the next `lasting_s`."""
    lasting_s: float
    afterwards_per_s: float


@dataclass(frozen=True)
class Way:
    """One way of leaving a query: how long it runs on, how long nothing runs, what is repeated."""

    wait_s: float
    """Until the boundary; 0 where it is stopped at once."""
    gap_s: float
    """From the stop until the new query reads."""
    repeated: float = 0.0
    """Records that the new query does again."""


def batch_bound(figures: SegmentFigures, arrival_per_s: float, catch_up_s: float, waiting: float = 0.0) -> int:
    """Most records of a micro-batch: about `catch_up_s` long, or longer where too much of that would be fixed.

    A bound keeps answers coming while a long queue is worked off; too low a bound makes it longer. `waiting`
    records are taken at once where that leaves out a small second batch.
    """
    wanted = figures.operation_per_s * max(catch_up_s - figures.fixed_s, figures.fixed_s * (1 / OVERHEAD_SHARE - 1))
    if wanted < waiting <= REST_SHARE * wanted:
        wanted = waiting
    most = LONGEST_BATCHES * catch_up_s * figures.operation_per_s
    needed_per_s = CATCH_UP_MARGIN * arrival_per_s
    left = 1 - needed_per_s / figures.operation_per_s
    needed = needed_per_s * figures.fixed_s / left if left > 0.01 else most
    # A speed that was seen too low must not starve batches: they hold at least what the data stream would do meanwhile.
    least = max(LEAST_RECORDS, figures.data_per_s * catch_up_s)
    return round(max(least, wanted, min(most, needed)))


def capacity_per_s(figures: SegmentFigures, bound: float) -> float:
    """What micro-batches of at most `bound` records work off."""
    return bound / (figures.fixed_s + bound / figures.operation_per_s)


def stay_in_data(figures: SegmentFigures, now: Situation) -> list[Phase]:
    """The course of latency where the data stream works everything off."""
    speed, low = figures.data_per_s, figures.data_transfer_s
    course: list[Phase] = [(now.age_s, now.age_s + low, now.queue / speed + low)]
    queue = now.queue
    for rate, lasting_s in ((now.arrival_per_s, now.lasting_s), (now.afterwards_per_s, math.inf)):
        queue = _worked_off(course, queue, rate, speed, lasting_s, low)
    return course


def go_to_operation(
    figures: SegmentFigures, now: Situation, way: Way, back: Way, settings: SchedulerSettings
) -> list[Phase]:
    """The course of latency over a switch to the operation stream, the catching up there, and the way back."""
    fixed = figures.fixed_s
    queue = max(0.0, now.queue + (now.arrival_per_s - figures.data_per_s) * min(way.wait_s, now.lasting_s))
    before = queue + way.repeated
    arriving = [
        (now.arrival_per_s, min(way.gap_s, max(0.0, now.lasting_s - way.wait_s))),
        (now.afterwards_per_s, max(0.0, way.gap_s - max(0.0, now.lasting_s - way.wait_s))),
    ]
    after = before + sum(rate * passed_s for rate, passed_s in arriving)
    speed = capacity_per_s(figures, batch_bound(figures, now.arrival_per_s, settings.catch_up_s, after))
    until = way.wait_s + way.gap_s + fixed
    # Where it drains first, what waits now is mostly answered on the way; where not, it waits for the first batch.
    answered_s = (
        now.queue / figures.data_per_s if way.wait_s * figures.data_per_s >= now.queue else until + before / speed
    )
    course: list[Phase] = [(now.age_s, now.age_s + min(answered_s, until), answered_s)]
    if way.wait_s:
        course.append((way.wait_s, min(answered_s, until), way.gap_s + fixed + before / speed))
    course.append((way.gap_s, way.gap_s + fixed + before / speed, fixed + after / speed))
    left_s = max(0.0, now.lasting_s - way.wait_s - way.gap_s)
    spent_s = 0.0
    first = now.arrival_per_s if left_s else now.afterwards_per_s
    after = max(0.0, after - min(first, speed) * figures.operation_latency_s(first))
    for rate, lasting_s in ((now.arrival_per_s, left_s), (now.afterwards_per_s, math.inf)):
        low = figures.operation_latency_s(rate)
        steps: list[Phase] = []
        after = _worked_off(steps, after, rate, speed, lasting_s, low)
        course += steps
        spent_s += sum(step[0] for step in steps)
    # It may not leave before its dwell is over, and ends with a batch that finds nothing left.
    stays_s = max(settings.dwell_s - way.gap_s - spent_s, figures.interval_at(now.afterwards_per_s))
    low = figures.operation_latency_s(now.afterwards_per_s)
    course.append((stays_s, low, low))
    return course + _gap_and_drain(figures, 0.0, now.afterwards_per_s, math.inf, back)


def stay_in_operation(figures: SegmentFigures, now: Situation, bound: float) -> list[Phase]:
    """The course of latency where micro-batches go on for as long as the rate is expected to last."""
    low = figures.operation_latency_s(now.arrival_per_s)
    course: list[Phase] = []
    speed = capacity_per_s(figures, bound)
    excess = max(0.0, now.queue - min(now.arrival_per_s, speed) * low)
    _worked_off(course, excess, now.arrival_per_s, speed, now.lasting_s, low)
    rest_s = max(0.0, now.lasting_s - sum(step[0] for step in course))
    return [*course, (rest_s, low, low)]


def return_to_data(figures: SegmentFigures, now: Situation, way: Way, in_batch: float) -> list[Phase]:
    """The course of latency over a switch back to the data stream; `in_batch` records are done when it drains first."""
    if now.arrival_per_s >= FULL * figures.data_per_s:
        return [(math.inf, 1.0, 1.0)]
    queue, course = now.queue, list[Phase]()
    if way.wait_s:
        queue = max(0.0, queue - in_batch)
        behind = way.gap_s + queue / figures.data_per_s
        course.append((way.wait_s, way.wait_s + behind, behind + now.arrival_per_s * way.wait_s / figures.data_per_s))
        queue += now.arrival_per_s * way.wait_s
    return course + _gap_and_drain(figures, queue, now.arrival_per_s, now.lasting_s, way)


def cost(course: Sequence[Phase], settings: SchedulerSettings, lasting_s: float, low_s: float) -> float:
    """The course's latency, weighed by the objective, summed over its time; a shorter course ends in low latency."""
    total = sum(_weighed(phase, settings) for phase in course)
    return total + max(0.0, lasting_s - length_s(course)) * settings.dearness(low_s)


def length_s(course: Sequence[Phase]) -> float:
    """Over how long a time of arrivals a course reaches."""
    return sum(phase[0] for phase in course)


def _weighed(phase: Phase, settings: SchedulerSettings) -> float:
    lasting_s, first, last = phase
    if lasting_s <= 0:
        return 0.0
    total = lasting_s * (first + last) / 2
    if settings.objective is None:
        return total
    above, below = max(first, last) - settings.objective.limit_s, min(first, last) - settings.objective.limit_s
    if above <= 0:
        return total
    breach = (above + below) / 2 if below >= 0 else above * above / (2 * (above - below))
    return total + BREACH_WEIGHT * lasting_s * breach


def _gap_and_drain(figures: SegmentFigures, queue: float, rate: float, lasting_s: float, way: Way) -> list[Phase]:
    low, speed = figures.data_transfer_s, figures.data_per_s
    behind = queue / speed + low
    course: list[Phase] = [(way.gap_s, way.gap_s + behind, behind + rate * way.gap_s / speed)]
    _worked_off(course, queue + rate * way.gap_s, rate, speed, lasting_s, low)
    return course


def _worked_off(course: list[Phase], queue: float, rate: float, speed: float, lasting_s: float, low_s: float) -> float:
    """Add the phases in which a queue grows or shrinks at a rate, and say what is left of it.

    Without an end it is worked off; a rate that leaves no room is then taken to leave a little, or it would never end.
    """
    if lasting_s <= 0:
        return queue
    if math.isinf(lasting_s):
        rate = min(rate, FULL * speed)
    growth = rate - speed
    first = queue / speed + low_s
    if growth >= 0 or queue + growth * lasting_s > 0:
        left = queue + growth * lasting_s
        course.append((lasting_s, first, left / speed + low_s))
        return left
    empty_s = queue / -growth
    course.append((empty_s, first, low_s))
    if not math.isinf(lasting_s):
        course.append((lasting_s - empty_s, low_s, low_s))
    return 0.0
