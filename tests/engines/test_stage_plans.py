"""What a stage is by its own plan: words, how rows reach it, and the columns that it takes."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import functions as fn

from streamgauge.applications import wordcount
from streamgauge.engines.spark.stage_plans import StagePlan, operator_words, pattern_words, stage_plan
from streamgauge.model import Stage, stage

LINES = (
    "query string, at timestamp, raw string, origin struct<append_ms:bigint,partition:int,offset:bigint,ordinal:int>"
)


def schema(spark: Any, ddl: str) -> Any:
    return spark.createDataFrame([], ddl).schema


def planned(spark: Any, step: Stage, **parameters: Any) -> StagePlan:
    return stage_plan(spark, step, {name: schema(spark, LINES) for name in step.reads}, parameters)


@stage
def short(lines: Any, *, longest: int) -> Any:
    return lines.filter(fn.length("query") < longest).select("origin")


@stage(uses=("static-join",))
def place(lines: Any, places: Any) -> Any:
    return lines.join(fn.broadcast(places.select("query", fn.col("raw").alias("city"))), "query").select(
        "city", "origin"
    )


@stage
def only_streams(lines: Any) -> Any:
    raise RuntimeError("a frame at rest is not taken")


@pytest.mark.spark
def test_a_filter_is_a_selection_and_takes_two_columns(spark: Any) -> None:
    plan = planned(spark, short, longest=5)
    assert plan == StagePlan(("projection", "selection"), ("forward",), {"lines": frozenset({"query", "origin"})})


@pytest.mark.spark
def test_splitting_takes_no_column_that_it_does_not_need(spark: Any) -> None:
    step = wordcount.APPLICATION.stage("split")
    plan = stage_plan(spark, step, {"searches": schema(spark, LINES)}, {})
    assert plan.columns == {"searches": frozenset({"query", "origin"})}
    assert plan.operator == ("projection", "selection")


@pytest.mark.spark
def test_a_join_with_a_table_is_a_broadcast(spark: Any) -> None:
    plan = planned(spark, place)
    assert (plan.operator, plan.pattern) == (("join",), ("broadcast",))
    assert plan.columns == {"lines": frozenset({"query", "origin"}), "places": frozenset({"query", "raw"})}


@pytest.mark.spark
def test_a_stage_that_refuses_frames_at_rest_is_judged_by_what_it_uses(spark: Any) -> None:
    plan = planned(spark, only_streams)
    assert (plan.operator, plan.pattern) == (("projection",), ("forward",))
    assert plan.columns["lines"] == {"query", "at", "raw", "origin"}


def made(*uses: Any) -> Stage:
    return Stage("made", only_streams.function, frozenset(uses))


def test_words_of_features() -> None:
    assert operator_words(made("aggregate", "window"), {"Project", "Aggregate"}) == ("window", "aggregation")
    assert operator_words(made("python-state"), {"Aggregate", "Project"}) == ("state",)
    assert operator_words(made("deduplicate"), {"Deduplicate", "Filter"}) == ("selection", "deduplication")
    assert operator_words(made("stream-join"), set()) == ("join",)
    assert operator_words(made("python-udf"), set()) == ("projection",)


def test_how_rows_reach_a_stage() -> None:
    assert pattern_words(made("static-join", "aggregate"), set()) == ("broadcast", "group by")
    assert pattern_words(made("python-state"), set()) == ("group by",)
    assert pattern_words(made(), {"Repartition"}) == ("shuffle",)
    assert pattern_words(made("python-udf"), {"Project"}) == ("forward",)
