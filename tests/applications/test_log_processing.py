"""Log processing: minutes in UTC, status codes, and places of the addresses that a range has."""

from __future__ import annotations

import pytest

from streamgauge.applications import log_processing

EVENTS = [
    (0, 0, 1000, "192.0.2.17", "30/Apr/1998:21:30:17 +0000", 200),
    (0, 1, 1002, "192.0.2.200", "30/Apr/1998:23:30:59 +0200", 304),
    (0, 2, 1004, "198.51.100.1", "30/Apr/1998:21:31:00 +0000", 200),
    (1, 0, 1001, "203.0.113.5", "01/May/1998:00:00:00 +0230", 404),
    (1, 1, 1003, "host.example.org", "yesterday", 200),
]
PLACES = [
    (0xC0000200, 0xC000027F, "Freedonia", "Plonk"),
    (0xC0000280, 0xC00002FF, "Freedonia", None),
    (0xCB007100, 0xCB0071FF, "Sylvania", "Plonk"),
]
RANGE_COLUMNS = "first_address bigint, last_address bigint, country string, city string"


@pytest.fixture
def visits(spark, origin_type):
    columns = f"host string, time string, status bigint, {origin_type}"
    rows = [(host, time, status, (ms, p, o, 0)) for p, o, ms, host, time, status in EVENTS]
    return log_processing.parse(spark.createDataFrame(rows, columns))


@pytest.fixture
def places(spark):
    return spark.createDataFrame(PLACES, RANGE_COLUMNS)


@pytest.fixture
def oracle_events(literal_events):
    rows = [(p, o, ms, "", host, time, status) for p, o, ms, host, time, status in EVENTS]
    literal_events.add("log", 'host varchar, "time" varchar, status bigint', rows)
    literal_events.add_table("places", RANGE_COLUMNS, PLACES)
    return literal_events


@pytest.mark.spark
def test_parse_gives_the_minute_in_utc(visits, rows_of):
    assert rows_of(visits, "origin", "minute", "status", "host") == [
        ((1000, 0, 0, 0), "1998-04-30 21:30", "200", "192.0.2.17"),
        ((1001, 1, 0, 0), "1998-04-30 21:30", "404", "203.0.113.5"),
        ((1002, 0, 1, 0), "1998-04-30 21:30", "304", "192.0.2.200"),
        ((1003, 1, 1, 0), None, "200", "host.example.org"),
        ((1004, 0, 2, 0), "1998-04-30 21:31", "200", "198.51.100.1"),
    ]


@pytest.mark.spark
def test_geography_keeps_visits_without_a_place(visits, places, rows_of):
    found = log_processing.geography(visits, places)
    assert found.columns == ["minute", "status", "origin", "country", "city"]
    assert rows_of(found, "origin", "country", "city") == [
        ((1000, 0, 0, 0), "Freedonia", "Plonk"),
        ((1001, 1, 0, 0), "Sylvania", "Plonk"),
        ((1002, 0, 1, 0), "Freedonia", None),
        ((1003, 1, 1, 0), None, None),
        ((1004, 0, 2, 0), None, None),
    ]


@pytest.mark.spark
def test_tally_gives_a_row_per_branch_with_an_origin_of_its_own(visits, places, rows_of):
    rows = log_processing.tally(log_processing.geography(visits, places))
    assert rows_of(rows, "origin", "branch", "key") == [
        ((1000, 0, 0, 0), "minute", "1998-04-30 21:30"),
        ((1000, 0, 0, 1), "status", "200"),
        ((1000, 0, 0, 2), "country", "Freedonia"),
        ((1000, 0, 0, 3), "city", "Freedonia: Plonk"),
        ((1001, 1, 0, 0), "minute", "1998-04-30 21:30"),
        ((1001, 1, 0, 1), "status", "404"),
        ((1001, 1, 0, 2), "country", "Sylvania"),
        ((1001, 1, 0, 3), "city", "Sylvania: Plonk"),
        ((1002, 0, 1, 0), "minute", "1998-04-30 21:30"),
        ((1002, 0, 1, 1), "status", "304"),
        ((1002, 0, 1, 2), "country", "Freedonia"),
        ((1003, 1, 1, 1), "status", "200"),
        ((1004, 0, 2, 0), "minute", "1998-04-30 21:31"),
        ((1004, 0, 2, 1), "status", "200"),
    ]


@pytest.mark.spark
def test_counts_are_per_branch_and_key_with_the_latest_origin(visits, places, rows_of):
    counted = log_processing.counts(log_processing.tally(log_processing.geography(visits, places)))
    assert rows_of(counted, "branch", "key", "seen", "origin") == [
        ("city", "Freedonia: Plonk", 1, (1000, 0, 0, 0)),
        ("city", "Sylvania: Plonk", 1, (1001, 1, 0, 0)),
        ("country", "Freedonia", 2, (1002, 0, 1, 0)),
        ("country", "Sylvania", 1, (1001, 1, 0, 0)),
        ("minute", "1998-04-30 21:30", 3, (1002, 0, 1, 0)),
        ("minute", "1998-04-30 21:31", 1, (1004, 0, 2, 0)),
        ("status", "200", 3, (1004, 0, 2, 0)),
        ("status", "304", 1, (1002, 0, 1, 0)),
        ("status", "404", 1, (1001, 1, 0, 0)),
    ]


PER_EVENT = [
    (0, 0, "city", "Freedonia: Plonk"),
    (0, 0, "country", "Freedonia"),
    (0, 0, "minute", "1998-04-30 21:30"),
    (0, 0, "status", "200"),
    (0, 1, "country", "Freedonia"),
    (0, 1, "minute", "1998-04-30 21:30"),
    (0, 1, "status", "304"),
    (0, 2, "minute", "1998-04-30 21:31"),
    (0, 2, "status", "200"),
    (1, 0, "city", "Sylvania: Plonk"),
    (1, 0, "country", "Sylvania"),
    (1, 0, "minute", "1998-04-30 21:30"),
    (1, 0, "status", "404"),
    (1, 1, "status", "200"),
]


def test_the_oracle_of_tally_expects_what_each_visit_counts_in(oracle_events, rows_of):
    expected = log_processing.counted_of_each_visit(oracle_events).rows
    assert rows_of(expected, "partition", '"offset"', "branch", "key") == PER_EVENT


def test_the_oracle_of_counts_expects_the_final_counts(oracle_events, rows_of):
    expected = log_processing.visits_per_key(oracle_events)
    assert rows_of(expected.rows, "branch", "key", "seen") == [
        ("city", "Freedonia: Plonk", 1),
        ("city", "Sylvania: Plonk", 1),
        ("country", "Freedonia", 2),
        ("country", "Sylvania", 1),
        ("minute", "1998-04-30 21:30", 3),
        ("minute", "1998-04-30 21:31", 1),
        ("status", "200", 3),
        ("status", "304", 1),
        ("status", "404", 1),
    ]
    assert rows_of(expected.touches, "partition", '"offset"', "branch", "key") == PER_EVENT


def test_only_what_the_stages_read_is_required():
    assert log_processing.APPLICATION.required_of("log") == ("host", "time", "status")
