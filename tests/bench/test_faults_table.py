"""The lines of `make bench` on faults: pairs alternate, costs are intervals, and only what is shown is claimed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from bench.faults import NEVER, alternating, armed_figure, checkpoint_figure

from streamgauge.lab.expansion import process_key
from streamgauge.lab.request import RunRequest
from streamgauge.measure.penalties import PairedCost
from streamgauge.measure.repeats import Interval


def records(*per_s: float) -> list[dict[str, Any]]:
    return [{"throughput": {"events_per_s": rate}} for rate in per_s]


def test_repeats_alternate_so_that_every_trial_begins_in_a_process_of_its_own() -> None:
    request = RunRequest(applications=("wordcount",), load="preloaded", events=1000, repeat=2)
    found = alternating(request, replace(request, faults=(NEVER,))).trials
    assert [(each.trial.repeat, each.trial.faults) for each in found] == [
        (1, ()),
        (1, (NEVER,)),
        (2, ()),
        (2, (NEVER,)),
    ]
    keys = [process_key(each) for each in found]
    assert all(a != b for a, b in pairwise(keys))


def test_a_cost_that_may_be_noise_is_not_held_against_us() -> None:
    line = armed_figure(records(100_000, 100_000), records(95_000, 103_000))
    assert (line.seen, line.reached) == ("+1.00 ± 50.82 %", True)
    assert line.raw == "100 → 95 k/s; 100 → 103 k/s"


def test_a_cost_that_is_shown_is_told() -> None:
    line = armed_figure(records(100_000, 200_000, 100_000), records(97_000, 194_000, 97_100))
    assert not line.reached and line.seen.startswith("+2.97 ± 0.14")


def test_only_figures_whose_interval_leaves_zero_out_are_claimed() -> None:
    costs = [PairedCost("p99", Interval(40.0, 5.0, 3)), PairedCost("cpu", Interval(1.0, 2.0, 3))]
    line = checkpoint_figure(costs)
    assert line.seen == "p99 +40.00 ± 5.00 %" and line.raw == "p99 +40.00 ± 5.00 %; cpu +1.00 ± 2.00 %"
    assert checkpoint_figure(costs[1:]).seen == "no cost shown" and not checkpoint_figure([]).reached
