"""A segment that is not there: both paradigms as fluid servers with their pauses, batches, boundaries and gaps."""

from __future__ import annotations

from dataclasses import dataclass

from streamgauge.paradigms.actuator import Order, SegmentSeen
from streamgauge.paradigms.equations import SegmentFigures
from streamgauge.paradigms.paradigm import How, Paradigm
from streamgauge.paradigms.queue import OriginSeen
from streamgauge.paradigms.smoothing import BatchSeen

EPOCH_S = 1_700_000_000.0
TAIL_EVERY_S = 0.5
"""Origins of outputs are seen no more often."""


@dataclass(frozen=True)
class SegmentWorld:
    """How a segment really behaves, which the scheduler has to find out."""

    name: str
    figures: SegmentFigures
    magnification: float = 1.0
    boundary_every_s: float = 10.0
    """Length of a real-time batch."""
    boundary_pause_s: float = 0.3
    """How long its end holds everything up."""
    to_data_s: float = 0.7
    """From the stop until real time reads, warm."""
    to_operation_s: float = 0.4
    cold_s: float = 3.0
    warm: bool = True
    """Whether a standby makes even the first switch warm."""


class SimulatedSegment:
    """Works a queue off, step by step; positions count records since the start."""

    def __init__(
        self, world: SegmentWorld, paradigm: Paradigm = Paradigm.DATA_STREAM, bound: int | None = None
    ) -> None:
        self.world, self.paradigm, self.bound = world, paradigm, bound
        self.arrived = 0.0
        self.answered = 0.0
        """Records whose outputs have been written."""
        self.switches = 0
        self.gap_s = 0.0
        """Time without a query, in all."""
        self._position = 0.0
        self._committed = 0.0
        self._began_s = 0.0
        self._held_until_s = 0.0
        self._batch: tuple[float, float, float] | None = None
        self._order: Order | None = None
        self._starting_until_s: float | None = None
        self._finished: list[BatchSeen] = []
        self._history: list[tuple[float, float]] = [(0.0, 0.0)]
        self._oldest = 0
        self._told = 0.0
        self._told_at_s = -TAIL_EVERY_S
        self._told_committed = -1.0
        self._warm = dict.fromkeys(Paradigm, world.warm)

    def step(self, now_s: float, passed_s: float, arriving: float) -> float:
        """Let `passed_s` go by until `now_s`; the records that were answered in it."""
        self.arrived += arriving
        self._history.append((now_s, self.arrived))
        before = self.answered
        if self._starting_until_s is not None:
            self.gap_s += passed_s
            if now_s >= self._starting_until_s - 1e-9:
                self._begin(now_s)
        elif self.paradigm is Paradigm.DATA_STREAM:
            self._stream(now_s, passed_s)
        else:
            self._batches(now_s)
        return self.answered - before

    def switch(self, order: Order, now_s: float) -> None:
        """Take an order: at once, or at the next boundary."""
        self._order = order
        if order.how is How.REPLAY:
            self._stop(now_s)

    def seen(self, now_s: float) -> SegmentSeen:
        """What an actuator could see."""
        tail: tuple[OriginSeen, ...] = ()
        if self.answered >= self._told + 1 and now_s >= self._told_at_s + TAIL_EVERY_S - 1e-9:
            self._told, self._told_at_s = self.answered, now_s
            at_s = self._arrival_of(self.answered)
            latency_s = max(0.0, now_s - at_s) if self.paradigm is Paradigm.OPERATION_STREAM else self._low(now_s, at_s)
            append_ms = round((EPOCH_S + at_s) * 1000)
            tail = (OriginSeen(append_ms, 0, int(self.answered) - 1, append_ms + round(latency_s * 1000)),)
        batches, self._finished = tuple(self._finished), []
        data = self.paradigm is Paradigm.DATA_STREAM
        consumed = {0: int(self._committed)} if self._committed != self._told_committed else None
        self._told_committed = self._committed
        to_boundary_s = self._began_s + self.world.boundary_every_s - now_s if data else self._batch_left_s(now_s)
        return SegmentSeen(
            paradigm=self.paradigm,
            ends={0: int(self.arrived)},
            tail=tail,
            outputs=int(self.answered * self.world.magnification),
            consumed=consumed,
            batches=batches,
            switching=self._starting_until_s is not None,
            warm=self._warm[self.paradigm.other],
            since_boundary_s=now_s - self._began_s if data else 0.0,
            to_boundary_s=max(0.0, to_boundary_s),
            in_batch=0 if data or self._batch is None else self._unanswered_in_batch(self._batch[1]),
        )

    def _low(self, now_s: float, at_s: float) -> float:
        waited = max(0.0, now_s - at_s)
        return self.world.figures.data_transfer_s + (waited if waited > 0.06 else 0.0)

    def _stream(self, now_s: float, passed_s: float) -> None:
        if now_s - self._began_s >= self.world.boundary_every_s:
            self._committed, self._began_s = self._position, now_s
            self._held_until_s = now_s + self.world.boundary_pause_s
            if self._order is not None:
                self._stop(now_s)
                return
        working_s = min(passed_s, max(0.0, now_s - self._held_until_s))
        self._position = min(self.arrived, self._position + self.world.figures.data_per_s * working_s)
        self.answered = max(self.answered, self._position)

    def _batches(self, now_s: float) -> None:
        if self._batch is not None:
            ends_s, records, began_s = self._batch
            if now_s < ends_s - 1e-9:
                return
            self._position += records
            self._committed = self._position
            self.answered = max(self.answered, self._position)
            self._finished.append(BatchSeen(int(records), ends_s - began_s, self.world.figures.schedule_s))
            self._batch = None
            if self._order is not None:
                self._stop(now_s)
                return
        elif self._order is not None:
            self._stop(now_s)
            return
        waiting = self.arrived - self._position
        if waiting >= 1 and now_s - self._began_s >= self.world.figures.interval_s:
            records = min(waiting, self.bound or waiting)
            duration_s = self.world.figures.fixed_s + records / self.world.figures.operation_per_s
            self._batch, self._began_s = (now_s + duration_s, records, now_s), now_s

    def _unanswered_in_batch(self, records: float) -> int:
        return max(0, int(self._position + records - self.answered))

    def _batch_left_s(self, now_s: float) -> float:
        return 0.0 if self._batch is None else self._batch[0] - now_s

    def _stop(self, now_s: float) -> None:
        assert self._order is not None
        order, self._order, self._batch = self._order, None, None
        self._position = self._committed
        warm_s = self.world.to_data_s if order.paradigm is Paradigm.DATA_STREAM else self.world.to_operation_s
        warm, self._warm[order.paradigm] = self._warm[order.paradigm], True
        self._starting_until_s = now_s + (warm_s if warm else self.world.cold_s)
        self.paradigm, self.bound = order.paradigm, order.max_records_per_batch
        self.switches += 1

    def _begin(self, now_s: float) -> None:
        self._starting_until_s, self._began_s, self._held_until_s = None, now_s, 0.0

    def _arrival_of(self, position: float) -> float:
        """When the record at that position arrived; positions only grow."""
        history, place = self._history, self._oldest
        while place + 1 < len(history) and history[place + 1][1] < position:
            place += 1
        self._oldest = place
        if place + 1 >= len(history):
            return history[-1][0]
        (from_s, before), (to_s, after) = history[place], history[place + 1]
        return from_s + (to_s - from_s) * ((position - before) / (after - before) if after > before else 1.0)
