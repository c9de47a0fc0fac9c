"""Expected costs against cases worked by hand."""

from __future__ import annotations

import math

import pytest

from streamgauge.model.errors import UserError
from streamgauge.paradigms import forecast
from streamgauge.paradigms.equations import SegmentFigures
from streamgauge.paradigms.forecast import Situation, Way
from streamgauge.paradigms.settings import Objective, SchedulerSettings

FIGURES = SegmentFigures(1000, 5000, 0.3, 0.1, 0.0)
PLAIN = SchedulerSettings()


def priced(course: list[forecast.Phase], settings: SchedulerSettings = PLAIN) -> float:
    return forecast.cost(course, settings, 0.0, 0.0)


def test_a_spike_drains_at_the_data_streams_speed() -> None:
    # 2,000 records and none after them: the last waits 2 s, and so would one that comes at once.
    course = forecast.stay_in_data(FIGURES, Situation(2000, 0.0, 0, 0.0, 0))
    assert priced(course) == pytest.approx(2.0 * 2.0 / 2)
    # With 500/s afterwards it takes 4 s to be empty.
    course = forecast.stay_in_data(FIGURES, Situation(2000, 0.0, 0, 0.0, 500))
    assert priced(course) == pytest.approx(2.0 * 4.0 / 2)


def test_a_burst_grows_and_then_drains() -> None:
    # 2,000/s for 3 s on 1,000/s: 3,000 wait, latency rises to 3 s, and falls over 3 s.
    course = forecast.stay_in_data(FIGURES, Situation(0, 0.0, 2000, 3.0, 0))
    assert priced(course) == pytest.approx(3 * 3 / 2 + 3 * 3 / 2)


def test_what_arrives_for_ever_above_the_speed_still_has_a_price() -> None:
    assert math.isfinite(priced(forecast.stay_in_data(FIGURES, Situation(100, 0.0, 5000, 1.0, 5000))))


def test_switching_costs_more_the_longer_the_gap() -> None:
    now = Situation(4000, 0.2, 3000, 5.0, 100)
    costs = [
        priced(forecast.go_to_operation(FIGURES, now, Way(0.0, gap_s), Way(0.0, 0.7), PLAIN)) for gap_s in (0.4, 1, 3)
    ]
    assert costs == sorted(costs)
    assert costs[0] < costs[2] - 3


def test_a_long_way_to_the_boundary_makes_stopping_at_once_cheaper() -> None:
    now = Situation(4000, 0.2, 3000, 5.0, 100)
    back = Way(0.0, 0.7)
    replay = priced(forecast.go_to_operation(FIGURES, now, Way(0.0, 0.5, repeated=1000), back, PLAIN))
    late = priced(forecast.go_to_operation(FIGURES, now, Way(8.0, 0.5), back, PLAIN))
    soon = priced(forecast.go_to_operation(FIGURES, now, Way(0.05, 0.5), back, PLAIN))
    assert soon < replay < late


def test_the_way_back_is_closed_where_the_data_stream_cannot_carry_the_rate() -> None:
    assert priced(forecast.return_to_data(FIGURES, Situation(0, 0, 1000, 5.0, 0), Way(0.0, 0.5), 0)) == math.inf
    assert priced(forecast.return_to_data(FIGURES, Situation(0, 0, 500, 5.0, 0), Way(0.0, 0.5), 0)) < 1


def test_batches_are_bounded_but_carry_the_rate() -> None:
    calm = forecast.batch_bound(FIGURES, 10, 1.0)
    # 0.4 s of fixed time may be a quarter: 1.2 s of records.
    assert calm == 6000
    # A queue that is a little longer is taken at once, a much longer one is not.
    assert forecast.batch_bound(FIGURES, 10, 1.0, waiting=7000) == 7000
    assert forecast.batch_bound(FIGURES, 10, 1.0, waiting=20_000) == 6000
    for rate in (1000, 2500, 3500):
        assert forecast.capacity_per_s(FIGURES, forecast.batch_bound(FIGURES, rate, 1.0)) >= rate * 1.2
    # Above PO no bound is enough: it stays within three times the wanted duration.
    assert forecast.batch_bound(FIGURES, 50_000, 1.0) == 15_000


def test_an_objective_makes_what_lies_above_it_dear() -> None:
    strict = SchedulerSettings(objective=Objective.parse("p99<1s"))
    assert strict.objective is not None and strict.objective.limit_s == pytest.approx(1.0)
    # A line from 0 to 2 s over 2 s: 2 s² below and above, and half a second² above the limit, ten times.
    assert priced([(2.0, 0.0, 2.0)], strict) == pytest.approx(2.0 + 10 * 0.5)
    assert priced([(2.0, 2.0, 2.0)], strict) == pytest.approx(4.0 + 10 * 2.0)
    assert priced([(2.0, 0.5, 0.7)], strict) == pytest.approx(1.2)
    assert strict.dearness(2.0) == pytest.approx(12.0)


@pytest.mark.parametrize("text", ["p99>1s", "events_per_s>=10k", "lateness.p99<1s", "cpu<80%", "lost==0"])
def test_only_an_upper_limit_on_a_latency_is_an_objective(text: str) -> None:
    with pytest.raises(UserError, match="objective"):
        Objective.parse(text)


@pytest.mark.parametrize("wrong", [{"delta": 1.0}, {"dwell_s": 0}, {"catch_up_s": -1}])
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UserError):
        SchedulerSettings(**wrong)  # type: ignore[arg-type]


def test_a_speed_seen_on_a_starved_machine_does_not_make_batches_that_never_catch_up() -> None:
    starved = SegmentFigures(1, 2, 1.5, 0.5, 0.0)
    assert forecast.batch_bound(starved, 100, 1.0) == forecast.LEAST_RECORDS


def test_a_bound_holds_at_least_what_the_data_stream_would_do_meanwhile() -> None:
    noise = SegmentFigures(80_000, 4_460, 0.1, 0.1, 0.005)
    assert forecast.batch_bound(noise, 500, 1.0) >= 80_000
