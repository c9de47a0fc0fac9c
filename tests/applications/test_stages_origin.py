"""Origin through a stage: unique and deterministic record ids, and the latest input of a group."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as fn

from streamgauge.applications.origin import ORDINAL_STRIDE, each, latest_origin

pytestmark = pytest.mark.spark


def _frame(spark, origin_type, *rows):
    return spark.createDataFrame(list(rows), f"shop string, items array<string>, {origin_type}")


def test_each_gives_every_element_a_record_id_of_its_own(spark, origin_type, rows_of):
    rows = _frame(spark, origin_type, ("a", ["x", "y", "x"], (50, 1, 7, 0)), ("b", ["z"], (51, 1, 8, 0)))
    assert rows_of(each(rows, "items", "item", "shop"), "shop", "item", "origin") == [
        ("a", "x", (50, 1, 7, 0)),
        ("a", "x", (50, 1, 7, 2)),
        ("a", "y", (50, 1, 7, 1)),
        ("b", "z", (51, 1, 8, 0)),
    ]


def test_each_twice_keeps_record_ids_apart(spark, origin_type, rows_of):
    rows = _frame(spark, origin_type, ("a", ["p q", "r s"], (50, 1, 7, 0)))
    parts = each(each(rows, "items", "item"), fn.split("item", " "), "part")
    assert rows_of(parts, "part", "origin") == [
        ("p", (50, 1, 7, 0)),
        ("q", (50, 1, 7, 1)),
        ("r", (50, 1, 7, 10_000)),
        ("s", (50, 1, 7, 10_001)),
    ]


def test_each_gives_no_row_for_an_empty_or_missing_array(spark, origin_type):
    rows = _frame(spark, origin_type, ("a", [], (50, 1, 7, 0)), ("b", None, (51, 1, 8, 0)))
    assert each(rows, "items", "item").count() == 0


def test_each_keeps_the_type_of_origin(spark, origin_type):
    rows = _frame(spark, origin_type, ("a", ["x"], (50, 1, 7, 0)))
    assert each(rows, "items", "item").schema["origin"].dataType == rows.schema["origin"].dataType


def test_each_refuses_more_rows_than_ids_can_tell_apart(spark, origin_type):
    rows = _frame(spark, origin_type, ("a", ["x"] * (ORDINAL_STRIDE + 1), (50, 1, 7, 0)))
    with pytest.raises(Exception, match="split it in two steps"):
        each(rows, "items", "item").collect()


def test_latest_origin_compares_the_instant_first_and_then_the_offset(spark, origin_type, rows_of):
    rows = _frame(spark, origin_type, ("a", [], (50, 1, 7, 3)), ("a", [], (49, 2, 99, 0)), ("a", [], (50, 0, 9, 4)))
    assert rows_of(rows.groupBy("shop").agg(latest_origin()), "shop", "origin") == [("a", (50, 0, 9, 0))]


def test_latest_origin_keeps_large_offsets_partitions_and_instants_whole(spark, origin_type, rows_of):
    late, far = 4_102_444_800_000, 2**47 + 5
    rows = _frame(spark, origin_type, ("a", [], (late, 30_000, far, 0)), ("a", [], (late - 1, 0, far + 9, 0)))
    assert rows_of(rows.groupBy("shop").agg(latest_origin()), "shop", "origin") == [("a", (late, 30_000, far, 0))]


def test_latest_origin_leaves_spark_its_hash_aggregation(spark, origin_type):
    rows = _frame(spark, origin_type, ("a", [], (50, 1, 7, 0)))
    plan = rows.groupBy("shop").agg(latest_origin())._jdf.queryExecution().executedPlan().toString()
    assert "HashAggregate" in plan
    assert "SortAggregate" not in plan
