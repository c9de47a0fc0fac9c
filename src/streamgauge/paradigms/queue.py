"""How many records wait, from what is seen live: the input's end offsets and the origins of the newest outputs.

A real-time batch tells its offsets only when it ends, so the position of a segment is read from its outputs: an output
with origin (partition, offset) says that this record has been answered. By Little's law the queue is also what arrived
since the oldest record that is not answered, which needs no clock but the one that the offsets were read by.

Origins are seen twice a second and, on a busy machine, of some partitions only. Between two sights outputs are counted:
as many records are answered as the data stream was seen to answer with so many outputs.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SKEW_S = 1.0
"""No partition is taken to be further behind the foremost output than this.

A partition whose records are all filtered out never shows an origin; without this limit it would look like an endless
queue. Of a partition that really is behind by more, only this much is seen until `consumed` or an output tells.
"""
SPARSE_OUTPUTS = 3.0
"""Records since the newest output count as waiting only beyond this many times the usual distance of two outputs.

With independent hits a longer run without one has a chance of 5 % when nothing waits.
"""
LEAST_COUNTED = 50
"""Records between two sights from which on they say how many outputs a record makes."""
COUNT_SHARE = 0.3
REMEMBERED_S = 60.0
DENSITY_MEMORY_S = 10.0


@dataclass(frozen=True)
class OriginSeen:
    """The origin of an output: the latest input record that it needed."""

    append_ms: int
    partition: int
    offset: int
    output_append_ms: int | None = None
    """When the output itself was appended, where the tail tells it."""

    @property
    def latency_s(self) -> float | None:
        """Output latency by the log's own clock."""
        return None if self.output_append_ms is None else max(0, self.output_append_ms - self.append_ms) / 1000


@dataclass(frozen=True)
class QueueSeen:
    """What waits at one moment."""

    at_s: float
    arrived: int
    """Records in the input so far."""
    answered: float
    """Records of them that outputs, or the engine, say are dealt with."""
    length: float
    """L: records that wait."""
    age_s: float
    """How long the oldest of them has waited; 0 where none waits."""
    newest_output_age_s: float | None
    """Since the newest output's origin was appended, by the log's clock; None before any output."""


class OutputCount:
    """How many records are answered, between two sights of origins, by the number of outputs since the last one."""

    def __init__(self, per_record: float | None) -> None:
        self._per_record = per_record
        self._from: tuple[int, float] | None = None
        """Outputs and answered records at the last sight that moved."""
        self._exact: tuple[int, float] | None = None
        """The same at the last sight that left no doubt."""
        self._reached = 0.0

    def look(self, outputs: int | None, least: float, most: float, told: bool) -> float:
        """Records answered, given that they are between `least` and `most`; `told` where origins have been seen."""
        if outputs is None:
            self._from = self._exact = None
            self._reached = least
            return least
        counted = min(max(self._counted(outputs), least), most)
        if not told:
            return counted
        moved, self._reached = least > self._reached, max(self._reached, least)
        if most > least:
            self._from = (outputs, counted)
        elif moved:
            self._learn(outputs, least)
            self._from = self._exact = (outputs, least)
        elif self._from is not None and outputs > self._from[0]:
            # What comes out has come out before: it is done again, and says nothing until it is through.
            self._from = self._exact = None
        return counted

    def _counted(self, outputs: int) -> float:
        if self._from is None or not self._per_record:
            return 0.0
        return self._from[1] + max(0, outputs - self._from[0]) / self._per_record

    def _learn(self, outputs: int, answered: float) -> None:
        if self._exact is None or answered - self._exact[1] < LEAST_COUNTED:
            return
        seen = (outputs - self._exact[0]) / (answered - self._exact[1])
        known = self._per_record
        self._per_record = seen if known is None else known + COUNT_SHARE * (seen - known)


