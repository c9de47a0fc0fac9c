"""Windowed count: clicks per site and minute of event time; a search without a click counts nowhere."""

from __future__ import annotations

from datetime import datetime

import pytest

from streamgauge.applications import windowed_count
from streamgauge.model.errors import UserError

EVENTS = [
    (0, 0, 1000, "142\tmaps\t2006-03-01 07:17:00\t1\thttp://a.com"),
    (0, 1, 1004, "217\tmaps\t2006-03-01 07:17:59\t2\thttp://a.com"),
    (0, 2, 1005, "217\tmaps\t2006-03-01 07:17:30\t\t"),
    (1, 0, 1001, "218\tmaps\t2006-03-01 07:18:00\t1\thttp://a.com"),
    (1, 1, 1002, "219\t\t2006-03-01 07:16:59\t9\thttp://b.org"),
]


@pytest.mark.spark
def test_clicks_are_events_with_a_site(search_frame, rows_of):
    clicks = windowed_count.clicks(search_frame(EVENTS))
    assert clicks.columns == ["site", "query_time", "origin"]
    assert rows_of(clicks.selectExpr("site", "string(query_time) as at", "origin"), "origin", "site", "at") == [
        ((1000, 0, 0, 0), "http://a.com", "2006-03-01 07:17:00"),
        ((1001, 1, 0, 0), "http://a.com", "2006-03-01 07:18:00"),
        ((1002, 1, 1, 0), "http://b.org", "2006-03-01 07:16:59"),
        ((1004, 0, 1, 0), "http://a.com", "2006-03-01 07:17:59"),
    ]


@pytest.mark.spark
def test_the_count_is_per_site_and_window(search_frame, rows_of):
    clicks = windowed_count.clicks(search_frame(EVENTS))
    counted = windowed_count.count(clicks, window_s=60)
    shown = counted.selectExpr("site", "string(window_start) as start", "clicks", "origin")
    assert rows_of(shown, "site", "start", "clicks", "origin") == [
        ("http://a.com", "2006-03-01 07:17:00", 2, (1004, 0, 1, 0)),
        ("http://a.com", "2006-03-01 07:18:00", 1, (1001, 1, 0, 0)),
        ("http://b.org", "2006-03-01 07:16:00", 1, (1002, 1, 1, 0)),
    ]
    wide = windowed_count.count(clicks, window_s=7 * 60).selectExpr("site", "string(window_start) as start", "clicks")
    assert rows_of(wide, "site", "start", "clicks") == [
        ("http://a.com", "2006-03-01 07:12:00", 3),
        ("http://b.org", "2006-03-01 07:12:00", 1),
    ]


def test_the_oracle_of_clicks(search_events, rows_of):
    expected = windowed_count.click_of_each_event(search_events(EVENTS)).rows
    assert rows_of(expected, "partition", '"offset"', "site", "query_time") == [
        (0, 0, "http://a.com", datetime(2006, 3, 1, 7, 17)),
        (0, 1, "http://a.com", datetime(2006, 3, 1, 7, 17, 59)),
        (1, 0, "http://a.com", datetime(2006, 3, 1, 7, 18)),
        (1, 1, "http://b.org", datetime(2006, 3, 1, 7, 16, 59)),
    ]


def test_the_oracle_of_the_count(search_events, rows_of):
    expected = windowed_count.clicks_per_site_and_window(search_events(EVENTS), window_s=60)
    assert rows_of(expected.rows, "site", "window_start", "clicks") == [
        ("http://a.com", datetime(2006, 3, 1, 7, 17), 2),
        ("http://a.com", datetime(2006, 3, 1, 7, 18), 1),
        ("http://b.org", datetime(2006, 3, 1, 7, 16), 1),
    ]
    assert rows_of(expected.touches, "partition", '"offset"', "site", "window_start") == [
        (0, 0, "http://a.com", datetime(2006, 3, 1, 7, 17)),
        (0, 1, "http://a.com", datetime(2006, 3, 1, 7, 17)),
        (1, 0, "http://a.com", datetime(2006, 3, 1, 7, 18)),
        (1, 1, "http://b.org", datetime(2006, 3, 1, 7, 16)),
    ]
    wide = windowed_count.clicks_per_site_and_window(search_events(EVENTS), window_s=7 * 60).rows
    assert rows_of(wide, "site", "window_start", "clicks") == [
        ("http://a.com", datetime(2006, 3, 1, 7, 12), 3),
        ("http://b.org", datetime(2006, 3, 1, 7, 12), 1),
    ]


@pytest.mark.parametrize("text", ["0", "-60", "minute"])
def test_a_window_has_a_length(text):
    with pytest.raises(UserError, match="window_s"):
        windowed_count.APPLICATION.bind({"window_s": text})
