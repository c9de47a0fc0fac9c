"""The named loads of the figures table, and what the scheduler does with pins, objectives and orders, in simulation."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from streamgauge.engines.spark.prepared import FITS
from streamgauge.load.bursts import BurstsLoad
from streamgauge.paradigms.decisions import Decision
from streamgauge.paradigms.equations import ASSUMED_K, assumed_figures
from streamgauge.paradigms.paradigm import How, Paradigm
from streamgauge.paradigms.scheduler import Scheduler
from streamgauge.paradigms.settings import Objective, SchedulerSettings
from streamgauge.paradigms.simulated_segment import SegmentWorld
from streamgauge.paradigms.simulation import EPOCH_S, Simulated, simulate, simulate_adaptive
from streamgauge.paradigms.tracking import Known
from tests.paradigms.worlds import WORD_COUNT, steps, world

PD, PO = WORD_COUNT.data_per_s, WORD_COUNT.operation_per_s
ONE_BURST = steps((20, 500), (10, 2 * PD), (30, 500))


def better_fixed(load: tuple, *worlds: SegmentWorld) -> float:
    return min(simulate(*load, worlds, paradigm=paradigm).mean_s for paradigm in Paradigm)


def test_one_burst() -> None:
    found = simulate_adaptive(*ONE_BURST, [world()])
    assert found.mean_s <= 0.4 * better_fixed(ONE_BURST, world())
    up, down = found.switched_at_s
    assert 20 < up[0] <= 21.0, "a burst is seen within a second"
    assert up[2] is Paradigm.OPERATION_STREAM
    assert down[2] is Paradigm.DATA_STREAM
    back_s = found.settled_after_s(30, 20)
    assert back_s is not None and back_s <= 3
    assert found.decisions[0].how is How.REPLAY, "the boundary is far, and little would be repeated"
    assert found.decisions[-1].how is How.DRAIN, "the data stream would write what comes before a broken-off batch's"


def test_the_same_burst_with_nothing_known_beforehand() -> None:
    load = steps((23, 500), (10, 2 * PD), (27, 500))
    found = simulate_adaptive(*load, [world()], known=[Known("count", assumed_figures())])
    assert found.mean_s <= 0.45 * better_fixed(load, world())
    assert found.decisions[0].data_per_s == pytest.approx(PD, rel=0.1), "PD was measured before the switch"
    assert found.decisions[-1].operation_per_s == pytest.approx(PO, rel=0.2), "PO was measured in the burst"


def test_two_bursts_of_which_the_second_is_above_the_capacity_of_micro_batches() -> None:
    load = steps((20, 500), (10, 2 * PD), (20, 500), (10, 1.2 * PO), (40, 500))
    found = simulate_adaptive(*load, [world()])
    assert found.mean_s <= 0.8 * better_fixed(load, world())
    assert found.switches == 4
    assert found.drained
    assert found.final == (Paradigm.DATA_STREAM,)


def test_periodic_bursts_that_the_data_stream_rides_out() -> None:
    load = BurstsLoad(400, 38_000, 10.0)
    found = simulate_adaptive(load.events_by, 60, [world()])
    assert found.switches == 0
    assert found.mean_s <= 1.1 * better_fixed((load.events_by, 60), world())
    assert found.decisions, "it was considered"
    assert all(d.action == "stay" and "by itself" in d.reason for d in found.decisions)


def test_periodic_bursts_five_times_as_large() -> None:
    load = BurstsLoad(400, 190_000, 10.0)
    found = simulate_adaptive(load.events_by, 60, [world()])
    assert found.mean_s <= 0.8 * better_fixed((load.events_by, 60), world())


def test_a_ramp_is_followed_once() -> None:
    def ramp(at_s: float) -> float:
        return 500 * at_s + 995 * at_s * at_s / 1.2 / 1.2

    found = simulate_adaptive(ramp, 60, [world()])
    assert found.mean_s <= better_fixed((ramp, 60), world())
    during = [each for each in found.switched_at_s if each[0] <= 60]
    assert len(during) == 1


@pytest.mark.parametrize(("rate", "switches"), [(500, 0), (0.9 * PD, 0)])
def test_a_constant_rate_that_the_data_stream_carries_is_left_there(rate: float, switches: int) -> None:
    load = steps((60, rate))
    found = simulate_adaptive(*load, [world()])
    assert found.switches == switches
    assert found.mean_s == pytest.approx(simulate(*load, [world()]).mean_s)


def test_micro_batches_that_are_no_faster_are_never_used() -> None:
    useless = world(replace(WORD_COUNT, operation_per_s=PD))
    assert simulate_adaptive(*ONE_BURST, [useless]).switches == 0


def test_a_cold_switch_is_weighed_as_such() -> None:
    # 120,000 records at once take the data stream three seconds, and a cold start takes as long.
    spike = steps((20, 500), (0.1, 1_200_000), (20, 500))
    warm, cold = simulate_adaptive(*spike, [world()]), simulate_adaptive(*spike, [world(warm=False)])
    assert warm.switches == 2
    assert cold.switches == 0


def test_a_pinned_segment_stays() -> None:
    for pinned in Paradigm:
        found = simulate_adaptive(*ONE_BURST, [world()], known=[Known("count", WORD_COUNT, True, pinned=pinned)])
        assert found.switches == 0
        assert found.final == (pinned,)


def test_an_objective_that_micro_batches_break_keeps_small_bursts_out_of_them() -> None:
    # Staying costs a short while at up to 0.9 s; micro-batches are above 0.2 s as long as they run.
    load = steps((20, 500), (1.5, 2 * PD), (20, 500))
    free = simulate_adaptive(*load, [world()])
    generous = SchedulerSettings(objective=Objective.parse("p99<30s"))
    assert simulate_adaptive(*load, [world()], generous).switches == free.switches == 2
    strict = simulate_adaptive(*load, [world()], SchedulerSettings(objective=Objective.parse("p99<200ms")))
    above = [float(np.sum(each.seconds > 0.2)) for each in (free, strict)]
    assert above[1] <= above[0]


def test_a_lull_within_a_burst_is_learned_from() -> None:
    load = steps((10, 500), *[(2.5, 2 * PD), (0.8, 500)] * 12, (20, 500))
    found = simulate_adaptive(*load, [world()])
    times = [at_s for at_s, _, _ in found.switched_at_s]
    early = sum(10 <= at_s < 30 for at_s in times)
    late = sum(30 <= at_s < 50 for at_s in times)
    assert late <= early
    assert found.final == (Paradigm.DATA_STREAM,)


def test_a_speed_that_was_measured_too_low_is_tried_again() -> None:
    # Half of its speed is known, as of a JVM that was cold: after a burst the rate looks too high for it.
    known = [Known("count", replace(WORD_COUNT, data_per_s=PD / 2), True)]
    found = simulate_adaptive(*steps((10, 500), (5, 2 * PD), (90, 0.75 * PD)), [world()], known=known)
    tried = [d for d in found.decisions if "tried again" in d.reason]
    assert [to for _, _, to in found.switched_at_s[:2]] == [Paradigm.OPERATION_STREAM, Paradigm.DATA_STREAM]
    assert len(tried) == 1
    assert found.final == (Paradigm.DATA_STREAM,)
    assert found.seconds[90:].mean() < 0.1


def test_a_speed_that_was_seen_in_little_work_is_tried_again_sooner() -> None:
    # A rate of 150,000/s stayed in micro-batches of a second that real time, warm, answered in 4 ms.
    known = [Known("count", replace(WORD_COUNT, data_per_s=PD / 2), True, worked_s=dict.fromkeys(Paradigm, 1.0))]
    found = simulate_adaptive(*steps((10, 500), (5, 2 * PD), (45, 0.8 * PD)), [world()], known=known)
    assert 0.8 * PD > ASSUMED_K * PO
    assert [to for _, _, to in found.switched_at_s] == [Paradigm.OPERATION_STREAM, Paradigm.DATA_STREAM]
    assert found.seconds[40:].mean() < 0.1


def test_a_speed_that_is_known_too_low_is_refuted_by_what_is_carried() -> None:
    known = [Known("count", replace(WORD_COUNT, data_per_s=PD / 2), True)]
    found = simulate_adaptive(*steps((60, 0.75 * PD)), [world()], known=known)
    assert found.switches == 0


def test_a_burst_whose_queue_does_not_grow_is_carried_whatever_is_known_of_the_speed() -> None:
    known = [Known("count", replace(WORD_COUNT, data_per_s=0.6 * PD), True)]
    found = simulate_adaptive(*steps((13, 500), (4, 0.9 * PD), (13, 500)), [world()], known=known)
    assert found.switches == 0


def test_a_speed_far_below_that_of_micro_batches_is_tried_again_too() -> None:
    # Of a process that was only starting; without the try it would never leave micro-batches.
    known = [Known("count", replace(WORD_COUNT, data_per_s=80), True)]
    found = simulate_adaptive(*steps((10, 500), (5, 2 * PD), (90, 0.02 * PO)), [world()], known=known)
    assert found.final == (Paradigm.DATA_STREAM,)
    assert found.seconds[70:].mean() < 0.1


def test_a_speed_of_less_than_the_papers_share_of_po_is_tried_again_soon() -> None:
    # Measured while code was still compiled: 20,000/s stayed in micro-batches for a whole trial.
    known = [Known("count", replace(WORD_COUNT, data_per_s=PD / 4), True)]
    found = simulate_adaptive(*steps((10, 500), (5, 2 * PD), (60, 0.6 * PD)), [world()], known=known)
    assert 0.6 * PD < ASSUMED_K * PO
    assert found.final == (Paradigm.DATA_STREAM,)
    assert found.seconds[30:].mean() < 0.1


def test_micro_batches_are_not_left_aside_for_being_slow_when_the_process_was_cold() -> None:
    # Both speeds as of its first seconds: real time has become four times as fast since, and so have batches.
    cold = replace(WORD_COUNT, data_per_s=PD / 4, operation_per_s=PO / 10)
    known = [Known("count", cold, True, sure=False, worked_s=dict.fromkeys(Paradigm, 1.0))]
    found = simulate_adaptive(*ONE_BURST, [world()], known=known)
    assert found.mean_s <= 0.8 * better_fixed(ONE_BURST, world())
    assert found.switches == 2


def test_speeds_that_were_measured_cold_do_not_make_batches_too_small_for_the_burst() -> None:
    # Left for a queue of 0.1 s, with batches for what had come before it: 17,000 records, of 280,000 in a second.
    cold = replace(WORD_COUNT, data_per_s=1_200, operation_per_s=21_700, schedule_s=0.11, operation_transfer_s=0.1)
    load = steps((20, 500), (10, 0.5 * PO), (20, 500))
    found = simulate_adaptive(*load, [world()], known=[Known("count", cold, True)])
    assert found.switched_at_s[0][0] < 20.4
    assert found.seconds.max() < 1.5


def test_nothing_is_decided_before_a_query_has_got_going() -> None:
    known = [Known("count", replace(WORD_COUNT, data_per_s=300), True)]
    found = simulate_adaptive(*steps((30, 500)), [world()], known=known)
    assert found.switches == 0


def test_the_end_of_a_burst_is_no_time_to_try_again() -> None:
    # The rate is on its way down through what would be tried, while a part of the burst still waits.
    slow = world(replace(WORD_COUNT, data_per_s=0.6 * ASSUMED_K * PO))
    found = simulate_adaptive(*steps((10, 500), (10, 1.1 * ASSUMED_K * PO), (20, 500)), [slow])
    assert found.switches == 2
    assert not [d for d in found.decisions if "tried again" in d.reason]


def test_attempts_that_fail_become_rare() -> None:
    found = simulate_adaptive(*steps((300, 1.5 * PD)), [world()])
    tried = [d.at_s - EPOCH_S for d in found.decisions if "tried again" in d.reason]
    assert len(tried) == 3
    assert np.diff(tried)[1] > 1.8 * np.diff(tried)[0]


def chain() -> list[SegmentWorld]:
    """A head that makes eight of one, a middle that the burst hits, an end with little to do."""
    return [
        world(replace(WORD_COUNT, data_per_s=100_000, operation_per_s=400_000), "head", magnification=8.0),
        world(WORD_COUNT, "middle", magnification=0.05),
        world(replace(WORD_COUNT, data_per_s=60_000), "end"),
    ]


def first_switch(found: Simulated) -> Decision:
    return next(each for each in found.decisions if each.action == "switch")


def test_only_the_range_of_a_chain_is_switched() -> None:
    # 10,000/s are little for the head and 80,000/s too many for the middle.
    load = steps((20, 60), (10, 10_000), (30, 60))
    found = simulate_adaptive(*load, chain())
    assert {name for _, name, _ in found.switched_at_s} == {"middle"}
    first = first_switch(found)
    assert (first.segment, first.range, first.switched) == ("middle", ("middle",), ("middle",))
    assert first.magnifications == pytest.approx((8.0, 0.05, 1.0), rel=0.05)
    assert found.mean_s < better_fixed(load, *chain())


def test_a_range_takes_later_segments_with_it_but_for_pinned_ones() -> None:
    worlds = [chain()[0], replace(chain()[1], magnification=1.0), chain()[2]]
    load = steps((20, 60), (10, 10_000), (30, 60))
    free = simulate_adaptive(*load, worlds)
    assert first_switch(free).switched == ("middle", "end")
    known = [Known(w.name, w.figures, True, w.magnification) for w in worlds]
    known[2] = replace(known[2], pinned=Paradigm.DATA_STREAM)
    pinned = simulate_adaptive(*load, worlds, known=known)
    assert first_switch(pinned).range == ("middle", "end")
    assert first_switch(pinned).switched == ("middle",)


def test_every_decision_carries_what_it_was_made_of() -> None:
    found: Simulated = simulate_adaptive(*ONE_BURST, [world()], keep_ticks=True)
    up, down = found.decisions
    assert up.at_s - EPOCH_S == pytest.approx(found.switched_at_s[0][0])
    assert up.k == pytest.approx(up.data_per_s / up.operation_per_s)
    assert up.c_s == pytest.approx(up.interval_s / 2 + up.schedule_s + up.operation_transfer_s - up.data_transfer_s)
    assert up.l_switch == pytest.approx(up.k * up.arrival_per_s * up.interval_s + up.c_s * up.data_per_s)
    assert (up.l_up, up.l_down) == (pytest.approx(1.2 * up.l_switch), pytest.approx(0.8 * up.l_switch))
    assert up.max_records_per_batch and down.max_records_per_batch is None
    assert up.cost_switch is not None and up.cost_stay is not None and up.cost_switch < up.cost_stay
    assert "count: switch to operation stream (replay)" in up.words
    assert len(found.ticks) >= 590
    assert {tick.paradigm for tick in found.ticks} == {p.value for p in Paradigm}


def test_the_same_sights_give_the_same_decisions() -> None:
    assert simulate_adaptive(*ONE_BURST, [world()]).decisions == simulate_adaptive(*ONE_BURST, [world()]).decisions


def test_what_is_prepared_covers_all_bounds_as_long_as_speeds_are_guessed() -> None:
    def bounds(known: Known) -> list[int]:
        return [order.max_records_per_batch or 0 for order in Scheduler([known]).prospects()]

    guessed, measured = bounds(Known("count", assumed_figures())), bounds(Known("count", WORD_COUNT, True))
    assert len(guessed) == 3 and len(measured) == 1
    # A prepared query serves a wanted bound from 1/1.6 to 1/0.65 of its own.
    assert all(above / FITS[1] <= below / FITS[0] * 1.01 for below, above in itertools.pairwise(guessed))
    assert guessed[-1] > 5 * guessed[0]
    assert bounds(Known("count", assumed_figures(), pinned=Paradigm.DATA_STREAM)) == []
