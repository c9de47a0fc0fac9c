"""One-second medians as a watcher sees them, and how long a burst is felt after its end: cases worked by hand."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from streamgauge.measure.answering import Answer, Answered
from streamgauge.measure.seconds import mean_of_seconds, seen_by_second, settling
from streamgauge.measure.window import Window
from streamgauge.model.application import PerEvent


def seen(rows: list[tuple[int, int, int]], end_ms: int, warmup: int = 0) -> list[float]:
    """Medians of events (index, append_ms, answered_ms) of a load from 10,000 ms on."""
    with duckdb.connect() as connection:
        connection.execute('create table events("index" bigint, append_ms bigint, answered_ms bigint)')
        connection.executemany("insert into events values (?, ?, ?)", rows)
        answered = [Answered(Answer(None, PerEvent(("a",))), "outputs", "events")]
        return list(seen_by_second(connection, answered, Window(warmup, 9, 9, 1, 10_000, end_ms)))


def test_a_second_is_the_median_of_what_was_answered_in_it() -> None:
    rows = [(0, 10_000, 10_010), (1, 10_100, 10_130), (2, 10_200, 10_220), (3, 11_000, 11_500)]
    assert seen(rows, 11_999) == [20.0, 500.0]


def test_a_second_without_an_answer_counts_with_the_age_of_the_newest() -> None:
    # Answered: one of 10.9 s in the first second, and all others in the fourth.
    rows = [(0, 10_900, 10_950), (1, 11_000, 13_100), (2, 12_000, 13_200), (3, 13_000, 13_300)]
    assert seen(rows, 13_900) == [50.0, 12_000 - 10_900, 13_000 - 10_900, 1_200.0]


def test_before_the_first_answer_it_is_the_time_since_the_beginning() -> None:
    assert seen([(0, 10_000, 12_500)], 12_000) == [1_000.0, 2_000.0, 2_500.0]


def test_the_warm_up_and_what_comes_after_the_load_do_not_count() -> None:
    rows = [(0, 9_000, 10_500), (1, 10_000, 10_100), (2, 10_800, 19_000)]
    assert seen(rows, 10_900, warmup=1) == [100.0]


def test_the_mean_of_the_seconds() -> None:
    assert mean_of_seconds(np.array([10.0, 30.0])) == {"mean_p50_ms": 20.0, "seconds": 2}
    assert mean_of_seconds(np.zeros(0)) == {}


def test_a_burst_is_felt_until_the_median_is_back_within_twice_of_before() -> None:
    medians = np.array([5, 5, 6, 800, 900, 700, 11, 10, 5, 5.0])
    found = settling(medians, [(3.0, 5.0)])
    # From second 5 on: 700 and 11 are above 10, the third is not.
    assert found["base_p50_ms"] == 5.0
    assert found["settled_max_s"] == 2.0
    assert found["peak_p50_ms"] == 900.0


def test_what_never_settles_counts_up_to_the_next_burst_or_the_end() -> None:
    medians = np.array([5, 5, 800, 800, 800, 800, 800, 5.0])
    found = settling(medians, [(2.0, 3.0), (5.0, 6.0)])
    assert found["settled_max_s"] == 2.0
    assert found["settled_mean_s"] == pytest.approx(1.5)
    assert settling(medians, []) == {}


def test_rounding_of_the_logs_clock_is_not_a_burst() -> None:
    assert settling(np.array([0, 0, 50, 2, 1.0]), [(2.0, 3.0)])["settled_max_s"] == 0.0
