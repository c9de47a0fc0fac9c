"""Grep: a text is found letter by letter, anywhere in the line."""

from __future__ import annotations

import pytest

from streamgauge.applications import grep

EVENTS = [
    (0, 0, 1000, "142\tfree maps\t2006-03-01 07:17:12\t1\thttp://maps.example"),
    (0, 1, 1001, "142\tFREE maps\t2006-03-01 07:17:12\t\t"),
    (0, 2, 1002, "217\tcarefree\t2006-03-01 11:58:51\t\t"),
    (1, 0, 1003, "218\tweather\t2006-03-01 11:58:51\t1\thttp://free.example"),
    (1, 1, 1004, "219\tit's 100% free?\t2006-03-01 11:58:51\t\t"),
    (1, 2, 1005, "220\t\t2006-03-01 11:58:51\t\t"),
    (1, 3, 1006, "221\tcafé 東京\t2006-03-01 11:58:51\t\t"),
]

CASES = [
    ("free", [(0, 0), (0, 2), (1, 0), (1, 1)]),
    ("FREE", [(0, 1)]),
    ("it's", [(1, 1)]),
    ("0%", [(1, 1)]),
    ("f.ee", []),
    ("é 東", [(1, 3)]),
    ("221\tcafé", [(1, 3)]),
    ("", [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3)]),
]


@pytest.mark.spark
@pytest.mark.parametrize(("pattern", "places"), CASES)
def test_the_stage_keeps_the_lines_that_contain_the_text(search_frame, rows_of, pattern, places):
    found = grep.grep(search_frame(EVENTS), pattern=pattern)
    assert rows_of(found, "origin.partition", "origin.offset") == places
    assert set(found.columns) == {"line", "origin"}


@pytest.mark.parametrize(("pattern", "places"), CASES)
def test_the_oracle_expects_the_same_lines(search_events, rows_of, pattern, places):
    expected = grep.matching_lines(search_events(EVENTS), pattern=pattern).rows
    assert rows_of(expected, "partition", '"offset"') == places


@pytest.mark.spark
def test_the_line_is_kept_whole(search_frame, rows_of):
    found = grep.grep(search_frame(EVENTS), pattern="carefree")
    assert rows_of(found, "line") == [("217\tcarefree\t2006-03-01 11:58:51\t\t",)]


def test_the_oracle_keeps_the_line_whole(search_events, rows_of):
    expected = grep.matching_lines(search_events(EVENTS), pattern="carefree").rows
    assert rows_of(expected, "line") == [("217\tcarefree\t2006-03-01 11:58:51\t\t",)]
