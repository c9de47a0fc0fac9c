"""What is known of one segment while it runs: its estimators, its clock, and the gaps that its switches took."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import median

from streamgauge.paradigms.actuator import SegmentSeen
from streamgauge.paradigms.equations import ASSUMED_K, SegmentFigures
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.queue import QueueEstimator, QueueSeen
from streamgauge.paradigms.smoothing import SURE, ArrivalRate, BatchTimes, DataSpeed, MedianTime
from streamgauge.paradigms.starting import Starting

WARM_GAP_S = {Paradigm.DATA_STREAM: 0.4, Paradigm.OPERATION_STREAM: 0.3}
"""Until the new query reads, before one was measured: real time warm, and micro-batch, whose own t_s comes after it."""
COLD_GAP_S = 3.0
OVERDUE_S = 60.0
GAPS_KEPT = 9
LEAST_WAITING = 50
SATURATED_S = 0.05
"""Records wait all the time where the queue holds at least this much of the data stream's work."""
UNDISTURBED_S = 1.0
"""After this long without a queue no output that a look shows has waited: a tail is half a second old, or one."""
YOUNG_S = 5.0
"""A speed that was seen in less work than this may be that of a process whose code was still being compiled."""
CLEAR_S = 0.25
"""What arrived in the last so many seconds may be on its way without any record having waited for others."""


@dataclass(frozen=True)
class Known:
    """What is known of a segment before it starts; from a calibration, or assumed."""

    name: str
    figures: SegmentFigures
    measured: bool = False
    magnification: float | None = None
    pinned: Paradigm | None = None
    sure: bool = True
    """Whether PD, where it is measured, is a ground for a switch before it was seen again."""
    worked_s: Mapping[Paradigm, float] | None = None
    """For how long each paradigm was seen at work; None where a calibration took its time."""
    gaps_s: Mapping[tuple[Paradigm, bool], Sequence[float]] = field(default_factory=dict)
    """(to which paradigm, whether warm) → how long the last switches were seen to take: one alone may be a freak."""


