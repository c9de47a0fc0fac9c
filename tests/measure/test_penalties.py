"""Penalty factors, loss and paired costs from records, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.measure.penalties import loss, paired_costs, penalties, penalty_factor
from tests.report.sample_run import record


def trial(
    place: str, rate: float, mean_ms: float, repeat: int = 1, faults: tuple[str, ...] = (), **more: Any
) -> dict[str, Any]:
    found = record("identity", "spark-microbatch", repeat=repeat, **more)
    found["trial"] |= {"place": place, "faults": list(faults)}
    found["throughput"]["events_per_s"] = rate
    found["latency_ms"]["mean"] = mean_ms
    return found


FAULT = ("kill worker at half",)


def test_the_factor_is_that_of_streambench() -> None:
    assert penalty_factor(90, 120, 80) == pytest.approx(0.9)


def test_a_fault_is_set_against_all_nodes_and_one_less() -> None:
    records = [
        trial("cluster:3", 120, 10),
        trial("cluster:2", 80, 30),
        trial("cluster:3", 90, 24, faults=FAULT),
        trial("cluster:3", 110, 20, repeat=2, faults=FAULT),
        trial("cluster:3", 130, 12, repeat=2),
        trial("cluster:2", 90, 28, repeat=2),
    ]
    (found,) = penalties(records)
    assert (found.place, found.fault) == ("cluster:3", "kill worker at half")
    assert found.tpf is not None and found.lpf is not None
    assert (found.tpf.mean, found.tpf.repeats) == (pytest.approx((0.9 + 1.0) / 2), 2)
    assert found.lpf.mean == pytest.approx((24 / 20 + 20 / 20) / 2)


@pytest.mark.parametrize("missing", ["cluster:3", "cluster:2"])
def test_without_a_partner_there_is_no_factor(missing: str) -> None:
    records = [trial(place, 100, 10) for place in ("cluster:3", "cluster:2") if place != missing]
    assert penalties([*records, trial("cluster:3", 90, 9, faults=FAULT)]) == []
    assert penalties([trial("local", 100, 10), trial("local", 90, 9, faults=FAULT)]) == []


def test_a_repeat_that_is_not_ranked_has_no_part_in_it() -> None:
    invalid = trial("cluster:3", 90, 24, faults=FAULT, valid=False, invalid_reasons=["late"])
    (found,) = penalties([trial("cluster:3", 120, 10), trial("cluster:2", 80, 30), invalid])
    assert found.tpf is None


def test_loss_is_a_mean_in_percent_with_its_interval() -> None:
    lossy = [trial("local", 1, 1, repeat=n) for n in (1, 2, 3)]
    for each, lost in zip(lossy, (10, 20, 30), strict=True):
        each["verdict"] |= {"lost": lost, "expected": 200, "correct": False}
    found = loss(lossy)
    assert found is not None
    assert (found.percent.mean, found.lost, found.expected) == (pytest.approx(10), 60, 600)
    # Percentages 5, 10, 15: standard deviation 5, and t of two degrees of freedom is 4.303.
    assert found.percent.half == pytest.approx(4.3027 * 5 / 3**0.5, rel=1e-3)
    assert loss([]) is None


def test_costs_are_taken_pair_by_pair() -> None:
    without = [trial("local", rate, 10, repeat=n) for n, rate in ((1, 100), (2, 200), (3, 400))]
    with_it = [trial("local", rate, 10, repeat=n) for n, rate in ((1, 90), (2, 178), (3, 364))]
    (found,) = paired_costs(with_it, without, ["events_per_s"])
    assert found.percent.mean == pytest.approx((-10 - 11 - 9) / 3)
    assert found.shown
    (one,) = paired_costs(with_it[:1], without, ["events_per_s"])
    assert (one.percent.half, one.shown) == (None, False)
