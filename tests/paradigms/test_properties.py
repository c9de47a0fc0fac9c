"""Whatever the load: no flapping beyond the dwell, never much worse than the better paradigm, home after a burst."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from hypothesis import Phase, assume, example, given, settings
from hypothesis import strategies as st

from streamgauge.paradigms.equations import SegmentFigures, assumed_figures
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.settings import SchedulerSettings
from streamgauge.paradigms.simulated_segment import SegmentWorld
from streamgauge.paradigms.simulation import simulate, simulate_adaptive
from streamgauge.paradigms.tracking import Known
from tests.paradigms.worlds import steps

# Without shrinking: a failing load is told as it was found, and not after minutes of simulation.
LOADS = settings(max_examples=20, deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate))

segments = st.builds(
    lambda data, k, schedule, transfer, low, every, pause: SegmentWorld(
        "only", SegmentFigures(data, data / k, schedule, transfer, low), 1.0, every, pause
    ),
    st.floats(5_000, 80_000),
    st.floats(0.15, 0.9),
    st.floats(0.1, 0.6),
    st.floats(0.01, 0.2),
    st.floats(0.002, 0.03),
    st.floats(5, 30),
    st.floats(0, 0.4),
)
levels = st.lists(st.tuples(st.floats(0.3, 12), st.floats(0.0, 6)), min_size=1, max_size=8)
"""Phases: seconds, and the rate in multiples of what the data stream works off."""
knowledge = st.booleans()


def known_of(world: SegmentWorld, calibrated: bool) -> list[Known]:
    return [Known("only", world.figures, True, 1.0) if calibrated else Known("only", assumed_figures())]


def load_of(
    world: SegmentWorld, phases: list[tuple[float, float]], calm_s: float = 30.0
) -> tuple[Callable[[float], float], float]:
    speed = world.figures.data_per_s
    return steps(
        (5, 0.02 * speed), *((lasting_s, times * speed) for lasting_s, times in phases), (calm_s, 0.02 * speed)
    )


@LOADS
@given(segments, levels, st.floats(0.5, 8), knowledge)
def test_switches_are_a_dwell_apart(
    world: SegmentWorld, phases: list[tuple[float, float]], dwell_s: float, calibrated: bool
) -> None:
    chosen = SchedulerSettings(dwell_s=dwell_s)
    found = simulate_adaptive(*load_of(world, phases), [world], chosen, known_of(world, calibrated))
    times = [at_s for at_s, _, _ in found.switched_at_s]
    assert all(later - earlier >= dwell_s - 1e-6 for earlier, later in pairwise(times))
    turns = [to for _, _, to in found.switched_at_s]
    assert all(first is not second for first, second in pairwise(turns)), "two orders of one kind in a row"


@LOADS
@given(segments, levels, knowledge)
def test_it_is_home_after_a_burst(world: SegmentWorld, phases: list[tuple[float, float]], calibrated: bool) -> None:
    # Micro-batches first have to work off what is left, at a multiple of the data stream's speed.
    found = simulate_adaptive(*load_of(world, phases, 100.0), [world], known=known_of(world, calibrated))
    assert found.drained
    assert found.final == (Paradigm.DATA_STREAM,)


# A speed measured half too high was never put right: 26 switches in 90 s.
@example(SegmentWorld("only", SegmentFigures(22_638, 44_255, 0.116, 0.186, 0.012), 1.0, 28.4, 0.28), 1.368, False)
@LOADS
@given(segments, st.one_of(st.floats(0.01, 0.8), st.floats(1.25, 6)), knowledge)
def test_a_constant_rate_settles_within_twice_the_better_paradigm(
    world: SegmentWorld, times: float, calibrated: bool
) -> None:
    # Below the speed the data stream is better, far above it micro-batches are, and above both all is lost alike.
    times = min(times, 0.7 / world.figures.k) if times > 1 else times
    assume(not 0.8 < times < 1.25)
    load = steps((90, times * world.figures.data_per_s))
    found = simulate_adaptive(*load, [world], known=known_of(world, calibrated))
    fixed = [simulate(*load, [world], paradigm=paradigm) for paradigm in Paradigm]
    settled = slice(40, 90)
    better = min(float(np.mean(each.seconds[settled])) for each in fixed)
    assert float(np.mean(found.seconds[settled])) <= 2 * better + 0.01


@LOADS
@given(segments, levels)
def test_over_a_whole_load_it_is_not_much_worse_than_the_better_paradigm(
    world: SegmentWorld, phases: list[tuple[float, float]]
) -> None:
    load = load_of(world, phases)
    found = simulate_adaptive(*load, [world])
    better = min(simulate(*load, [world], paradigm=paradigm).mean_s for paradigm in Paradigm)
    # A switch costs up to a few seconds of latency, which a short load has no time to earn back.
    assert found.mean_s <= 2 * better + 5.0 / found.seconds.size * (1 + found.switches)
