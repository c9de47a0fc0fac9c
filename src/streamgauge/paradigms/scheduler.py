"""When to switch: sights in, decisions out. No clock, no thread, no Spark: the same sights give the same decisions.

Up (DO2, DO3): the queue is beyond L_up, or will be within the time that a confirmed burst is expected to last, and
going there and back is expected to cost less than staying. Down: the queue is below L_down, the data stream can carry
the rate, and going back costs less than staying for as long as the rate is expected to hold. A rate that has held for
some time is expected to hold as long again; so a mistake costs about as much as it would have cost not to make it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from streamgauge.paradigms import forecast
from streamgauge.paradigms.actuator import Observation, Order, SegmentSeen
from streamgauge.paradigms.decisions import Decision, inputs_of
from streamgauge.paradigms.equations import ASSUMED_K, FULL, SwitchPoint, switch_point
from streamgauge.paradigms.forecast import Situation, Way
from streamgauge.paradigms.paradigm import How, Paradigm
from streamgauge.paradigms.range import switch_range
from streamgauge.paradigms.settings import SchedulerSettings
from streamgauge.paradigms.ticks import Tick
from streamgauge.paradigms.tracking import Known, SegmentTracker

CONFIRMING_TICKS = 3
"""A spike shorter than a tick touches two of them: the third tells a burst from it."""
LONGEST_EXPECTED_S = 120.0
GROWN = 0.3
"""A burst whose queue has not grown by this share of what PD makes expect is carried: PD is higher than measured."""
PROSPECTIVE_BURST = 2.0
"""The burst that micro-batches are prepared for, as a multiple of PD."""
GUESSED_BOUNDS = (1.0, 2.4, 5.8)
"""As long as the speeds are assumed, so is the bound: it is prepared so many times as large, too."""
RELAPSE_S = 5.0
"""A segment that must leave the data stream again so soon came back too early."""
FIRST_PATIENCE_S = 0.5
LONGEST_PATIENCE_S = 8.0
FORGIVEN_S = 60.0
FIRST_RETRY_S = 30.0
LONGEST_RETRY_S = 600.0
"""PD cannot be measured in the operation stream, and one of a JVM that was cold is too low. So after some time there
the data stream is tried again; each time that fails the next attempt waits twice as long."""
LIKELY_RETRY_S = 8.0
"""A data stream that is slower than the paper's K says, as a share of PO, was probably measured cold: it is tried
again so soon, at a rate that this share of PO would carry."""
YOUNG_RETRY_S = 12.0
YOUNG_GROWTH = 3.0
"""PD that was seen in little work may be so many times as high, and is tried again before the usual time."""
DOUBLED_S = 120.0
"""What PD may have become is taken to grow with its age, to twice what it was after this long."""

Costs = tuple[float, float]
"""Expected cost of staying, and of switching."""


class Scheduler:
    """Decides for all segments of a chain; `on_tick` and `on_decision` are told what it saw and what it decided."""

    def __init__(
        self,
        segments: Sequence[Known],
        settings: SchedulerSettings | None = None,
        on_tick: Callable[[Tick], None] | None = None,
        on_decision: Callable[[Decision], None] | None = None,
    ) -> None:
        self.settings = settings or SchedulerSettings()
        self.trackers = {known.name: SegmentTracker(known) for known in segments}
        self._on_tick, self._on_decision = on_tick, on_decision
        self._held: set[str] = set()
        self._patience_s = dict.fromkeys(self.trackers, 0.0)
        self._returned_at_s: dict[str, float] = {}
        self._failed = dict.fromkeys(self.trackers, 0)
        """Attempts to return that were made because PD may be old, one after another."""
        self._retried: set[str] = set()

    def tick(self, now: Observation) -> list[Order]:
        """Take what is seen, at least four times a second, and say what is to be switched."""
        points: dict[str, SwitchPoint] = {}
        for name, seen in now.segments.items():
            tracker = self.trackers[name]
            tracker.look(now.at_s, seen)
            if self._on_tick is None and tracker.idle:
                self._held.discard(name)
                continue
            points[name] = switch_point(tracker.figures, self._expected_per_s(tracker), self.settings.delta)
            if self._on_tick is not None:
                self._on_tick(Tick.of(now.at_s, tracker, points[name]))
        orders: list[Order] = []
        for name, seen in now.segments.items():
            tracker = self.trackers[name]
            if name not in points or tracker.switching or tracker.pinned is not None:
                continue
            if not self._may_switch(tracker, now.at_s):
                continue
            if tracker.paradigm is Paradigm.DATA_STREAM and tracker.speed_known and tracker.going:
                orders += self._consider_operation(now, tracker, seen, points[name])
            elif tracker.paradigm is Paradigm.OPERATION_STREAM:
                orders += self._consider_return(now, tracker, seen, points[name])
        return orders

    def prospects(self) -> list[Order]:
        """What each segment would next be told, to be prepared: for a burst its rate is not known yet."""
        found = []
        for name, tracker in self.trackers.items():
            if tracker.pinned is not None or tracker.switching:
                continue
            to = tracker.paradigm.other
            if to is Paradigm.DATA_STREAM:
                found.append(Order(name, to, How.REPLAY))
                continue
            bound = self._bound(tracker, PROSPECTIVE_BURST * tracker.figures.data_per_s)
            times = (1.0,) if tracker.measured else GUESSED_BOUNDS
            found += [Order(name, to, How.REPLAY, round(bound * each)) for each in times]
        return found

    def _may_switch(self, tracker: SegmentTracker, at_s: float) -> bool:
        return tracker.switched_at_s is None or at_s - tracker.switched_at_s >= self.settings.dwell_s

    def _goes_on(self, tracker: SegmentTracker) -> bool:
        """Whether more than the data stream works off has arrived for so long that it is no spike."""
        arrival = tracker.arrival
        return arrival.hot_s >= self.settings.confirm_s and arrival.hot_ticks >= CONFIRMING_TICKS

    def _expected_per_s(self, tracker: SegmentTracker) -> float:
        """V: what arrives now or, within a spike that may be over in a moment, what arrived before it."""
        arrival = tracker.arrival
        if arrival.hot_ticks == 0:
            return arrival.fast_per_s if tracker.paradigm is Paradigm.OPERATION_STREAM else self._baseline(tracker)
        return arrival.burst_per_s if self._goes_on(tracker) else self._baseline(tracker)

    @staticmethod
    def _baseline(tracker: SegmentTracker) -> float:
        known = tracker.arrival.baseline_per_s
        return min(tracker.arrival.fast_per_s, tracker.figures.data_per_s / 2) if known is None else known

    def _consider_operation(
        self, now: Observation, tracker: SegmentTracker, seen: SegmentSeen, point: SwitchPoint
    ) -> list[Order]:
        assert tracker.seen is not None
        goes_on, figures = self._goes_on(tracker), tracker.figures
        lasting_s = min(max(self.settings.burst_s, tracker.arrival.hot_s), LONGEST_EXPECTED_S) if goes_on else 0.0
        rate, after = self._expected_per_s(tracker), min(self._baseline(tracker), FULL * figures.data_per_s)
        queue = tracker.seen.length
        ahead = queue + max(0.0, rate - figures.data_per_s) * lasting_s
        carried = queue <= point.up and queue < GROWN * (rate - figures.data_per_s) * tracker.arrival.hot_s
        if max(queue, ahead) <= point.up or carried:
            self._held.discard(tracker.name)
            return []
        situation = Situation(queue, tracker.seen.age_s, rate, lasting_s, after)
        how, costs, gap_s = self._cheapest_up(tracker, seen, situation)
        names = list(self.trackers)
        magnifications = tuple(t.magnification for t in self.trackers.values())
        reach = switch_range(magnifications, names.index(tracker.name) + 1)
        chosen = [names[place - 1] for place in reach]
        targets = [name for name in chosen if name == tracker.name or self._joins(name, now.at_s)]
        if costs[1] * (1 + self.settings.delta) >= costs[0]:
            if tracker.name not in self._held:
                self._held.add(tracker.name)
                reason = f"the data stream is expected to catch up by itself, {_compared(costs)}"
                self._tell(now, tracker, "stay", None, reason, point, rate, after, costs, gap_s, chosen, (), None)
            return []
        self._held.discard(tracker.name)
        began = (
            f"queue {queue:,.0f} > L_up {point.up:,.0f}" if queue > point.up else f"a burst of {rate:,.0f}/s goes on"
        )
        # With a margin for what arrives until the first batch begins.
        repeated = self._repeated(tracker, seen, after) if how is How.REPLAY else 0.0
        waiting = 1.1 * (queue + repeated + rate * gap_s)
        shares = {n: self._share(tracker.name, n) for n in targets}
        # What is still held for a spike may be a burst: batches that are too small for it would never catch up.
        most_per_s = max(rate, tracker.arrival.burst_per_s)
        bounds = {n: self._bound(self.trackers[n], most_per_s * share, waiting * share) for n, share in shares.items()}
        reason = f"{began}, {_compared(costs)}"
        bound = bounds[tracker.name]
        self._tell(now, tracker, "switch", how, reason, point, rate, after, costs, gap_s, chosen, targets, bound)
        self._note_relapse(tracker.name, now.at_s)
        return [self._order(n, now.at_s, Paradigm.OPERATION_STREAM, how, bounds[n]) for n in targets]

    def _joins(self, name: str, at_s: float) -> bool:
        tracker = self.trackers[name]
        free = tracker.pinned is None and not tracker.switching and self._may_switch(tracker, at_s)
        return free and tracker.paradigm is Paradigm.DATA_STREAM

    def _share(self, first: str, name: str) -> float:
        """How many records reach a later segment for each of the overloaded one."""
        names = list(self.trackers)
        between = names[names.index(first) : names.index(name)]
        return math.prod(self.trackers[each].magnification for each in between)

    def _bound(self, tracker: SegmentTracker, rate: float, waiting: float = 0.0) -> int:
        return forecast.batch_bound(tracker.figures, rate, self.settings.catch_up_s, waiting)

    def _cheapest_up(
        self, tracker: SegmentTracker, seen: SegmentSeen, situation: Situation
    ) -> tuple[How, Costs, float]:
        gap_s = tracker.gap_s(Paradigm.OPERATION_STREAM, seen.warm)
        back = Way(0.0, tracker.gap_s(Paradigm.DATA_STREAM, True))
        ways = {How.DRAIN: Way(seen.to_boundary_s, gap_s)}
        if seen.can_replay:
            ways[How.REPLAY] = Way(0.0, gap_s, self._repeated(tracker, seen, situation.afterwards_per_s))
        stay = forecast.stay_in_data(tracker.figures, situation)
        courses = {
            how: forecast.go_to_operation(tracker.figures, situation, way, back, self.settings)
            for how, way in ways.items()
        }
        lasting_s = max(map(forecast.length_s, (stay, *courses.values())))
        low = tracker.figures.data_transfer_s
        priced = {how: forecast.cost(course, self.settings, lasting_s, low) for how, course in courses.items()}
        how = min(priced, key=lambda each: priced[each])
        return how, (forecast.cost(stay, self.settings, lasting_s, low), priced[how]), gap_s

    @staticmethod
    def _repeated(tracker: SegmentTracker, seen: SegmentSeen, usual_per_s: float) -> float:
        """Records that a replay does again: counted or, before any boundary was seen, worked off at PD at most."""
        if tracker.uncommitted is not None:
            return tracker.uncommitted
        usual = min(usual_per_s, tracker.figures.data_per_s) * seen.since_boundary_s
        return usual + min(tracker.arrival.hot_s, seen.since_boundary_s) * tracker.figures.data_per_s

    def _consider_return(
        self, now: Observation, tracker: SegmentTracker, seen: SegmentSeen, point: SwitchPoint
    ) -> list[Order]:
        assert tracker.seen is not None
        arrival, figures = tracker.arrival, tracker.figures
        # What the running batch holds is as good as done, if it is waited for.
        after_batch = max(0.0, tracker.seen.length - seen.in_batch)
        calm_s = max(self._patience_s[tracker.name], 1e-9)
        if after_batch >= point.down:
            return []
        if arrival.calm_s < calm_s or arrival.fast_per_s >= FULL * figures.data_per_s:
            return self._consider_retry(now, tracker, seen, point)
        lasting_s = min(max(self.settings.dwell_s, arrival.calm_s), LONGEST_EXPECTED_S)
        rate = arrival.fast_per_s
        situation = Situation(tracker.seen.length, tracker.seen.age_s, rate, lasting_s, rate)
        costs, gap_s = self._costs_down(tracker, seen, situation)
        if costs[1] * (1 + self.settings.delta) >= costs[0]:
            return []
        reason = f"queue {after_batch:,.0f} < L_down {point.down:,.0f} and the data stream carries {rate:,.0f}/s, "
        reason += _compared(costs)
        return [self._return(now, tracker, reason, point, rate, costs, gap_s)]

    def _return(
        self,
        now: Observation,
        tracker: SegmentTracker,
        reason: str,
        point: SwitchPoint,
        rate: float,
        costs: Costs,
        gap_s: float,
    ) -> Order:
        name, how = tracker.name, How.DRAIN
        self._tell(now, tracker, "switch", how, reason, point, rate, rate, costs, gap_s, (name,), (name,), None)
        self._returned_at_s[name] = now.at_s
        return self._order(name, now.at_s, Paradigm.DATA_STREAM, how, None)

    def _consider_retry(
        self, now: Observation, tracker: SegmentTracker, seen: SegmentSeen, point: SwitchPoint
    ) -> list[Order]:
        name, rate = tracker.name, tracker.arrival.steady_per_s
        aged_s = now.at_s - (now.at_s if tracker.switched_at_s is None else tracker.switched_at_s)
        figures = tracker.figures
        likely = rate <= ASSUMED_K * figures.operation_per_s
        young = tracker.young(Paradigm.DATA_STREAM) and rate <= YOUNG_GROWTH * figures.data_per_s
        first_s = LIKELY_RETRY_S if likely else YOUNG_RETRY_S if young else FIRST_RETRY_S
        wait_s = first_s * 2 ** self._failed[name]
        if not (likely or young) and rate > (1 + min(1.0, aged_s / DOUBLED_S)) * figures.data_per_s:
            return []
        if aged_s < min(wait_s, LONGEST_RETRY_S):
            return []
        self._failed[name] += 1
        self._retried.add(name)
        gap_s = tracker.gap_s(Paradigm.DATA_STREAM, seen.warm)
        reason = f"PD was measured {aged_s:,.0f} s ago: the data stream is tried again"
        order = self._return(now, tracker, reason, point, rate, (math.nan, math.nan), gap_s)
        tracker.doubt_speed()
        return [order]

    def _costs_down(self, tracker: SegmentTracker, seen: SegmentSeen, situation: Situation) -> tuple[Costs, float]:
        """The way back drains: of a micro-batch that is broken off some outputs may be written, and the data stream
        would write those that come before them."""
        figures, gap_s = tracker.figures, tracker.gap_s(Paradigm.DATA_STREAM, seen.warm)
        way = Way(seen.to_boundary_s, gap_s)
        bound = tracker.ordered_bound or self._bound(tracker, situation.arrival_per_s)
        stay = forecast.stay_in_operation(figures, situation, bound)
        course = forecast.return_to_data(figures, situation, way, seen.in_batch if way.wait_s else 0.0)
        lasting_s = max(forecast.length_s(stay), situation.lasting_s)
        low = figures.data_transfer_s
        costs = [forecast.cost(each, self.settings, lasting_s, low) for each in (stay, course)]
        return (costs[0], costs[1]), gap_s

    def _order(self, name: str, at_s: float, to: Paradigm, how: How, bound: int | None) -> Order:
        self.trackers[name].told_to_switch(at_s, to, bound)
        return Order(name, to, how, bound)

    def _note_relapse(self, name: str, at_s: float) -> None:
        """Wait longer before the next return where the last one came too early; forget it after a minute."""
        since_s = at_s - self._returned_at_s.get(name, -math.inf)
        if since_s > FORGIVEN_S:
            self._failed[name] = 0
        if name in self._retried:
            self._retried.discard(name)
        elif since_s <= RELAPSE_S:
            longer = max(FIRST_PATIENCE_S, 2 * self._patience_s[name])
            self._patience_s[name] = min(longer, LONGEST_PATIENCE_S)
        elif since_s > FORGIVEN_S:
            self._patience_s[name] = 0.0

    def _tell(
        self,
        now: Observation,
        tracker: SegmentTracker,
        action: str,
        how: How | None,
        reason: str,
        point: SwitchPoint,
        rate: float,
        after: float,
        costs: Costs,
        gap_s: float,
        reach: Sequence[str],
        switched: Sequence[str],
        bound: int | None,
    ) -> None:
        if self._on_decision is None or tracker.seen is None:
            return
        self._on_decision(
            Decision(
                at_s=now.at_s,
                segment=tracker.name,
                action=action,
                paradigm=tracker.paradigm,
                to=tracker.paradigm.other if action == "switch" else tracker.paradigm,
                how=how,
                reason=reason,
                arrival_per_s=rate,
                afterwards_per_s=after,
                queue=tracker.seen.length,
                age_s=tracker.seen.age_s,
                **inputs_of(tracker.figures, point, self.settings.delta),
                magnifications=tuple(t.magnification for t in self.trackers.values()),
                range=tuple(reach),
                switched=tuple(switched),
                cost_stay=_finite(costs[0]),
                cost_switch=_finite(costs[1]),
                burst_s=tracker.arrival.hot_s,
                gap_s=gap_s,
                max_records_per_batch=bound,
            )
        )


def _compared(costs: Costs) -> str:
    return f"expected latency·time {costs[0]:.2f} s² staying, {costs[1]:.2f} s² switching"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


class Schedulers:
    """Several schedulers as one: each decides for its own segments, as in a graph whose branches are no chain."""

    def __init__(self, schedulers: Sequence[Scheduler]) -> None:
        self._schedulers = list(schedulers)

    def tick(self, now: Observation) -> list[Order]:
        """What any of them says is to be switched."""
        orders: list[Order] = []
        for each in self._schedulers:
            mine = {name: seen for name, seen in now.segments.items() if name in each.trackers}
            orders += each.tick(Observation(now.at_s, mine))
        return orders

    def prospects(self) -> list[Order]:
        """What any of them may say next."""
        return [order for each in self._schedulers for order in each.prospects()]
