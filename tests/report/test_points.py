"""Points of a suite's figures: medians and intervals, what held, and why one has nothing to show."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.lab.suite_figures import SuiteFigure
from streamgauge.measure.figures import get_figure
from streamgauge.measure.repeats import Group
from streamgauge.report.points import Point, facet_words, ordered, points_of, told_by
from tests.report.sample_run import record

P50 = get_figure("p50")
RATE = get_figure("events_per_s")


def repeat(number: int, p50: float, **changes: Any) -> dict[str, Any]:
    made = record("grep", "spark-realtime", repeat=number, **changes)
    return {**made, "latency_ms": {**made["latency_ms"], "p50": p50}} if made["latency_ms"] else made


def point(*records: dict[str, Any]) -> Point:
    return Point(Group(records), "stages")


def test_a_point_is_the_median_with_the_interval_of_the_mean() -> None:
    found = point(repeat(1, 10), repeat(2, 11), repeat(3, 18)).measured(P50)
    # Mean 13, standard deviation √19, t₀.₉₇₅(2) = 4.3027: half = 4.3027 · √(19 ÷ 3) = 10.83.
    assert found is not None
    assert (found.median, found.repeats) == (11, 3)
    assert (found.low, found.high) == pytest.approx((13 - 10.828, 13 + 10.828), abs=0.01)
    alone = point(repeat(1, 10)).measured(P50)
    assert alone is not None and (alone.median, alone.low, alone.high) == (10, None, None)


def test_repeats_that_do_not_count_are_left_out() -> None:
    late = repeat(2, 500, valid=False, invalid_reasons=["the publisher fell behind"])
    found = point(repeat(1, 10), late).measured(P50)
    assert found is not None and (found.median, found.repeats) == (10, 1)
    assert point(late).why_not(P50) == ("not valid", "the publisher fell behind")


def test_the_majority_of_the_repeats_decides_what_held() -> None:
    broken = [{"ok": False, "text": "✗ p50<10ms: 12 ms"}]
    assert point(repeat(1, 9), repeat(2, 9), repeat(3, 12, thresholds=broken)).held()
    half = point(repeat(1, 9), repeat(2, 12, thresholds=broken))
    assert not half.held()
    assert half.why_not() == ("broken", "p50<10ms: 12 ms")


def test_gaps_failures_and_wrong_answers_say_why() -> None:
    gap = record("wordcount", "spark-continuous", status="gap", gap={"kind": "never", "reason": "no aggregates"})
    assert point(gap).why_not(P50) == ("gap", "no aggregates")
    error = {"cause": "the job died", "way_out": "", "exit_code": 5}
    assert point(record("grep", "spark-realtime", status="failed", error=error)).why_not(P50)[0] == "failed"
    wrong = repeat(1, 10)
    wrong["verdict"] = {**wrong["verdict"], "correct": False}
    assert point(wrong).why_not(P50) == ("wrong", "the answer is wrong")
    assert point(repeat(1, 10)).why_not(get_figure("p99.999"))[1].endswith("does not carry p99.999")


def test_a_trial_of_two_matrices_is_a_point_of_each_unless_one_is_the_baseline() -> None:
    made = record("grep", "spark-realtime", matrices=["base", "knob"])
    asked = SuiteFigure("T", "bars", matrices=("base", "knob"))
    assert [each.matrix for each in points_of([made], asked)] == ["base", "knob"]
    against = SuiteFigure("T", "bars", matrices=("base", "knob"), against="base")
    assert [each.matrix for each in points_of([made], against)] == ["base"]
    assert points_of([made], SuiteFigure("T", "bars", matrices=("other",))) == []
    assert [each.matrix for each in points_of([made], SuiteFigure("T", "bars"))] == ["base"]


def test_throughput_is_told_by_drains_and_latency_by_paced_trials() -> None:
    paced = point(record("grep", "spark-realtime"))
    drained = point({**record("grep", "spark-realtime"), "load": "preloaded"})
    assert told_by([paced, drained], RATE) == [drained]
    assert told_by([paced, drained], P50) == [paced]
    assert told_by([paced, drained], get_figure("cpu")) == [paced, drained]
    assert told_by([drained], P50) == [drained]


def test_facets_are_said_short_and_numbers_go_by_size() -> None:
    assert [facet_words(v) for v in (None, "parse", 4.0, 200_000.0, 5_000_000.0, 1.2)] == [
        *("–", "parse", "4", "200,000", "5 M"),
        "1.2",
    ]
    assert ordered([8.0, "as it is", 2.0, 8.0]) == ["as it is", 2.0, 8.0]
