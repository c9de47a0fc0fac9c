"""The line of an application in the table of `make bench`: its rate, its ratio, its goals, and right answers only."""

from __future__ import annotations

from typing import Any

from bench.applications import figure, made_of_expressions

from streamgauge.applications import get_application


def record(per_s: float | None, correct: bool = True, **more: Any) -> dict[str, Any]:
    verdict = {"correct": correct, "examples": [] if correct else ["key 1: expected 2, seen 3"]}
    return {"status": "done", "throughput": {"events_per_s": per_s}, "verdict": verdict, "quality": {}, **more}


def test_the_better_repeat_counts_and_is_held_against_identity() -> None:
    line = figure(get_application("wordcount"), [record(50_000), record(60_000)], 120_000)
    assert (line.seen, line.goal, line.reached) == ("60,000/s, 0.50× identity", "≥ 20,000/s, ≥ 0.3× identity", True)
    assert line.raw == "50,000/s; 60,000/s"


def test_expressions_must_not_be_far_slower_than_identity() -> None:
    assert not figure(get_application("wordcount"), [record(30_000)], 120_000).reached


def test_python_has_the_first_goal_alone() -> None:
    application = get_application("spike-detection")
    assert not made_of_expressions(application)
    line = figure(application, [record(30_000)], 120_000)
    assert (line.goal, line.reached) == ("≥ 20,000/s", True)
    assert not figure(application, [record(19_999)], 120_000).reached


def test_a_wrong_answer_reaches_no_goal() -> None:
    line = figure(get_application("wordcount"), [record(90_000), record(90_000, correct=False)], 120_000)
    assert not line.reached
    assert "WRONG: ['key 1: expected 2, seen 3']" in line.raw


def test_a_failure_is_a_line_too() -> None:
    failed = {"status": "failed", "error": {"cause": "it died"}, "gap": None, "throughput": None, "verdict": None}
    line = figure(get_application("wordcount"), [failed], 120_000)
    assert (line.seen, line.reached, line.raw) == ("0/s, 0.00× identity", False, "failed: it died")


def test_precision_and_recall_stand_beside_the_rates() -> None:
    found = [record(50_000, quality={"precision": 0.91234, "recall": 0.8})]
    assert figure(get_application("wordcount"), found, 60_000).raw == "50,000/s; precision 0.912, recall 0.800"
