"""Estimators that are kept across switches: arrival rate, speeds, fixed times and latency, from noisy sights.

Robust by construction: rates are counts over real time, so a producer's batches are averaged and never a spike of their
own; a speed is taken only while records wait, since an idle server shows its load and not its speed, and without the
pauses at checkpoints; times of batches are fitted over many batches of different sizes.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from streamgauge.paradigms.equations import SegmentFigures

SPEED_WINDOW_S = 1.0
LONGEST_PAUSE_S = 1.0
"""A standstill up to this long is the pause at the end of a real-time batch; a longer one is part of the speed."""
FIRST_WINDOW_S = 0.5
"""…but the first one is wanted soon: before it nothing is switched."""
SPEED_MEMORY_S = 4.0
BASELINE_MEMORY_S = 10.0
FAST_S = 0.3
STEADY_S = 1.0
BATCHES_KEPT = 32
FADING = 0.9
"""A batch weighs so much of the one after it."""
LEAST_FIT = 0.5
"""Share of the differences between durations that the sizes of batches must account for (r²)."""
TELLING_S = 0.02
"""Sizes of batches differ where the data stream would take so long for the difference."""
LEAST_SHARE = 0.1
"""Of batches of one size that are nearly all fixed time no speed can be told: their noise would make one."""
SHORT_S = 0.3
SURE = 0.75
"""Of the speed of so short a stretch: where it begins and ends is known to a look."""
LATENCIES_KEPT = 21


@dataclass(frozen=True)
class BatchSeen:
    """A finished micro-batch: its records, how long it took, and how much of that was not spent on records."""

    records: int
    duration_s: float
    schedule_s: float | None = None


class ArrivalRate:
    """V: the rate of the last moment, the rate before a burst, and for how long the present burst has lasted."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()
        self._rates: deque[tuple[float, float]] = deque()
        self.baseline_per_s: float | None = None
        """Smoothed over the ticks in which no burst was on: what is expected after one."""
        self.tick_per_s = 0.0
        self.hot_s = 0.0
        """For how long every tick in a row has brought more than the data stream works off."""
        self.hot_ticks = 0
        self.calm_s = 0.0
        """For how long no tick did."""
        self._calm_in_all_s = 0.0
        self._hot_from: tuple[float, int] | None = None
        self._last: tuple[float, int] | None = None

    def look(self, at_s: float, arrived: int, data_per_s: float) -> None:
        """Take the input's end at that moment; a clock that stands still is ignored."""
        last, self._last = self._last, (at_s, arrived)
        self._seen.append((at_s, arrived))
        while len(self._seen) > 2 and self._seen[1][0] <= at_s - FAST_S:
            self._seen.popleft()
        if last is None or at_s <= last[0]:
            return
        passed_s = at_s - last[0]
        self.tick_per_s = max(0, arrived - last[1]) / passed_s
        self._rates.append((at_s, self.fast_per_s))
        while self._rates[0][0] <= at_s - STEADY_S:
            self._rates.popleft()
        if self.tick_per_s > data_per_s:
            self._hot_from = self._hot_from or last
            self.hot_s += passed_s
            self.hot_ticks += 1
            self.calm_s = 0.0
        else:
            self._hot_from, self.hot_s, self.hot_ticks = None, 0.0, 0
            self.calm_s += passed_s
            known = self.baseline_per_s
            self._calm_in_all_s += passed_s
            # A plain mean at first, so that the first tick is not worth more than the others.
            share = max(1 - math.exp(-passed_s / BASELINE_MEMORY_S), passed_s / self._calm_in_all_s)
            self.baseline_per_s = self.tick_per_s if known is None else known + share * (self.tick_per_s - known)

    @property
    def fast_per_s(self) -> float:
        """Over the last 0.3 s, or the last tick where that is longer."""
        (from_s, before), (to_s, now) = self._seen[0], self._seen[-1]
        return (now - before) / (to_s - from_s) if to_s > from_s else 0.0

    @property
    def steady_per_s(self) -> float:
        """What it has not been above for a second: a rate that is falling is no rate to reckon with yet."""
        return max((rate for _, rate in self._rates), default=0.0)

    @property
    def burst_per_s(self) -> float:
        """Over the present burst, or the last moment where none is on."""
        if self._hot_from is None or self._last is None or self._last[0] <= self._hot_from[0]:
            return self.fast_per_s
        return (self._last[1] - self._hot_from[1]) / (self._last[0] - self._hot_from[0])


