"""From a graph of stages to queries: one per leaf, one per cut, with the stages' variants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.applications import get_application
from streamgauge.model import Application, Expected, Output, PerEvent, UserError, stage
from streamgauge.model.job import InputTopic, Job
from streamgauge.streams.aol_search import STREAM

pytestmark = pytest.mark.spark
OWN = Path(__file__).parents[1] / "applications"
OPTIONS = {"kafka.bootstrap.servers": "127.0.0.1:1"}


def job(application: Application, **more: Any) -> Job:
    return Job(
        application=application.name,
        engine="spark-microbatch",
        inputs={name: InputTopic(f"in-{name}") for name in application.inputs},
        outputs={o.stage: f"out-{o.stage}" for o in application.leaf_outputs()},
        between={cut: f"between-{cut}" for cut in application.cuts},
        bootstrap="127.0.0.1:1",
        checkpoint="unused",
        status_path="unused",
        **more,
    )


def compiled(spark: Any, application: Application, variants: dict[str, str] | None = None) -> Any:
    from streamgauge.engines.spark.compiler import Compiler

    return Compiler(spark, application, job(application), OPTIONS, variants or {})


def test_a_leaf_is_a_query_and_each_reads_the_input_itself(spark: Any) -> None:
    application = get_application(str(OWN / "two_branches.py"))
    queries = compiled(spark, application).queries()
    assert {q.topic for q in queries} == {f"out-{o.stage}" for o in application.leaf_outputs()}
    assert len(queries) == 2
    assert {q.reads for q in queries} == {(f"in-{name}",) for name in application.inputs}


def test_a_cut_makes_a_head_and_a_tail_with_a_topic_between(spark: Any) -> None:
    head, tail = compiled(spark, get_application(str(OWN / "two_queries.py"))).queries()
    assert head.topic == "between-split"
    assert tail.reads == ("between-split",)
    assert "key" in head.records.columns


@stage
def upper(searches: Any) -> Any:
    """Never called: the test asks for the variant."""
    raise AssertionError("the variant was asked for")


def lower_case(searches: Any) -> Any:
    return searches.selectExpr("lower(query) as word", "origin")


def no_answer(events: Any) -> Expected:
    raise AssertionError("not called")


def application_with(step: Any) -> Application:
    output = Output(step.name, no_answer, PerEvent(("word",)))
    return Application("small", "?", {"searches": STREAM}, (step,), (output,))


def test_a_variant_stands_in_for_its_stage(spark: Any) -> None:
    from dataclasses import replace

    application = application_with(replace(upper, variants={"lower": lower_case}))
    (query,) = compiled(spark, application, {"upper": "lower"}).queries()
    assert query.records.columns == ["value", "headers"]
    with pytest.raises(UserError, match="unknown variant of stage 'upper' 'loud'"):
        compiled(spark, application, {"upper": "loud"}).queries()


def test_what_a_stage_cannot_do_is_told_in_one_line(spark: Any) -> None:
    @stage
    def pick(searches: Any) -> Any:
        return searches.select("no_such_column", "origin")

    with pytest.raises(UserError) as caught:
        compiled(spark, application_with(pick)).queries()
    assert "stage 'pick' of 'small' failed" in str(caught.value)
    assert "\n" not in str(caught.value)