class SegmentTracker:
    """Takes what is seen of a segment at every tick and keeps its figures, across switches, up to date."""

    def __init__(self, known: Known) -> None:
        self.name = known.name
        self.pinned = known.pinned
        self.paradigm = known.pinned or Paradigm.DATA_STREAM
        self.arrival = ArrivalRate()
        self.seen: QueueSeen | None = None
        self.switching = False
        self.switched_at_s: float | None = None
        """When it was last told to switch."""
        self.ordered_bound: int | None = None
        self._estimator = QueueEstimator(magnification=known.magnification)
        self._speed = DataSpeed(known.figures.data_per_s, known.measured and known.sure)
        self._calibrated = known.measured
        self._batches = BatchTimes(known.figures)
        self.worked_s = dict(known.worked_s or dict.fromkeys(Paradigm, math.inf if known.measured else 0.0))
        """For how long each paradigm was seen at work."""
        self._looked_s: float | None = None
        self._latency = MedianTime(known.figures.data_transfer_s)
        self._gaps = {
            way: MedianTime(_gap(*way), GAPS_KEPT, known.gaps_s.get(way, ()))
            for way in product(Paradigm, (True, False))
        }
        self._figures = known.figures
        self._seen_together = (known.figures.data_per_s, known.figures.operation_per_s)
        """PD and PO when PO was last measured."""
        self._magnification = known.magnification
        self._first: tuple[int, float] | None = None
        self._stopped: tuple[float, bool] | None = None
        self._committed: int | None = None
        self._clear_from: tuple[float, float] | None = None
        self._undisturbed_from_s: float | None = None
        self._starting = Starting()

    @property
    def figures(self) -> SegmentFigures:
        """PD, PO and the times as they are known now."""
        return self._figures

    @property
    def speed_known(self) -> bool:
        """Whether PD was measured, here or by a calibration; an assumed one is no ground for a switch."""
        return self._speed.measured

    @property
    def going(self) -> bool:
        """Whether its first query has got going: what waits before says nothing of a burst."""
        return self._starting.going

    @property
    def measured(self) -> bool:
        """Whether both speeds were measured, here or by a calibration."""
        return self._speed.measured and (self._calibrated or self._batches.measured)

    @property
    def compared(self) -> bool:
        """Whether both paradigms were met, here or before, so that K is known; PD may be in doubt since."""
        return self._calibrated or (self._batches.measured and self._speed.met)

    @property
    def idle(self) -> bool:
        """Whether it is a data stream with nothing to decide: hardly anything waits and no burst is on."""
        quiet = self.paradigm is Paradigm.DATA_STREAM and self.arrival.hot_ticks == 0
        return quiet and self.seen is not None and self.seen.length <= LEAST_WAITING

    @property
    def magnification(self) -> float:
        """λ: outputs for every record, as the data stream makes them."""
        return 1.0 if self._magnification is None else self._magnification

    @property
    def uncommitted(self) -> float | None:
        """Records that are answered and not committed: a replay does them again. None where no boundary was seen."""
        if self._committed is None or self.seen is None:
            return None
        return max(0.0, self.seen.answered - self._committed)

    @property
    def measured_gaps_s(self) -> dict[tuple[Paradigm, bool], Sequence[float]]:
        """The gaps that were seen, here or before, as `Known` takes them."""
        return {way: gap.seen for way, gap in self._gaps.items() if gap.seen}

    def young(self, paradigm: Paradigm) -> bool:
        """Whether its speed was seen in so little work that it may have become much faster."""
        return self.worked_s[paradigm] < YOUNG_S

    def gap_s(self, to: Paradigm, warm: bool) -> float:
        """Expected time without a query on the way to a paradigm."""
        return self._gaps[to, warm].seconds

    def look(self, at_s: float, seen: SegmentSeen) -> None:
        """Take what is seen at one moment."""
        if self.switched_at_s is None:
            # Its start counts as a switch: nothing is decided before it has run for a dwell.
            self.switched_at_s = at_s
        flowing = seen.paradigm is Paradigm.DATA_STREAM and not seen.switching
        queue = self._estimator.look(at_s, seen.ends, seen.tail, seen.outputs, seen.consumed, flowing)
        if seen.consumed:
            self._committed = sum(seen.consumed.values())
        self.arrival.look(at_s, queue.arrived, self._figures.data_per_s)
        waited = self.seen is not None and min(self.seen.length, queue.length) > self._saturated()
        self._note_switch(at_s, seen)
        self._note_batches(seen)
        if not self.switching and self.paradigm is Paradigm.DATA_STREAM:
            self._note_data_stream(at_s, seen, queue, waited)
            if waited and self._looked_s is not None:
                self.worked_s[Paradigm.DATA_STREAM] += at_s - self._looked_s
        else:
            self._clear_from = self._undisturbed_from_s = None
        self.seen, self._looked_s = queue, at_s
        self._refresh(bool(seen.batches))

    def told_to_switch(self, at_s: float, to: Paradigm, bound: int | None) -> None:
        """A switch was ordered: nothing that is seen until it is done counts as a speed."""
        self.switched_at_s, self.switching, self.paradigm, self.ordered_bound = at_s, True, to, bound
        self._speed.interrupted()

    def doubt_speed(self) -> None:
        """PD may have changed since it was measured, as in a JVM that has warmed up: let the next stay measure it."""
        self._speed.doubted()

    def _saturated(self) -> float:
        return max(LEAST_WAITING, SATURATED_S * self._figures.data_per_s)

    def _note_batches(self, seen: SegmentSeen) -> None:
        for batch in seen.batches:
            self._batches.look(batch)
            if batch.records >= self._saturated():
                self.worked_s[Paradigm.OPERATION_STREAM] += batch.duration_s

    def _note_switch(self, at_s: float, seen: SegmentSeen) -> None:
        if seen.switching and self._stopped is None and self.switched_at_s is not None:
            self._stopped = (at_s, seen.warm)
        if self.switching and not seen.switching and seen.paradigm is self.paradigm:
            if self._stopped is not None:
                self._gaps[self.paradigm, self._stopped[1]].look(at_s - self._stopped[0])
            self._first = None
        if not seen.switching:
            self._stopped = None
            if self.switching and seen.paradigm is not self.paradigm and not self._overdue(at_s):
                return  # The order has not been taken up yet.
            self.switching, self.paradigm = False, seen.paradigm
        else:
            self.switching = True

    def _overdue(self, at_s: float) -> bool:
        """Whether an order was not carried out: then what runs is believed."""
        return self.switched_at_s is None or at_s - self.switched_at_s > OVERDUE_S

    def _note_data_stream(self, at_s: float, seen: SegmentSeen, queue: QueueSeen, waited: bool) -> None:
        # The first progress that shows was made before: what is measured begins behind it.
        self._speed.look(at_s, queue.answered, waited and self._starting.caught_up)
        self._starting.look(at_s, queue.answered, self._clear(queue))
        if not self._starting.caught_up:
            self._speed.at_least(SURE * self._starting.at_least_per_s)
        self._note_latency(at_s, seen, queue)
        self._note_carried(at_s, queue)
        if seen.outputs is not None:
            if self._first is None:
                self._first = (seen.outputs, queue.answered)
            elif queue.answered - self._first[1] > 1000:
                fresh = (seen.outputs - self._first[0]) / (queue.answered - self._first[1])
                known = self._magnification
                self._magnification = fresh if known is None else known + 0.2 * (fresh - known)
                self._first = (seen.outputs, queue.answered)

    def _note_latency(self, at_s: float, seen: SegmentSeen, queue: QueueSeen) -> None:
        """t_dt is what is left of the latency where nothing waits; each look counts once, however much it shows."""
        if queue.length > self._saturated():
            self._undisturbed_from_s = None
        elif self._undisturbed_from_s is None:
            self._undisturbed_from_s = at_s
        elif at_s - self._undisturbed_from_s >= UNDISTURBED_S:
            latencies_s = [origin.latency_s for origin in seen.tail if origin.latency_s is not None]
            if latencies_s:
                self._latency.look(median(latencies_s))

    def _clear(self, queue: QueueSeen) -> bool:
        return queue.length <= max(self._saturated(), CLEAR_S * self.arrival.tick_per_s)

    def _note_carried(self, at_s: float, queue: QueueSeen) -> None:
        """What was answered in a second in which next to nothing waited is a rate that the data stream carries."""
        if not self._clear(queue):
            self._clear_from = None
        elif self._clear_from is None:
            self._clear_from = (at_s, queue.answered)
        elif at_s - self._clear_from[0] >= 1.0:
            self._speed.at_least((queue.answered - self._clear_from[1]) / (at_s - self._clear_from[0]))
            self._clear_from = (at_s, queue.answered)

    def _refresh(self, batches: bool) -> None:
        figures = self._figures
        speed, low = self._speed.per_s, self._latency.seconds
        if speed != figures.data_per_s or low != figures.data_transfer_s:
            operation = self._operation_per_s(speed)
            figures = replace(figures, data_per_s=speed, data_transfer_s=low, operation_per_s=operation)
        if batches:
            figures = self._batches.fitted(figures)
            self._seen_together = (speed, figures.operation_per_s)
        self._figures = figures

    def _operation_per_s(self, speed: float) -> float:
        """PO as long as no new batch tells it: where the data stream has become faster batches have, too.

        A JVM that was cold made both slow; else it would leave its first bursts to micro-batches and no other. It is
        not raised beyond what is assumed where nothing is known, nor once batches were seen at work for a while.
        """
        assumed = speed / ASSUMED_K
        if not (self._calibrated or self._batches.measured):
            return assumed
        then, operation = self._seen_together
        if not self.young(Paradigm.OPERATION_STREAM):
            return operation
        return max(operation, min(operation * speed / then, assumed))


def _gap(to: Paradigm, warm: bool) -> float:
    return WARM_GAP_S[to] if warm else COLD_GAP_S
