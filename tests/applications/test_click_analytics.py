"""Click analytics: all visits with their places in one query, first visits of a user to a URL in another."""

from __future__ import annotations

import pytest

from streamgauge.applications import click_analytics

EVENTS = [
    (0, 0, 1000, "192.0.2.17", "/a", "k1"),
    (0, 1, 1003, "192.0.2.18", "/a", "k1"),
    (0, 2, 1004, "198.51.100.1", "/b", "k1"),
    (1, 0, 1001, "192.0.2.200", "/a", None),
    (1, 1, 1002, "192.0.2.200", "/a", None),
    (1, 2, 1005, "192.0.2.200", "/a", "k2"),
]
PLACES = [
    (0xC0000200, 0xC000027F, "Freedonia", "Plonk"),
    (0xC0000280, 0xC00002FF, "Freedonia", None),
]
RANGE_COLUMNS = "first_address bigint, last_address bigint, country string, city string"


@pytest.fixture
def clicks(spark, origin_type):
    rows = [(ip, url, key, (ms, p, o, 0)) for p, o, ms, ip, url, key in EVENTS]
    return spark.createDataFrame(rows, f"ip string, url string, client_key string, {origin_type}")


@pytest.fixture
def tallied(spark, clicks):
    places = spark.createDataFrame(PLACES, RANGE_COLUMNS)
    return click_analytics.tally(click_analytics.geography(clicks, places))


@pytest.fixture
def oracle_events(literal_events):
    rows = [(p, o, ms, "", ip, url, key) for p, o, ms, ip, url, key in EVENTS]
    literal_events.add("clicks", "ip varchar, url varchar, client_key varchar", rows)
    literal_events.add_table("places", RANGE_COLUMNS, PLACES)
    return literal_events


@pytest.mark.spark
def test_tally_gives_a_row_per_count(tallied, rows_of):
    assert rows_of(tallied, "origin", "branch", "key") == [
        ((1000, 0, 0, 0), "total", "visits"),
        ((1000, 0, 0, 1), "country", "Freedonia"),
        ((1000, 0, 0, 2), "city", "Freedonia: Plonk"),
        ((1001, 1, 0, 0), "total", "visits"),
        ((1001, 1, 0, 1), "country", "Freedonia"),
        ((1002, 1, 1, 0), "total", "visits"),
        ((1002, 1, 1, 1), "country", "Freedonia"),
        ((1003, 0, 1, 0), "total", "visits"),
        ((1003, 0, 1, 1), "country", "Freedonia"),
        ((1003, 0, 1, 2), "city", "Freedonia: Plonk"),
        ((1004, 0, 2, 0), "total", "visits"),
        ((1005, 1, 2, 0), "total", "visits"),
        ((1005, 1, 2, 1), "country", "Freedonia"),
    ]


@pytest.mark.spark
def test_visits_are_counted_in_total_per_country_and_per_city(tallied, rows_of):
    assert rows_of(click_analytics.visits(tallied), "branch", "key", "seen", "origin") == [
        ("city", "Freedonia: Plonk", 2, (1003, 0, 1, 0)),
        ("country", "Freedonia", 5, (1005, 1, 2, 0)),
        ("total", "visits", 6, (1005, 1, 2, 0)),
    ]


@pytest.mark.spark
def test_a_user_is_the_key_or_else_the_address(clicks, rows_of):
    first = click_analytics.first_visits(clicks)
    assert rows_of(first, "branch", "key") == [("total", "unique visits")] * 4
    offsets = {(partition, offset) for ((_, partition, offset, _),) in rows_of(first, "origin")}
    assert (0, 2) in offsets and (1, 2) in offsets
    assert len(offsets & {(0, 0), (0, 1)}) == 1 and len(offsets & {(1, 0), (1, 1)}) == 1


@pytest.mark.spark
def test_unique_visits_are_counted_in_one_number(clicks, rows_of):
    counted = click_analytics.unique(click_analytics.first_visits(clicks))
    assert rows_of(counted, "branch", "key", "seen") == [("total", "unique visits", 4)]


def test_the_oracle_of_tally_expects_what_each_click_counts_in(oracle_events, rows_of):
    expected = click_analytics.counted_of_each_click(oracle_events).rows
    assert rows_of(expected, "partition", '"offset"', "branch", "key") == [
        (0, 0, "city", "Freedonia: Plonk"),
        (0, 0, "country", "Freedonia"),
        (0, 0, "total", "visits"),
        (0, 1, "city", "Freedonia: Plonk"),
        (0, 1, "country", "Freedonia"),
        (0, 1, "total", "visits"),
        (0, 2, "total", "visits"),
        (1, 0, "country", "Freedonia"),
        (1, 0, "total", "visits"),
        (1, 1, "country", "Freedonia"),
        (1, 1, "total", "visits"),
        (1, 2, "country", "Freedonia"),
        (1, 2, "total", "visits"),
    ]


def test_the_oracle_of_visits_expects_the_final_counts(oracle_events, rows_of):
    expected = click_analytics.visits_per_key(oracle_events)
    assert rows_of(expected.rows, "branch", "key", "seen") == [
        ("city", "Freedonia: Plonk", 2),
        ("country", "Freedonia", 5),
        ("total", "visits", 6),
    ]
    assert len(rows_of(expected.touches, "partition", '"offset"', "branch", "key")) == 13


def test_the_oracle_of_unique_expects_the_first_click_of_each_pair(oracle_events, rows_of):
    expected = click_analytics.unique_visits(oracle_events)
    assert rows_of(expected.rows, "branch", "key", "seen") == [("total", "unique visits", 4)]
    assert rows_of(expected.touches, "partition", '"offset"') == [(0, 0), (0, 2), (1, 0), (1, 2)]


def test_stopped_after_unique_it_reads_no_table():
    assert click_analytics.APPLICATION.stopped_after("unique").tables == {}
