"""Applications of more than one branch, and of more than one query."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.applications import get_application

HERE = Path(__file__).parent
EVENTS = [
    (0, 0, 1000, "142\tfree maps free\t2006-03-01 07:17:12\t1\thttp://a.example"),
    (0, 1, 1001, "217\t\t2006-03-01 11:58:51\t\t"),
    (1, 0, 1002, "218\tmaps\t2006-03-01 11:58:51\t1\thttp://b.example"),
]


@pytest.fixture(scope="module")
def two_branches():
    return get_application(str(HERE / "two_branches.py"))


def test_two_branches_end_in_two_outputs(two_branches):
    assert two_branches.leaves() == ("count_words", "count_clicks")
    assert [o.stage for o in two_branches.leaf_outputs()] == ["count_words", "count_clicks"]


@pytest.mark.spark
def test_the_stages_of_two_branches(two_branches, search_frame, rows_of):
    parsed = two_branches.stage("parse")(search_frame(EVENTS))
    assert rows_of(two_branches.stage("count_words")(parsed), "word", "seen", "origin") == [
        ("free", 2, (1000, 0, 0, 0)),
        ("maps", 2, (1002, 1, 0, 0)),
    ]
    assert rows_of(two_branches.stage("count_clicks")(parsed), "item_rank", "clicks", "origin") == [
        (1, 2, (1002, 1, 0, 0))
    ]


def test_the_oracles_of_two_branches(two_branches, search_events, rows_of):
    words, clicks = (output.oracle(search_events(EVENTS)) for output in two_branches.outputs)
    assert rows_of(words.rows, "word", "seen") == [("free", 2), ("maps", 2)]
    assert rows_of(words.touches, "partition", '"offset"', "word") == [(0, 0, "free"), (0, 0, "maps"), (1, 0, "maps")]
    assert rows_of(clicks.rows, "item_rank", "clicks") == [(1, 2)]
    assert rows_of(clicks.touches, "partition", '"offset"', "item_rank") == [(0, 0, 1), (1, 0, 1)]


def test_one_branch_can_be_run_alone(two_branches):
    alone = two_branches.stopped_after("count_clicks")
    assert [s.name for s in alone.stages] == ["parse", "count_clicks"]


def test_two_queries_are_parted_after_split_with_the_key_of_the_next_stage():
    application = get_application(str(HERE / "two_queries.py"))
    assert application.cuts == ("split",)
    assert application.stage("split").key == ("word",)
    assert application.stopped_after("split").cuts == ()