class DataSpeed:
    """PD, from the progress of the data stream while records wait all the time."""

    def __init__(self, per_s: float, measured: bool = False) -> None:
        self.per_s = per_s
        self.measured = measured
        self.met = measured
        """Whether it was ever measured, whatever became of that."""
        self._carried_per_s = 0.0
        """What it was seen to carry since it was last doubted."""
        self._last: tuple[float, float] | None = None
        self._working_s = 0.0
        self._worked = 0.0
        self._still_s = 0.0
        self._shown = (0.0, 0.0)
        """The time of a standstill with the look after it, and the progress that it showed."""

    def look(self, at_s: float, answered: float, waiting: bool) -> None:
        """Take the position at that moment; `waiting` says whether records waited since the look before."""
        last, self._last = self._last, (at_s, answered)
        if not waiting or last is None:
            self._break_off()
            return
        passed_s, moved = at_s - last[0], answered - last[1]
        if moved <= 0:
            self._stand_still(passed_s)
        elif self._still_s:
            # What shows at once after a standstill was in part done within it: the looks around it tell.
            self._shown = (min(self._still_s, LONGEST_PAUSE_S) + passed_s, moved)
            self._still_s = 0.0
        else:
            self._shown = (0.0, 0.0)
            self._working_s += passed_s
            self._worked += moved
        if self._working_s < (SPEED_WINDOW_S if self.measured else FIRST_WINDOW_S):
            return
        seen, share = self._worked / self._working_s, 1 - math.exp(-self._working_s / SPEED_MEMORY_S)
        self._working_s = self._worked = 0.0
        if seen > 0:
            known = self.per_s + share * (seen - self.per_s)
            # A window with a pause in it does not undo what has been carried before.
            self.per_s = known if self.measured else max(seen, self._carried_per_s)
            self.measured = self.met = True

    def at_least(self, per_s: float) -> None:
        """What was worked off with nothing waiting is a bound from below."""
        self._carried_per_s = max(self._carried_per_s, per_s)
        self.per_s = max(self.per_s, per_s)

    def interrupted(self) -> None:
        """A switch begins: what is seen until the new query runs is no speed."""
        self._last = None
        self._break_off()

    def doubted(self) -> None:
        """It is to be measured anew: the next window replaces what was known."""
        self.measured, self._carried_per_s = False, 0.0

    def _stand_still(self, passed_s: float) -> None:
        """The end of a batch, which says nothing of the speed between two; or progress that only shows now and then."""
        (shown_s, shown), self._shown = self._shown, (0.0, 0.0)
        self._working_s += shown_s
        self._worked += shown
        self._still_s += passed_s
        if self._still_s > LONGEST_PAUSE_S:
            self._working_s += passed_s

    def _break_off(self) -> None:
        """A stretch that was too short to measure by still refutes a speed that was known much too low."""
        if self.measured and self._working_s >= SHORT_S:
            self.at_least(SURE * self._worked / self._working_s)
        self._forget()

    def _forget(self) -> None:
        self._working_s = self._worked = self._still_s = 0.0
        self._shown = (0.0, 0.0)


class BatchTimes:
    """t_s, t_ot and PO: a line through (records, duration) of the last micro-batches."""

    def __init__(self, figures: SegmentFigures) -> None:
        self._known = figures
        self._batches: deque[BatchSeen] = deque(maxlen=BATCHES_KEPT)

    def look(self, batch: BatchSeen) -> None:
        """Take a finished batch; an empty one says nothing of speeds."""
        if batch.records > 0 and batch.duration_s > 0:
            self._batches.append(batch)

    @property
    def measured(self) -> bool:
        """Whether the figures come from batches."""
        return len(self._batches) >= 3

    def fitted(self, figures: SegmentFigures) -> SegmentFigures:
        """The figures with what the batches say in place of what was known before."""
        if not self.measured:
            return figures
        told = sorted(b.schedule_s for b in self._batches if b.schedule_s is not None)
        schedule_s = told[len(told) // 2] if told else None
        fixed_s, per_s = self._line(schedule_s, TELLING_S * figures.data_per_s)
        if schedule_s is None:
            schedule_s = fixed_s * (self._known.schedule_s / self._known.fixed_s if self._known.fixed_s else 1.0)
        schedule_s = min(schedule_s, fixed_s)
        return replace(figures, operation_per_s=per_s, schedule_s=schedule_s, operation_transfer_s=fixed_s - schedule_s)

    def _line(self, schedule_s: float | None, least_difference: float) -> tuple[float, float]:
        # The last batches count most: a JVM that warms up makes older ones slower than any line through both.
        weight = FADING ** np.arange(len(self._batches))[::-1]
        records = np.array([b.records for b in self._batches], float)
        took_s = np.array([b.duration_s for b in self._batches])
        mean_x, mean_y = float(np.average(records, weights=weight)), float(np.average(took_s, weights=weight))
        (spread, shared), (_, noise) = np.cov(records, took_s, aweights=weight, ddof=0)
        slope = shared / spread if spread > 0 else 0.0
        # Sizes must differ, and what they differ by must be seen in the times: else a line goes through noise.
        differ = math.sqrt(spread) >= max(0.1 * mean_x, least_difference)
        told = differ and shared**2 >= LEAST_FIT * spread * noise
        if told and slope > 0 and mean_y >= slope * mean_x:
            self._known = replace(self._known, operation_per_s=float(1 / slope))
            return float(mean_y - slope * mean_x), float(1 / slope)
        # Batches of one size tell only their sum, and noise may hide the slope: one of the two must be known otherwise.
        told = mean_x / self._known.operation_per_s >= LEAST_SHARE * mean_y
        if schedule_s is not None and told:
            fixed_s = schedule_s + self._known.operation_transfer_s
            if mean_y > 1.1 * fixed_s:
                return fixed_s, mean_x / (mean_y - fixed_s)
        # A speed that was known too low, from a starved machine, is refuted by batches that were faster.
        per_s = max(self._known.operation_per_s, mean_x / mean_y)
        return max(0.0, mean_y - mean_x / per_s), per_s


class MedianTime:
    """A typical time: the median of the last ones seen, or what was known before any was."""

    def __init__(self, known_s: float, kept: int = LATENCIES_KEPT, seen: Iterable[float] = ()) -> None:
        self._known_s = known_s
        self._seen: deque[float] = deque(seen, maxlen=kept)
        self._median: float | None = None

    def look(self, seconds: float) -> None:
        """Take one more."""
        self._seen.append(seconds)
        self._median = None

    @property
    def seen(self) -> tuple[float, ...]:
        """The last ones, oldest first."""
        return tuple(self._seen)

    @property
    def seconds(self) -> float:
        """The median."""
        if not self._seen:
            return self._known_s
        if self._median is None:
            self._median = sorted(self._seen)[len(self._seen) // 2]
        return self._median
