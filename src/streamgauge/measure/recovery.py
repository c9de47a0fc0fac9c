"""How a job came through its faults: from the fault's own instants and the tables that a trial stores."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.measure.quantiles import PERCENTILES, quantile_by_second
from streamgauge.measure.throughput import TENTH_MS
from streamgauge.model.fault import InjectedFault
from streamgauge.store.tables import Table, attach, column_types, detach, one_row, quoted

Floats = NDArray[np.float64]
RecoveryClass = Literal["precise", "rollback", "gap"]

FEWEST_SECONDS = 5
"""Whole undisturbed seconds before the first fault that a band needs."""
STAYS_S = 3
"""Seconds in a row that must lie within the band before latency counts as back."""
DEVIATIONS = 3.0
_NORMAL = 1.4826
"""A median absolute deviation times this is a standard deviation where values are normal."""
_LEAST_SHARE = 0.1
_LEAST_MS = 1.0
_SLOTS_PER_S = 1000 // TENTH_MS
_OF_THE_RECORD = ("partition", "offset", "append_ms")
"""What differs between two records of one output."""


@dataclass(frozen=True)
class Disturbance:
    """What one instant of the timeline did: the faults that were injected together."""

    fault: str
    target: str
    at_ms: int
    until_ms: int | None
    """When all of its targets were back; None where nobody but the job itself recovers from it."""

    @staticmethod
    def of(injected: Iterable[InjectedFault]) -> list[Disturbance]:
        """The disturbances of a trial in the order of time; letting a process go on is none."""
        gathered: dict[tuple[str, int], list[InjectedFault]] = {}
        for each in injected:
            if each.at_ms is not None and each.effect != "running":
                gathered.setdefault((each.fault, each.planned_at_ms), []).append(each)
        found = []
        for (fault, _), hits in gathered.items():
            ends = [each.until_ms for each in hits if each.until_ms is not None]
            at_ms = min(each.at_ms for each in hits if each.at_ms is not None)
            found.append(Disturbance(fault, hits[0].target, at_ms, max(ends, default=None)))
        return sorted(found, key=lambda each: each.at_ms)


@dataclass(frozen=True)
class Recovery:
    """How the job came through one disturbance; times count from the instant of the fault, None is never or unknown."""

    fault: str
    target: str
    at_ms: int
    until_ms: int | None
    detect_s: float | None
    """Until the supervisor or the engine said that something is wrong."""
    output_gap_s: float | None
    """The longest time without an output that reaches beyond the fault."""
    gap_end_ms: int | None
    usual_gap_s: float | None
    """The longest time without an output before the first fault."""
    longest_wait_s: float | None
    """The longest that an event waited for its answer which arrived in the fault's second or later."""
    latency_back_s: float | None
    p99_back_s: float | None
    band_ms: float | None
    """The highest one-second median that still counts as what it was before the first fault."""
    peak_p50_ms: float | None
    """The highest one-second median since the fault."""
    backlog_peak: int
    drained_s: float | None
    catch_up_per_s: float | None
    """The most events consumed in one second while the backlog was drained; None where there was none to drain."""
    events_reprocessed: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)


def measure_recovery(
    tenths: pa.Table, latency: pa.Table, disturbances: Sequence[Disturbance], notices_ms: Sequence[int], start_ms: int
) -> list[Recovery]:
    """Every disturbance with its recovery, up to the next one.

    `tenths` is what `measure_tenths` gives, `latency` the counts per second, whose second 0 begins at `start_ms`.
    """
    if not disturbances:
        return []
    first_ms = disturbances[0].at_ms
    medians = _Seconds.of(latency, "p50", tenths, start_ms)
    tails = _Seconds.of(latency, "p99", tenths, start_ms)
    flow = _Flow.of(tenths)
    found = []
    for number, each in enumerate(disturbances):
        rest = disturbances[number + 1 :]
        horizon_ms = rest[0].at_ms if rest else flow.end_ms
        gap = flow.gap(each.at_ms, horizon_ms)
        level = flow.level(first_ms)
        drained_ms, peak = flow.drained(each.at_ms, horizon_ms, level)
        detect = next((at for at in sorted(notices_ms) if each.at_ms <= at < max(horizon_ms, each.at_ms + 1)), None)
        found.append(
            Recovery(
                fault=each.fault,
                target=each.target,
                at_ms=each.at_ms,
                until_ms=each.until_ms,
                detect_s=_since(each.at_ms, detect),
                output_gap_s=None if gap is None else (gap[1] - gap[0]) / 1000,
                gap_end_ms=None if gap is None else gap[1],
                usual_gap_s=flow.usual_gap_s(first_ms),
                longest_wait_s=_longest_wait_s(latency, each.at_ms - start_ms, horizon_ms - start_ms),
                latency_back_s=medians.back_s(each.at_ms, horizon_ms, first_ms),
                p99_back_s=tails.back_s(each.at_ms, horizon_ms, first_ms),
                band_ms=medians.upper(first_ms),
                peak_p50_ms=medians.peak(each.at_ms, horizon_ms),
                backlog_peak=peak,
                drained_s=_since(each.at_ms, drained_ms),
                catch_up_per_s=flow.fastest(gap[1], drained_ms or horizon_ms) if gap and peak > level else None,
            )
        )
    return found


