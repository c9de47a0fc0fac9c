"""Ad analytics: views are kept, ads become campaigns, and windows of event time begin at whole multiples."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamgauge.applications import ad_analytics
from streamgauge.model.errors import UserError

CAMPAIGNS = [("ad-1", "shoes"), ("ad-2", "shoes"), ("ad-3", "cars")]
T = 1_445_385_600_000
"""2015-10-21 00:00:00 UTC, where windows of ten and of twenty seconds begin."""

EVENTS = [
    (0, 0, 1000, "ad-1", "view", T),
    (0, 1, 1003, "ad-2", "view", T + 9_999),
    (0, 2, 1004, "ad-1", "click", T + 1),
    (0, 3, 1009, "ad-9", "view", T + 2),
    (1, 0, 1001, "ad-1", "view", T + 10_000),
    (1, 1, 1002, "ad-3", "view", T - 1),
    (1, 2, 1005, "ad-1", "purchase", T + 5),
    (1, 3, 1006, "ad-1", "view", T + 4),
    (1, 4, 1007, "ad-1", "View", T + 4),
]
"""partition, offset, append_ms, ad, kind of event, time; the fourth is of an ad that no campaign has."""


def _fields(ad: str, kind: str, time: int) -> tuple[Any, ...]:
    return ("u-1", "p-1", ad, "banner", kind, time, "1.2.3.4")


@pytest.fixture
def frames(spark: SparkSession, origin_type: str) -> tuple[DataFrame, DataFrame]:
    """The events and the stored table as stages are given them."""
    names = ", ".join(f"{name} {'bigint' if name == 'event_time' else 'string'}" for name in ad_analytics.FIELDS)
    rows = [(*_fields(ad, kind, time), "raw", (ms, p, o, 0)) for p, o, ms, ad, kind, time in EVENTS]
    events = spark.createDataFrame(rows, f"{names}, raw string, {origin_type}")
    return events, spark.createDataFrame(CAMPAIGNS, "ad_id string, campaign_id string")


@pytest.fixture
def seen(literal_events: Any) -> Any:
    """The same as an oracle sees them."""
    names = ", ".join(f"{name} {'bigint' if name == 'event_time' else 'varchar'}" for name in ad_analytics.FIELDS)
    rows = []
    for partition, offset, append_ms, ad, kind, time in EVENTS:
        fields = _fields(ad, kind, time)
        raw = json.dumps(dict(zip(ad_analytics.FIELDS, fields, strict=True)))
        rows.append((partition, offset, append_ms, raw, *fields))
    literal_events.add("ad_events", names, rows)
    literal_events.add_table("campaigns", "ad_id varchar, campaign_id varchar", CAMPAIGNS)
    return literal_events


Rows = Callable[..., list[tuple[Any, ...]]]


@pytest.mark.spark
def test_the_filter_keeps_views_whole(frames: tuple[DataFrame, DataFrame], rows_of: Rows) -> None:
    kept = ad_analytics.filter_views(frames[0])
    assert kept.columns == [*ad_analytics.FIELDS, "origin"]
    assert rows_of(kept, "origin", "ad_id", "event_type", "ip_address") == [
        ((1000, 0, 0, 0), "ad-1", "view", "1.2.3.4"),
        ((1001, 1, 0, 0), "ad-1", "view", "1.2.3.4"),
        ((1002, 1, 1, 0), "ad-3", "view", "1.2.3.4"),
        ((1003, 0, 1, 0), "ad-2", "view", "1.2.3.4"),
        ((1006, 1, 3, 0), "ad-1", "view", "1.2.3.4"),
        ((1009, 0, 3, 0), "ad-9", "view", "1.2.3.4"),
    ]


@pytest.mark.spark
def test_the_projection_and_the_join_leave_campaign_and_time(
    frames: tuple[DataFrame, DataFrame], rows_of: Rows
) -> None:
    projected = ad_analytics.project(ad_analytics.filter_views(frames[0]))
    assert projected.columns == ["ad_id", "event_time", "origin"]
    joined = ad_analytics.join_campaign(projected, frames[1])
    assert joined.columns == ["campaign_id", "event_time", "origin"]
    assert rows_of(joined, "origin", "campaign_id", "event_time") == [
        ((1000, 0, 0, 0), "shoes", T),
        ((1001, 1, 0, 0), "shoes", T + 10_000),
        ((1002, 1, 1, 0), "cars", T - 1),
        ((1003, 0, 1, 0), "shoes", T + 9_999),
        ((1006, 1, 3, 0), "shoes", T + 4),
    ]


@pytest.mark.spark
def test_the_count_is_per_campaign_and_window(frames: tuple[DataFrame, DataFrame], rows_of: Rows) -> None:
    joined = ad_analytics.join_campaign(ad_analytics.project(ad_analytics.filter_views(frames[0])), frames[1])
    counted = ad_analytics.count_views(joined, window_s=10)
    assert rows_of(counted, "campaign_id", "window_start_ms", "views", "origin") == [
        ("cars", T - 10_000, 1, (1002, 1, 1, 0)),
        ("shoes", T, 3, (1006, 1, 3, 0)),
        ("shoes", T + 10_000, 1, (1001, 1, 0, 0)),
    ]
    whole = ad_analytics.count_views(joined, window_s=20)
    assert rows_of(whole, "campaign_id", "window_start_ms", "views") == [("cars", T - 20_000, 1), ("shoes", T, 4)]


def test_the_oracles_of_the_cuts(seen: Any, rows_of: Rows) -> None:
    places = [(0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (1, 3)]
    assert rows_of(ad_analytics.each_view(seen).rows, "partition", '"offset"') == places
    projected = ad_analytics.ad_and_time_of_each_view(seen).rows
    assert rows_of(projected, "partition", '"offset"', "ad_id", "event_time") == [
        (0, 0, "ad-1", T),
        (0, 1, "ad-2", T + 9_999),
        (0, 3, "ad-9", T + 2),
        (1, 0, "ad-1", T + 10_000),
        (1, 1, "ad-3", T - 1),
        (1, 3, "ad-1", T + 4),
    ]
    joined = ad_analytics.campaign_of_each_view(seen).rows
    assert rows_of(joined, "partition", '"offset"', "campaign_id", "event_time") == [
        (0, 0, "shoes", T),
        (0, 1, "shoes", T + 9_999),
        (1, 0, "shoes", T + 10_000),
        (1, 1, "cars", T - 1),
        (1, 3, "shoes", T + 4),
    ]


def test_the_oracle_of_the_count(seen: Any, rows_of: Rows) -> None:
    expected = ad_analytics.views_per_campaign_and_window(seen, window_s=10)
    assert rows_of(expected.rows, "campaign_id", "window_start_ms", "views") == [
        ("cars", T - 10_000, 1),
        ("shoes", T, 3),
        ("shoes", T + 10_000, 1),
    ]
    assert rows_of(expected.touches, "partition", '"offset"', "campaign_id", "window_start_ms") == [
        (0, 0, "shoes", T),
        (0, 1, "shoes", T),
        (1, 0, "shoes", T + 10_000),
        (1, 1, "cars", T - 10_000),
        (1, 3, "shoes", T),
    ]


def test_it_can_stop_after_every_stage() -> None:
    application = ad_analytics.APPLICATION
    assert {o.stage for o in application.outputs} == {s.name for s in application.stages}
    assert application.stopped_after("project").tables == {}
    assert list(application.stopped_after("join_campaign").tables) == ["campaigns"]


@pytest.mark.parametrize("text", ["0", "-10", "ten", "2.5"])
def test_a_window_has_a_whole_number_of_seconds(text: str) -> None:
    with pytest.raises(UserError, match="window_s"):
        ad_analytics.APPLICATION.bind({"window_s": text})
