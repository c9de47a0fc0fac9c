"""Bargain index: averages over the last two trades, worked out by hand, and e to the powers that they give."""

from __future__ import annotations

import math

import pytest

from streamgauge.applications.bargain_index import (
    APPLICATION,
    EMITTED,
    bargains,
    orders,
    quotes_below_the_average,
    worth_an_order,
)
from streamgauge.model.errors import UserError

TICKS = [
    # partition, offset, symbol, kind, price, volume, ask price, ask size
    (0, 0, "AB", "quote", None, None, 10.00, 100),  # no trade yet
    (0, 1, "AB", "trade", 10.00, 100, None, None),
    (0, 2, "AB", "trade", 11.00, 300, None, None),  # 4300 / 400 = 10.75
    (0, 3, "AB", "quote", None, None, 10.75, 100),  # no less
    (0, 4, "AB", "quote", None, None, 10.25, 200),  # 0.5 less
    (0, 5, "AB", "trade", 20.00, 100, None, None),  # 5300 / 400 = 13.25
    (1, 0, "CD", "trade", 99.00, 100, None, None),
    (1, 1, "CD", "quote", None, None, 9.00, 1),  # 90 less, of which 50 count
    (0, 6, "AB", "quote", None, None, 12.25, 100),  # 1 less
    (0, 7, "AB", "trade", 1.00, None, None, None),  # passed over
    (0, 8, "AB", "quote", None, None, None, 100),  # passed over
    (0, 9, "AB", "halt", 1.00, 100, 1.00, 100),  # passed over
    (0, 10, "AB", "quote", None, None, 13.00, 400),  # 0.25 less
    (0, 11, "EF", "trade", 5.00, 100, None, None),
    (0, 12, "EF", "quote", None, None, 4.00, 100),  # 1 less
    (0, 13, "EF", "trade", 6.00, 100, None, None),
]
BARGAINS = [
    ("AB", 10.25, 200, 10.75, 200 * math.exp(0.5), (1004, 0, 4, 0)),
    ("AB", 12.25, 100, 13.25, 100 * math.e, (1006, 0, 6, 0)),
    ("AB", 13.0, 400, 13.25, 400 * math.exp(0.25), (1010, 0, 10, 0)),
    ("CD", 9.0, 1, 99.0, math.exp(50), (1001, 1, 1, 0)),
    ("EF", 4.0, 100, 5.0, 100 * math.e, (1012, 0, 12, 0)),
]
COLUMNS = (*EMITTED, "origin")


@pytest.fixture
def ticks(spark, origin_type):
    rows = [(*fields, (1000 + offset, partition, offset, 0)) for partition, offset, *fields in TICKS]
    columns = "symbol string, kind string, price double, volume bigint, ask_price double, ask_size bigint"
    return spark.createDataFrame(rows, f"{columns}, {origin_type}")


@pytest.fixture
def events(literal_events):
    rows = [(partition, offset, 1000 + offset, "", *rest) for partition, offset, *rest in TICKS]
    columns = "symbol varchar, kind varchar, price double, volume bigint, ask_price double, ask_size bigint"
    literal_events.add("ticks", columns, rows)
    return literal_events


def _same(found, expected) -> bool:
    """All values alike, and the index as near as single precision allows."""
    return [row[:4] + row[5:] for row in found] == [row[:4] + row[5:] for row in expected] and [
        row[4] for row in found
    ] == pytest.approx([row[4] for row in expected], rel=6e-8)


@pytest.mark.spark
def test_the_aggregate_answers_where_the_newest_record_is_a_bargain(ticks, rows_of):
    assert _same(rows_of(bargains(ticks, window=2), *COLUMNS), [BARGAINS[2], BARGAINS[3]])


@pytest.mark.spark
def test_in_batches_every_bargain_is_answered(ticks, rows_of):
    assert _same(rows_of(bargains.using_variant("stateful")(ticks, window=2), *COLUMNS), BARGAINS)


@pytest.mark.spark
def test_an_order_is_above_the_threshold(spark, origin_type, rows_of):
    rows = [("AB", 1.0, 1, 2.0, index, (0, 0, number, 0)) for number, index in enumerate((299.5, 300.0, 300.5))]
    types = "symbol string, ask_price double, ask_size bigint, vwap double, bargain_index float"
    assert rows_of(orders(spark.createDataFrame(rows, f"{types}, {origin_type}"), threshold=300.0), "origin") == [
        ((0, 0, 2, 0),)
    ]


def test_the_oracle_expects_every_bargain(events, rows_of):
    found = rows_of(quotes_below_the_average(events, window=2).rows, *EMITTED, "partition", '"offset"')
    expected = [(*row[:5], row[5][1], row[5][2]) for row in BARGAINS]
    assert _same(found, expected)


def test_the_oracle_expects_the_orders(events, rows_of):
    found = rows_of(worth_an_order(events, window=2, threshold=300.0).rows, "partition", '"offset"')
    assert found == [(0, 10), (0, 4), (1, 1)]


@pytest.mark.parametrize("given", [{"window": "0"}, {"window": "15.5"}, {"threshold": "-1"}])
def test_a_window_without_trades_and_a_threshold_below_nothing_are_refused(given):
    with pytest.raises(UserError, match="parameter"):
        APPLICATION.bind(given)