def _since(at_ms: int, later_ms: int | None) -> float | None:
    return None if later_ms is None else max(0, later_ms - at_ms) / 1000


def _longest_wait_s(latency: pa.Table, from_ms: int, to_ms: int) -> float | None:
    """Where one of several tasks fails the others go on answering: then only its events tell for how long."""
    second = latency["second"]
    inside = pc.and_(pc.greater_equal(second, from_ms // 1000), pc.less(second, -(-to_ms // 1000)))
    waited = pc.max(latency.filter(pc.and_(inside, pc.equal(latency["kind"], "event")))["latency_ms"]).as_py()
    return None if waited is None else waited / 1000


@dataclass(frozen=True)
class _Flow:
    """What went through the job, in tenths of a second."""

    at_ms: NDArray[np.int64]
    backlog: NDArray[np.int64]
    """Events that waited at the end of each slot."""
    consumed: NDArray[np.int64]
    gaps: NDArray[np.int64]
    """(from, to) of every time between two outputs of different slots."""
    end_ms: int
    last_in_ms: int
    """When the last event had come in."""
    busy_until_ms: int
    """When nothing was left to do: the last event had come in, and was consumed."""

    @staticmethod
    def of(tenths: pa.Table) -> _Flow:
        at_ms, arrived, consumed = (tenths[n].to_numpy() for n in ("at_ms", "in_events", "consumed_events"))
        queue = np.cumsum(arrived - consumed)
        first, last = (tenths[n].drop_null().to_numpy() for n in ("first_out_ms", "last_out_ms"))
        filled = np.flatnonzero(arrived > 0)
        end_ms = int(at_ms[-1]) + TENTH_MS if len(at_ms) else 0
        # All is consumed in the end, so lengths are counted back from there.
        backlog = queue - (queue[-1] if len(queue) else 0)
        waiting = np.flatnonzero(backlog > 0)
        last_in_ms = int(at_ms[filled[-1]]) + TENTH_MS if len(filled) else end_ms
        return _Flow(
            at_ms=at_ms,
            backlog=backlog,
            consumed=consumed,
            gaps=np.column_stack([last[:-1], first[1:]]) if len(first) > 1 else np.zeros((0, 2), np.int64),
            end_ms=end_ms,
            last_in_ms=last_in_ms,
            busy_until_ms=max(last_in_ms, int(at_ms[waiting[-1]]) + TENTH_MS if len(waiting) else 0),
        )

    def gap(self, at_ms: int, horizon_ms: int) -> tuple[int, int] | None:
        """The longest time without output that ends after the fault and begins while there was something to do."""
        mine = self.gaps[(self.gaps[:, 1] > at_ms) & (self.gaps[:, 0] < min(horizon_ms, self.busy_until_ms))]
        if len(mine) == 0:
            return None
        longest = mine[np.argmax(mine[:, 1] - mine[:, 0])]
        return int(longest[0]), int(longest[1])

    def usual_gap_s(self, first_ms: int) -> float | None:
        mine = self.gaps[self.gaps[:, 1] <= first_ms]
        return float((mine[:, 1] - mine[:, 0]).max()) / 1000 if len(mine) else None

    def level(self, first_ms: int) -> float:
        """The backlog that is nothing out of the way: what 95 % of the slots before the first fault did not exceed.

        Where all events had come in by then, as under a preloaded load, the backlog has no level but its end.
        """
        if self.last_in_ms <= first_ms:
            return 0.0
        before = self.backlog[self.at_ms + TENTH_MS <= first_ms]
        return float(np.quantile(before, 0.95, method="inverted_cdf")) if len(before) else 0.0

    def drained(self, at_ms: int, horizon_ms: int, level: float) -> tuple[int | None, int]:
        """When the backlog was back at its level after its peak, and how high that was."""
        inside = np.flatnonzero((self.at_ms + TENTH_MS > at_ms) & (self.at_ms < horizon_ms))
        if len(inside) == 0:
            return None, 0
        mine = self.backlog[inside]
        top = int(np.argmax(mine))
        if mine[top] <= level:
            return at_ms, int(mine[top])
        low = np.flatnonzero(mine[top:] <= level)
        return (int(self.at_ms[inside[top + low[0]]]) + TENTH_MS if len(low) else None), int(mine[top])

    def fastest(self, from_ms: int, to_ms: int) -> float | None:
        """The most events consumed in one second that begins between the two instants."""
        up_to = np.concatenate([[0], np.cumsum(self.consumed)])
        begins = np.flatnonzero((self.at_ms + TENTH_MS > from_ms) & (self.at_ms <= to_ms))
        if len(begins) == 0:
            return None
        ends = np.minimum(begins + _SLOTS_PER_S, len(self.consumed))
        return float((up_to[ends] - up_to[begins]).max())


@dataclass(frozen=True)
class _Seconds:
    """A percentile of event latency in every second in which events arrived; infinite where none was answered."""

    start_ms: int
    values: Floats
    """By second from `start_ms`; not-a-number where nothing arrived or too little to tell."""

    @staticmethod
    def of(latency: pa.Table, name: str, tenths: pa.Table, start_ms: int) -> _Seconds:
        seconds, found, sizes = quantile_by_second(latency, name)
        second_in = (tenths["at_ms"].to_numpy() - start_ms) // 1000
        arrived = tenths["in_events"].to_numpy()
        inside = second_in >= 0
        last = max(int(seconds.max(initial=-1)), int(second_in[inside & (arrived > 0)].max(initial=-1)))
        values = np.full(last + 1, np.nan)
        came = np.bincount(second_in[inside], arrived[inside], minlength=last + 1)[: last + 1]
        values[came > 0] = np.inf
        kept = (seconds >= 0) & (seconds <= last)
        carried = (sizes * (100_000 - PERCENTILES[name]) >= 100_000) | (name == "p50")
        values[seconds[kept]] = np.where(carried, found.astype(np.float64), np.nan)[kept]
        return _Seconds(start_ms, values)

    def upper(self, first_ms: int) -> float | None:
        """Median + 3 robust standard deviations of the undisturbed seconds, and a tenth and a millisecond at least."""
        ends = self.start_ms + (np.arange(len(self.values)) + 1) * 1000
        # A second whose events were answered after the fault belongs to the fault.
        before = self.values[(ends + np.nan_to_num(self.values, posinf=np.inf) <= first_ms) & np.isfinite(self.values)]
        if len(before) < FEWEST_SECONDS:
            return None
        middle = float(np.median(before))
        spread = DEVIATIONS * _NORMAL * float(np.median(np.abs(before - middle)))
        return middle + max(spread, _LEAST_SHARE * middle, _LEAST_MS)

    def back_s(self, at_ms: int, horizon_ms: int, first_ms: int) -> float | None:
        """From the fault to the first second that opens three in a row within the band; fewer only at the end."""
        upper = self.upper(first_ms)
        if upper is None:
            return None
        first, last = self._slots(at_ms, horizon_ms)
        told = [second for second in range(first, last) if not math.isnan(self.values[second])]
        good = [bool(self.values[second] <= upper) for second in told]
        for place, second in enumerate(told):
            if all(good[place : place + STAYS_S]):
                return max(0.0, (self.start_ms + second * 1000 - at_ms) / 1000)
        return None

    def peak(self, at_ms: int, horizon_ms: int) -> float | None:
        first, last = self._slots(at_ms, horizon_ms)
        mine = self.values[first:last]
        answered = mine[np.isfinite(mine)]
        return float(answered.max()) if len(answered) else None

    def _slots(self, at_ms: int, horizon_ms: int) -> tuple[int, int]:
        first = max(0, (at_ms - self.start_ms) // 1000)
        return first, min(len(self.values), -(-(horizon_ms - self.start_ms) // 1000))


def with_reprocessed(
    connection: duckdb.DuckDBPyConnection, outputs: Sequence[Table], recoveries: Sequence[Recovery]
) -> list[Recovery]:
    """The recoveries, each with how many events were taken again: at least so many, since not every one leaves a trace.

    The more of two: how far origins step back behind the gap, and the events of which an output came twice, which also
    tells where only some tasks stood still and the silence of all outputs is another one.
    """
    with _readable_outputs(connection, outputs) as names:
        found = []
        for number, each in enumerate(recoveries):
            horizon_ms = recoveries[number + 1].at_ms if number + 1 < len(recoveries) else None
            back = _stepped_back(connection, names, each.gap_end_ms)
            again = _came_twice(connection, names, each.at_ms, horizon_ms)
            told = [count for count in (back, again or None) if count is not None]
            found.append(replace(each, events_reprocessed=max(told, default=None)))
    return found


@contextlib.contextmanager
def _readable_outputs(connection: duckdb.DuckDBPyConnection, outputs: Sequence[Table]) -> Iterator[list[str]]:
    names = [f"output_{number}" for number in range(len(outputs))]
    for name, table in zip(names, outputs, strict=True):
        attach(connection, name, table)
    try:
        yield names
    finally:
        for name in names:
            detach(connection, name)


def _stepped_back(connection: duckdb.DuckDBPyConnection, names: Sequence[str], cut_ms: int | None) -> int | None:
    """Σ over input partitions of max(0, furthest origin before the cut + 1 − lowest origin behind it)."""
    if cut_ms is None:
        return None
    parts = (f"select append_ms, origin_partition, origin_offset from {quoted(name)}" for name in names)
    (again,) = one_row(
        connection,
        f"""
        select coalesce(sum(greatest(furthest + 1 - lowest, 0)), 0)::bigint from (
            select max(origin_offset) filter (append_ms < {cut_ms}) as furthest,
                   min(origin_offset) filter (append_ms >= {cut_ms}) as lowest
            from ({" union all ".join(parts)}) where origin_partition is not null group by origin_partition)
        """,
    )
    return int(again)


def _came_twice(connection: duckdb.DuckDBPyConnection, names: Sequence[str], from_ms: int, to_ms: int | None) -> int:
    """Events of which an output came twice, the last time within these instants."""
    parts = []
    for name in names:
        same = ", ".join(quoted(column) for column in column_types(connection, name) if column not in _OF_THE_RECORD)
        parts.append(
            f"select origin_partition, origin_offset from {quoted(name)} where origin_partition is not null "
            f"group by {same} having min(append_ms) < max(append_ms) and max(append_ms) >= {from_ms}"
            + ("" if to_ms is None else f" and max(append_ms) < {to_ms}")
        )
    (again,) = one_row(
        connection, f"select count(*)::bigint from (select distinct * from ({' union all '.join(parts)}))"
    )
    return int(again)


def recovery_class(verdict: Mapping[str, Any]) -> RecoveryClass:
    """MA7: precise where the outputs are those of a run without a fault, rollback where none is lost, gap otherwise."""
    if verdict["lost"]:
        return "gap"
    imprecise = ("wrong", "unexpected", "duplicated", "out_of_order")
    return "rollback" if any(verdict[name] for name in imprecise) else "precise"


_WORST = ("detect_s", "output_gap_s", "longest_wait_s", "latency_back_s", "p99_back_s", "drained_s")


def recovery_figures(recoveries: Sequence[Recovery], verdict: Mapping[str, Any]) -> dict[str, Any]:
    """A trial's recovery in one line: the worst of each time (None where one has none), and what all took again."""
    worst = {name: _worst([getattr(each, name) for each in recoveries]) for name in _WORST}
    rates = [each.catch_up_per_s for each in recoveries if each.catch_up_per_s is not None]
    again = [each.events_reprocessed for each in recoveries if each.events_reprocessed is not None]
    return {
        **worst,
        "catch_up_per_s": max(rates, default=None),
        "events_reprocessed": sum(again) if again else None,
        "lost_share": verdict["lost"] / verdict["expected"] if verdict["expected"] else None,
        "class": recovery_class(verdict),
    }


def _worst(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None
