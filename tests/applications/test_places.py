"""Looking up addresses: bounds belong to a range, a large range is found in every bucket, the rest is nowhere."""

from __future__ import annotations

import pytest

from streamgauge.applications.places import located, located_sql

RANGE_COLUMNS = "first_address bigint, last_address bigint, country string, city string"
PLACES = [
    (0x01000000, 0x010000FF, "Freedonia", "Plonk"),  # 1.0.0.0 to 1.0.0.255
    (0x01000100, 0x010001FF, "Freedonia", None),  # 1.0.1.0 to 1.0.1.255
    (0x01FF8000, 0x02028000, "Sylvania", "Quill"),  # 1.255.128.0 to 2.2.128.0, over four buckets
    (0xDFFFFFFF, 0xDFFFFFFF, "Nowhere", "End"),  # 223.255.255.255 alone
]
ANSWERS = [
    ("0.255.255.255", None, None),
    ("1.0.0.0", "Freedonia", "Plonk"),
    ("1.0.0.255", "Freedonia", "Plonk"),
    ("1.0.1.0", "Freedonia", None),
    ("1.0.2.0", None, None),
    ("1.255.127.255", None, None),
    ("1.255.128.0", "Sylvania", "Quill"),
    ("2.0.0.1", "Sylvania", "Quill"),
    ("2.1.255.255", "Sylvania", "Quill"),
    ("2.2.128.0", "Sylvania", "Quill"),
    ("2.2.128.1", None, None),
    ("223.255.255.255", "Nowhere", "End"),
    ("255.255.255.255", None, None),
    ("1.0.0.256", None, None),
    ("1.0.0", None, None),
    ("1.0.0.0.0", None, None),
    ("1.0.0.0 ", None, None),
    ("+1.0.0.0", None, None),
    ("1.0.0.1e1", None, None),
    ("1.0.0.0001", None, None),
    ("999999999999.0.0.1", None, None),
    ("2001:db8::1", None, None),
    ("host.example.org", None, None),
    ("", None, None),
]


@pytest.mark.spark
def test_an_address_gets_the_place_of_its_range(spark, rows_of):
    visits = spark.createDataFrame(
        [(host, number) for number, (host, _, _) in enumerate(ANSWERS)], "host string, n int"
    )
    found = located(visits, "host", spark.createDataFrame(PLACES, RANGE_COLUMNS))
    assert found.columns == ["n", "country", "city"]
    answers = {number: place for number, *place in rows_of(found, "n", "country", "city")}
    assert {ANSWERS[number][0]: tuple(place) for number, place in answers.items()} == {
        host: (country, city) for host, country, city in ANSWERS
    }


@pytest.mark.spark
def test_no_range_is_scanned(spark):
    visits = spark.createDataFrame([("1.0.0.0",)], "host string")
    plan = located(visits, "host", spark.createDataFrame(PLACES, RANGE_COLUMNS))._jdf.queryExecution().toString()
    assert "BroadcastHashJoin" in plan and "NestedLoop" not in plan and "Cartesian" not in plan


def test_the_oracle_finds_the_same_places(literal_events, rows_of):
    literal_events.add("log", "host varchar", [(0, n, 1, "", host) for n, (host, _, _) in enumerate(ANSWERS)])
    literal_events.add_table("places", RANGE_COLUMNS, PLACES)
    found = rows_of(literal_events.sql(located_sql("log", "host")), "host", "country", "city")
    assert found == sorted(ANSWERS, key=repr)