class QueueEstimator:
    """Follows one segment's queue.

    `start` are the offsets at which its query begins (default: the first ones seen); `magnification` is how many
    outputs a record is expected to make, until that has been seen.
    """

    def __init__(self, start: Mapping[int, int] | None = None, magnification: float | None = None) -> None:
        self._positions: dict[int, int] = dict(start or {})
        self._frontier_ms: int | None = None
        self._times: list[float] = []
        self._totals: list[int] = []
        self._ends: list[dict[int, int]] = []
        self._outputs: int | None = None
        self._answered = 0.0
        self._recent_outputs = magnification or 0.0
        self._recent_answered = 1.0 if magnification else 0.0
        self._count = OutputCount(magnification)

    def look(
        self,
        at_s: float,
        ends: Mapping[int, int],
        tail: Iterable[OriginSeen] = (),
        outputs: int | None = None,
        consumed: Mapping[int, int] | None = None,
        flowing: bool = True,
    ) -> QueueSeen:
        """The queue at that moment (seconds since the epoch); `outputs` is the end of the output topic, if known.

        Only while it is `flowing`, as data stream and in no switch, do outputs come as records are answered.
        """
        passed_s = at_s - self._times[-1] if self._times else 0.0
        if not self._times:
            # What lay in the input before the first look waits too, if the engine says where it begins.
            self._positions = {**(consumed or {}), **self._positions}
        self._remember(at_s, dict(ends))
        told: set[int] = set()
        for origin in tail:
            told.add(origin.partition)
            self._move(origin.partition, origin.offset + 1)
            self._frontier_ms = max(self._frontier_ms or 0, origin.append_ms)
        for partition, offset in (consumed or {}).items():
            self._move(partition, offset)
        self._catch_up()
        arrived = self._totals[-1]
        least = min(float(sum(self._positions.get(p, 0) for p in ends)), arrived)
        # Of a partition that shows nothing in this sight, all may have been answered.
        most = float(sum(self._positions.get(p, 0) if p in told else end for p, end in ends.items()))
        self._note_density(passed_s, least, outputs)
        answered = self._count.look(outputs if flowing else None, least, min(most, arrived), bool(told))
        unanswered = arrived - answered
        length = max(0.0, unanswered - (self._slack() if consumed is None else 0.0))
        newest = None if self._frontier_ms is None else max(0.0, at_s - self._frontier_ms / 1000)
        return QueueSeen(at_s, arrived, answered, length, self._age(at_s, arrived - length, length), newest)

    def restarted(self, committed: Mapping[int, int]) -> None:
        """A new query begins here: what outputs said before stays true, and repeats move nothing."""
        for partition, offset in committed.items():
            self._move(partition, offset)

    def _move(self, partition: int, offset: int) -> None:
        if offset > self._positions.get(partition, 0):
            self._positions[partition] = offset

    def _remember(self, at_s: float, ends: dict[int, int]) -> None:
        for partition, end in ends.items():
            if partition not in self._positions:
                self._positions[partition] = end if not self._times else 0
        self._times.append(at_s)
        self._totals.append(sum(ends.values()))
        self._ends.append(ends)
        if len(self._times) > 64 and self._times[len(self._times) // 2] < at_s - REMEMBERED_S:
            half = len(self._times) // 2
            del self._times[:half], self._totals[:half], self._ends[:half]

    def _catch_up(self) -> None:
        """Move partitions that show nothing to where they must be, if the others are as far as they are."""
        if self._frontier_ms is None or len(self._ends[-1]) < 2:
            return
        place = bisect_right(self._times, self._frontier_ms / 1000 - SKEW_S) - 1
        if place >= 0:
            for partition, end in self._ends[place].items():
                self._move(partition, end)

    def _note_density(self, passed_s: float, answered: float, outputs: int | None) -> None:
        if outputs is None:
            return
        made, moved = outputs - (self._outputs or 0), max(0.0, answered - self._answered)
        if self._outputs is not None and (made > 0 or moved > 0):
            # Only progress makes older progress fade: silence must not make the outputs look sparser or denser.
            kept = math.exp(-passed_s / DENSITY_MEMORY_S)
            self._recent_outputs = self._recent_outputs * kept + max(0, made)
            self._recent_answered = self._recent_answered * kept + moved
        self._outputs, self._answered = outputs, answered

    def _slack(self) -> float:
        if self._outputs is None:
            return 0.0
        if self._recent_outputs <= 0:
            return math.inf  # Nothing ever came out: silence is the rule here and says nothing of a queue.
        return SPARSE_OUTPUTS * (max(1.0, self._recent_answered / self._recent_outputs) - 1.0)

    def _age(self, at_s: float, reached: float, length: float) -> float:
        """Since when more than `reached` records are in the input."""
        if length <= 0:
            return 0.0
        place = bisect_left(self._totals, reached)
        if place <= 0:
            return max(0.0, at_s - self._times[0])
        place = min(place, len(self._times) - 1)
        before, after = self._totals[place - 1], self._totals[place]
        share = (reached - before) / (after - before) if after > before else 1.0
        return max(0.0, at_s - (self._times[place - 1] + share * (self._times[place] - self._times[place - 1])))
