"""Parallelism per stage: which query a stage is in, what may be set, and the slots that it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.applications import get_application
from streamgauge.engines import get_engine
from streamgauge.engines.spark.parallelism import shuffle_partitions, stages_of_queries, stateful_stages
from streamgauge.model import Application, Expected, LatestPerKey, Output, UserError, stage
from streamgauge.streams.aol_search import STREAM

OWN = Path(__file__).parents[1] / "applications"


@stage
def parse(lines: Any) -> Any:
    raise AssertionError("never run")


@stage(uses=("deduplicate",))
def first(parse: Any) -> Any:
    raise AssertionError("never run")


@stage(uses=("aggregate",))
def by_word(first: Any) -> Any:
    raise AssertionError("never run")


@stage(uses=("aggregate",))
def by_user(parse: Any) -> Any:
    raise AssertionError("never run")


@stage(uses=("aggregate",))
def total(by_user: Any) -> Any:
    raise AssertionError("never run")


def nothing(events: Any) -> Expected:
    raise AssertionError("never asked")


OUTPUTS = tuple(Output(name, nothing, LatestPerKey(("k",), {"n": "rises"})) for name in ("by_word", "total"))
GRAPH = Application(
    "graph", "?", {"lines": STREAM}, (parse, first, by_word, by_user, total), OUTPUTS, cuts=("by_user",)
)


def test_every_query_runs_its_stages_back_to_the_cuts() -> None:
    assert stages_of_queries(GRAPH) == {
        "to-by_user": ["parse", "by_user"],
        "by_word": ["parse", "first", "by_word"],
        "total": ["total"],
    }
    assert stateful_stages(GRAPH) == {
        "to-by_user": ("by_user",),
        "by_word": ("first", "by_word"),
        "total": ("total",),
    }


def test_a_stage_sets_the_shuffle_partitions_of_its_query_alone() -> None:
    given = {"parallelism.first": "5", "parallelism.total": "3", "trigger": "0s"}
    assert shuffle_partitions(GRAPH, given, 2) == {"to-by_user": 2, "by_word": 5, "total": 3}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"parallelism.tutal": "3"}, "unknown stage of 'graph' 'tutal'. Did you mean 'total'"),
        ({"parallelism.parse": "3"}, "stage 'parse' of 'graph' has no parallelism of its own: it keeps no state"),
        (
            {"parallelism.first": "3", "parallelism.by_word": "4"},
            "query 'by_word' has one number of shuffle partitions, and parallelism.first=3, parallelism.by_word=4",
        ),
    ],
)
def test_what_cannot_be_set_is_said(given: dict[str, str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        shuffle_partitions(GRAPH, given, 2)


@pytest.mark.parametrize("value", ["0", "two", "-1", ""])
def test_a_parallelism_is_a_whole_number(value: str) -> None:
    for name in ("parallelism.count", "spark.sql.shuffle.partitions"):
        with pytest.raises(UserError, match="is a whole number above 0"):
            get_engine("spark-microbatch").resolve({name: value})


def test_slots_count_what_was_set() -> None:
    wordcount = get_application("wordcount")
    realtime, microbatch = get_engine("spark-realtime"), get_engine("spark-microbatch")
    assert realtime.slots_needed(wordcount, 2, {}) == 4
    assert realtime.slots_needed(wordcount, 2, {"parallelism.count": "6"}) == 8
    assert microbatch.slots_needed(wordcount, 2, {"parallelism.count": "6"}) == 6
    assert microbatch.slots_needed(wordcount, 8, {"parallelism.count": "6"}) == 8
    with pytest.raises(UserError, match="keeps no state"):
        microbatch.slots_needed(wordcount, 2, {"parallelism.split": "6"})


def test_slots_of_two_queries() -> None:
    two = get_application(str(OWN / "two_queries.py"))
    realtime = get_engine("spark-realtime")
    # Two queries of 2 partitions; the second drops repeats and counts, 2 tasks each.
    assert realtime.slots_needed(two, 2, {}) == 8
    # The count has 5; what drops repeats in the same query has as many.
    assert realtime.slots_needed(two, 2, {"parallelism.count": "5"}) == 14


def test_what_was_set_is_among_the_tuning() -> None:
    tuning = get_engine("spark-microbatch").tuning("wordcount", {"parallelism.count": "6"})
    assert tuning["parallelism.count"] == "6"
    assert tuning["spark.sql.shuffle.partitions"] == "2"
