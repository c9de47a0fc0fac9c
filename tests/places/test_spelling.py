"""A place is known by its spelling; what is none says how to write one."""

from __future__ import annotations

import pytest

from streamgauge.model import UserError
from streamgauge.places import parse_place
from streamgauge.places.embedded_cluster import SLOTS_PER_WORKER


def test_threads_of_this_machine() -> None:
    assert parse_place("local").master == "local[32]"
    few = parse_place("local[1]")
    assert (few.master, few.slots, few.cores, few.nodes, few.embedded) == ("local[1]", 1, 1, 1, False)


def test_workers_of_this_machine() -> None:
    place = parse_place("cluster:3")
    assert (place.nodes, place.embedded, place.spare_slots) == (3, True, SLOTS_PER_WORKER)
    assert place.slots == 2 * SLOTS_PER_WORKER, "one worker's slots are kept for what a fault takes away"
    alone = parse_place("cluster:1")
    assert (alone.slots, alone.spare_slots) == (SLOTS_PER_WORKER, 0)


@pytest.mark.parametrize(
    ("spelling", "runs"),
    [
        ("spark://here:7077", "spark"),
        ("spark://here:7077,there:7077", "spark"),
        ("yarn", "spark"),
        ("k8s://https://here:6443", "spark"),
        ("flink://here:8081", "flink"),
    ],
)
def test_a_cluster_that_is_there(spelling: str, runs: str) -> None:
    place = parse_place(spelling)
    assert (place.master, place.runs, place.foreign, place.slots) == (spelling, runs, True, None)


NO_PLACES = ("", "local[0]", "cluster", "cluster:0", "cluster:17", "cluster:x", "Local")
NO_CLUSTERS = ("spark://here", "spark://:7077", "spark://here:7077/", "spark://a:1,", "k8s://", "flink://here", "YARN")


@pytest.mark.parametrize("spelling", [*NO_PLACES, *NO_CLUSTERS])
def test_what_is_no_place_says_how_to_write_one(spelling: str) -> None:
    with pytest.raises(UserError, match="is not a place") as refused:
        parse_place(spelling)
    assert "cluster:N" in refused.value.way_out
