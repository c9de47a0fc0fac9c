"""The one-sentence answer and the figures in words."""

from __future__ import annotations

import pytest

from streamgauge.measure.repeats import groups
from streamgauge.report import words
from streamgauge.report.markup import figure, label
from tests.report.sample_run import record, trials


def latency(p50: float, **changes: object) -> dict[str, object]:
    """A record on an engine with that median."""
    engine = str(changes.pop("engine", "spark-realtime"))
    made = record("wordcount", engine, **changes)  # type: ignore[arg-type]
    made["latency_ms"]["p50"] = p50
    return made


def test_bursts_are_told_in_a_sentence() -> None:
    caught = {"waiting_events": 48_000, "catch_up_s": 7.0, "burst_events_per_s": 7_200.4, "peak_events_per_s": 9_000.0}
    assert words.burst_words({"bursts": caught}) == "48,000 events lay in the log; caught up within 7 s, at 7,200/s"
    assert words.burst_words({"bursts": {**caught, "catch_up_s": None}}).endswith("it did not catch up under the load")
    inflated = {"bursts": 2, "inflated_mean_s": 1.5, "inflated_max_s": 2.0}
    assert (
        words.burst_words({"bursts": inflated})
        == "latency stays inflated for 1.5 s after a burst, 2 s at most (2 bursts)"
    )
    short = {"bursts": 1, "inflated_mean_s": 0.0, "inflated_max_s": 0.0}
    assert words.burst_words({"bursts": short}) == "latency is back within a second of every burst (1 burst)"
    assert words.burst_words({"bursts": {}}) == words.burst_words({}) == ""


def test_the_answer_ranks_engines_by_their_median_and_says_the_answers_are_right() -> None:
    said = words.answer([latency(480, engine="spark-microbatch"), latency(6)])
    assert said == (
        "spark-realtime answered in 6 ms at the median, spark-microbatch in 480 ms; all 2 answers are right."
    )


def test_the_answer_leaves_out_what_may_not_be_compared() -> None:
    wrong = latency(1)
    wrong["verdict"] |= {"correct": False, "lost": 2}  # type: ignore[operator]
    said = words.answer([wrong, latency(2, valid=False, invalid_reasons=["behind"]), latency(9)])
    assert said.startswith("spark-realtime answered in 9 ms at the median; 1 of 3 answers is wrong;")
    assert "1 of 3 trials is not valid and not ranked" in said


def test_the_answer_of_a_run_without_figures_is_a_sentence() -> None:
    gap = record("wordcount", "spark-continuous", status="gap", gap={"kind": "never", "reason": "no aggregates"})
    assert words.answer([gap]) == "No answer was checked; 1 of 1 could not be run."
    assert words.answer([]) == "No trial has been stored yet."


def test_a_preloaded_run_is_answered_by_its_drain_rate() -> None:
    drained = {**record("identity", "spark-microbatch"), "load": "preloaded"}
    drained["throughput"]["events_per_s"] = 289_000.4
    assert words.answer([drained]) == "spark-microbatch drained 289,000 events/s; the answer is right."


def test_a_spread_over_applications_names_its_unit_once() -> None:
    said = words.answer([latency(5), latency(8)])
    assert said.startswith("spark-realtime answered in 5 to 8 ms at the median")


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "–"), (0, "0 ms"), (1.4, "1.4 ms"), (480.4, "480 ms"), (1200, "1.2 s"), (250_000, "250 s")],
)
def test_a_latency_in_words(value: float | None, said: str) -> None:
    assert words.milliseconds(value) == said


@pytest.mark.parametrize(
    ("name", "value", "named", "said"),
    [
        ("rss_bytes_max", 2**20, "rss max", "1.0 MiB"),
        ("rx_bytes_per_s", 2048, "rx bytes per second", "2.0 KiB/s"),
        ("events_per_s_per_node", 1234.5, "events per second per node", "1,234/s"),
        ("round_trip_ms n", 200, "round trip n", "200"),
        ("lateness_ms p99", 1.5, "lateness p99", "1.5 ms"),
        ("drain_s", 0.6, "drain", "600 ms"),
        ("cpu_share", 0.455, "cpu share", "46%"),
        ("seed", 7, "seed", "7"),
        ("anything", float("nan"), "anything", "–"),
    ],
)
def test_a_stored_figure_shows_its_unit(name: str, value: float, named: str, said: str) -> None:
    assert label(name) == named
    assert figure(name, value) == said


def test_a_verdict_names_what_differed_and_what_was_allowed() -> None:
    right = record("grep", "spark-realtime")["verdict"]
    assert words.verdict_words(right) == "right"
    assert words.verdict_words({**right, "duplicated": 1200}) == "right (1,200 duplicated, allowed)"
    assert words.verdict_words({**right, "correct": False, "lost": 3, "out_of_order": 1}) == "3 lost, 1 out of order"


def test_repeats_are_gathered_and_the_rest_kept_apart() -> None:
    found = groups([r for r, _ in trials()])
    assert [len(g.records) for g in found] == [3, 3, 3, 3, 1, 1, 1, 1]
    assert [len(g.ranked) for g in found] == [3, 3, 3, 3, 0, 0, 0, 0]


def test_what_is_compared_stands_together() -> None:
    mixed = [
        record(application, engine) for engine in ("spark-microbatch", "spark-realtime") for application in ("b", "a")
    ]
    assert [(r["application"], r["engine"]) for r in words.compared(mixed)] == [
        ("b", "spark-microbatch"),
        ("b", "spark-realtime"),
        ("a", "spark-microbatch"),
        ("a", "spark-realtime"),
    ]


def test_a_right_verdict_says_how_many_events_were_rejected() -> None:
    verdict = {"correct": True, "duplicated": 0, "rejected": 1200}
    assert words.verdict_words(verdict) == "right (1,200 rejected)"
    assert words.verdict_words({**verdict, "duplicated": 2}) == "right (2 duplicated, allowed; 1,200 rejected)"


def test_quality_is_said_where_there_are_labels() -> None:
    assert words.quality_words({"quality": {"precision": 0.95, "recall": 0.8}}) == "precision 0.95, recall 0.8"
    assert words.quality_words({}) == ""
