"""A simulated chain of segments under a load: the scheduler's own decisions, thousands of seconds in one.

Fluid: a step is 50 ms, records are numbers. Latency is taken as in a trial, by the second in which records arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamgauge.paradigms.actuator import Observation, Order
from streamgauge.paradigms.decisions import Decision
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.scheduler import Scheduler
from streamgauge.paradigms.settings import SchedulerSettings
from streamgauge.paradigms.simulated_segment import EPOCH_S, SegmentWorld, SimulatedSegment
from streamgauge.paradigms.ticks import Tick
from streamgauge.paradigms.tracking import Known

STEP_S = 0.05
TICK_STEPS = 2
"""The scheduler looks every 100 ms: offsets are cheap to ask for."""
DRAIN_LIMIT_S = 300.0

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Simulated:
    """What came of a load: latency by the second of arrival, and what was decided."""

    seconds: Floats
    """Median latency of the records that arrived in each second, in seconds."""
    switches: int
    gap_s: float
    decisions: tuple[Decision, ...] = ()
    ticks: tuple[Tick, ...] = ()
    switched_at_s: tuple[tuple[float, str, Paradigm], ...] = ()
    drained: bool = True
    final: tuple[Paradigm, ...] = field(default=())

    @property
    def mean_s(self) -> float:
        """Mean of the one-second medians."""
        return float(self.seconds.mean())

    def settled_after_s(self, ended_s: int, before_s: int, factor: float = 2.0) -> int | None:
        """Seconds from `ended_s` until the one-second median stays within a multiple of what it was before."""
        usual = float(np.median(self.seconds[:before_s]))
        within = self.seconds[ended_s:] <= factor * usual + 1e-9
        for second in range(within.size):
            if within[second]:
                return second
        return None


def simulate(
    arriving: Callable[[float], float],
    lasting_s: float,
    worlds: Sequence[SegmentWorld],
    scheduler: Scheduler | None = None,
    paradigm: Paradigm = Paradigm.DATA_STREAM,
) -> Simulated:
    """Run a chain under a load; `arriving` is the number of records that are due up to a time, as of `Load.events_by`.

    Without a scheduler every segment stays in `paradigm`.
    """
    chain = [SimulatedSegment(world, _first(world, scheduler, paradigm)) for world in worlds]
    switched: list[tuple[float, str, Paradigm]] = []
    arrivals, answers, times = [0.0], [0.0], [0.0]
    scale = float(np.prod([world.magnification for world in worlds[:-1]]))
    step, known = 0, 0.0
    while True:
        step += 1
        now_s = step * STEP_S
        if now_s > lasting_s + DRAIN_LIMIT_S or (now_s > lasting_s + STEP_S and answers[-1] >= arrivals[-1] - 1.0):
            break
        due = arriving(min(now_s, lasting_s))
        flowing, known = due - known, due
        for segment in chain:
            flowing = segment.step(now_s, STEP_S, flowing) * segment.world.magnification
        times.append(now_s)
        arrivals.append(due)
        answers.append(chain[-1].answered / scale)
        if scheduler is not None and step % TICK_STEPS == 0:
            seen = Observation(EPOCH_S + now_s, {each.world.name: each.seen(now_s) for each in chain})
            for order in scheduler.tick(seen):
                _carry_out(chain, order, now_s)
                switched.append((now_s, order.segment, order.paradigm))
    return Simulated(
        seconds=_by_second(np.array(times), np.array(arrivals), np.array(answers), lasting_s, _transfer_s(worlds)),
        switches=len(switched),
        gap_s=sum(segment.gap_s for segment in chain),
        switched_at_s=tuple(switched),
        drained=answers[-1] >= arrivals[-1] - 1.0,
        final=tuple(segment.paradigm for segment in chain),
    )


def simulate_adaptive(
    arriving: Callable[[float], float],
    lasting_s: float,
    worlds: Sequence[SegmentWorld],
    settings: SchedulerSettings | None = None,
    known: Sequence[Known] | None = None,
    keep_ticks: bool = False,
) -> Simulated:
    """The same with a scheduler that knows the segments from a calibration unless told otherwise."""
    decisions: list[Decision] = []
    ticks: list[Tick] = []
    told = known or [Known(w.name, w.figures, True, w.magnification) for w in worlds]
    scheduler = Scheduler(told, settings, ticks.append if keep_ticks else None, decisions.append)
    found = simulate(arriving, lasting_s, worlds, scheduler)
    return Simulated(
        **{
            **{name: getattr(found, name) for name in found.__dataclass_fields__},
            "decisions": tuple(decisions),
            "ticks": tuple(ticks),
        }
    )


def _first(world: SegmentWorld, scheduler: Scheduler | None, paradigm: Paradigm) -> Paradigm:
    return paradigm if scheduler is None else scheduler.trackers[world.name].paradigm


def _carry_out(chain: Sequence[SimulatedSegment], order: Order, now_s: float) -> None:
    next(each for each in chain if each.world.name == order.segment).switch(order, now_s)


def _transfer_s(worlds: Sequence[SegmentWorld]) -> float:
    return sum(world.figures.data_transfer_s for world in worlds)


def _by_second(times: Floats, arrivals: Floats, answers: Floats, lasting_s: float, transfer_s: float) -> Floats:
    """Median, over the records of each second, of the time until their position was answered."""
    # Positions in the middle of each step's records, each as heavy as they are many.
    middle = (arrivals[1:] + arrivals[:-1]) / 2
    weight = np.diff(arrivals)
    came_s = (times[1:] + times[:-1]) / 2
    place = np.searchsorted(answers, middle, side="left")
    lost = place >= answers.size
    place = np.minimum(place, answers.size - 1)
    before, after = answers[np.maximum(place - 1, 0)], answers[place]
    share = np.where(after > before, (middle - before) / np.where(after > before, after - before, 1), 1.0)
    # A jump is a batch: all its records are answered at its end.
    jumped = after - before > 4 * np.maximum(weight, 1.0)
    done_s = np.where(jumped, times[place], times[np.maximum(place - 1, 0)] + share * STEP_S)
    waited = np.where(lost, times[-1] - came_s, np.maximum(done_s - came_s, 0.0)) + transfer_s
    return _weighted_medians(np.floor(came_s).astype(np.int64), waited, weight, int(np.ceil(lasting_s)))


def _weighted_medians(second: NDArray[np.int64], values: Floats, weight: Floats, seconds: int) -> Floats:
    found = np.zeros(seconds)
    order = np.lexsort((values, second))
    second, values, weight = second[order], values[order], weight[order]
    edges = np.searchsorted(second, np.arange(seconds + 1))
    running = np.concatenate([[0.0], np.cumsum(weight)])
    for each in range(seconds):
        low, high = edges[each], edges[each + 1]
        total = running[high] - running[low]
        if total > 0:
            place = np.searchsorted(running[low + 1 : high + 1], running[low] + total / 2)
            found[each] = values[min(low + int(place), high - 1)]
        elif each:
            found[each] = found[each - 1]
    return found
