"""Stored join: a click on a listed site gets what the directory says of it; any other event gives nothing."""

from __future__ import annotations

import pytest

from streamgauge.applications import stored_join

EVENTS = [
    (0, 0, 1000, "142\tmaps\t2006-03-01 07:17:00\t1\thttp://a.com"),
    (0, 1, 1004, "217\tmaps\t2006-03-01 07:17:59\t2\thttp://é.org"),
    (0, 2, 1005, "217\tmaps\t2006-03-01 07:17:30\t\t"),
    (1, 0, 1001, "218\tmaps\t2006-03-01 07:18:00\t1\thttp://A.com"),
    (1, 1, 1002, "142\tmaps\t2006-03-01 07:19:00\t1\thttp://a.com"),
]
SITES = [("http://a.com", "arts", 1), ("http://é.org", "news", 2), ("http://never.com", "games", 3)]


@pytest.mark.spark
def test_the_stages_join_clicks_with_the_directory(spark, search_frame, rows_of):
    clicks = stored_join.clicks(search_frame(EVENTS))
    assert rows_of(clicks, "origin", "user_id", "site") == [
        ((1000, 0, 0, 0), 142, "http://a.com"),
        ((1001, 1, 0, 0), 218, "http://A.com"),
        ((1002, 1, 1, 0), 142, "http://a.com"),
        ((1004, 0, 1, 0), 217, "http://é.org"),
    ]
    sites = spark.createDataFrame(SITES, "site string, category string, popularity bigint")
    enriched = stored_join.enrich(clicks, sites)
    assert enriched.columns == ["user_id", "site", "category", "popularity", "origin"]
    assert rows_of(enriched, "origin", "user_id", "site", "category", "popularity") == [
        ((1000, 0, 0, 0), 142, "http://a.com", "arts", 1),
        ((1002, 1, 1, 0), 142, "http://a.com", "arts", 1),
        ((1004, 0, 1, 0), 217, "http://é.org", "news", 2),
    ]


def test_the_oracles_expect_the_same_events(search_events, rows_of):
    events = search_events(EVENTS)
    events.add_table("sites", "site varchar, category varchar, popularity bigint", SITES)
    clicks = stored_join.click_of_each_event(events).rows
    assert rows_of(clicks, "partition", '"offset"', "user_id", "site") == [
        (0, 0, 142, "http://a.com"),
        (0, 1, 217, "http://é.org"),
        (1, 0, 218, "http://A.com"),
        (1, 1, 142, "http://a.com"),
    ]
    enriched = stored_join.listed_click_of_each_event(events).rows
    assert rows_of(enriched, "partition", '"offset"', "user_id", "site", "category", "popularity") == [
        (0, 0, 142, "http://a.com", "arts", 1),
        (0, 1, 217, "http://é.org", "news", 2),
        (1, 1, 142, "http://a.com", "arts", 1),
    ]


def test_stopped_after_the_clicks_it_reads_no_table():
    assert stored_join.APPLICATION.stopped_after("clicks").tables == {}
