"""Distinct count: each value counts once, missing ones never."""

from __future__ import annotations

import pytest

from streamgauge.applications import distinct_count
from streamgauge.model import UserError

EVENTS = [
    (0, 0, 1000, "142\tfree maps\t2006-03-01 07:17:12\t\t"),
    (0, 1, 1005, "142\tFree maps\t2006-03-01 07:17:12\t2\thttp://a.example"),
    (0, 2, 1006, "217\t\t2006-03-01 07:17:12\t2\thttp://a.example"),
    (1, 0, 1002, "217\tfree maps\t2006-03-01 11:58:51\t\t"),
    (1, 1, 1003, "993\tcafé 東京\t2006-03-01 11:58:51\t1\thttp://a.example"),
]

CASES = [("user_id", 3), ("query", 3), ("query_time", 2), ("item_rank", 2), ("click_url", 1)]

FIRST_EVENTS = [
    ("user_id", [(0, 0), (1, 0), (1, 1)]),
    ("query", [(0, 0), (0, 1), (1, 1)]),
    ("query_time", [(0, 0), (1, 0)]),
    ("item_rank", [(0, 1), (1, 1)]),
    ("click_url", [(1, 1)]),
]


def _counted(frame, field):
    return distinct_count.size(distinct_count.distinct(distinct_count.extract(frame, field=field)))


@pytest.mark.spark
@pytest.mark.parametrize(("field", "size"), CASES)
def test_the_stages_count_each_value_once(search_frame, rows_of, field, size):
    assert rows_of(_counted(search_frame(EVENTS), field), "field", "distinct_values") == [(field, size)]


@pytest.mark.spark
def test_the_stages_carry_the_latest_origin_that_was_kept(search_frame, rows_of):
    assert rows_of(_counted(search_frame(EVENTS[3:]), "user_id"), "origin") == [((1003, 1, 1, 0),)]


@pytest.mark.spark
def test_a_field_that_is_always_missing_gives_no_row(search_frame):
    assert _counted(search_frame(EVENTS[:1]), "item_rank").count() == 0


@pytest.mark.parametrize(("field", "size"), CASES)
def test_the_oracle_expects_the_size_of_the_set(search_events, rows_of, field, size):
    expected = distinct_count.size_of_the_set(search_events(EVENTS), field=field)
    assert rows_of(expected.rows, "field", "distinct_values") == [(field, size)]


@pytest.mark.parametrize(("field", "places"), FIRST_EVENTS)
def test_the_first_event_of_a_value_touches_the_count(search_events, rows_of, field, places):
    expected = distinct_count.size_of_the_set(search_events(EVENTS), field=field)
    assert rows_of(expected.touches, "partition", '"offset"') == places
    assert {name for (name,) in rows_of(expected.touches, "field")} == {field}


def test_the_oracle_takes_an_empty_text_as_missing(literal_events, rows_of):
    literal_events.add("searches", "query varchar", [(0, 0, 1, "", ""), (0, 1, 2, "", "maps")])
    expected = distinct_count.size_of_the_set(literal_events, field="query")
    assert rows_of(expected.rows, "distinct_values") == [(1,)]
    assert rows_of(expected.touches, '"offset"') == [(1,)]


def test_the_oracle_expects_nothing_of_a_field_that_is_always_missing(search_events):
    expected = distinct_count.size_of_the_set(search_events(EVENTS[:1]), field="item_rank")
    assert len(expected.rows) == 0
    assert len(expected.touches) == 0


def test_an_unknown_field_is_refused_before_anything_starts():
    with pytest.raises(UserError, match=r"unknown field of aol-search 'user'\. Did you mean 'user_id'"):
        distinct_count.APPLICATION.bind({"field": "user"})
