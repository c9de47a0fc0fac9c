"""From a graph of stages to queries: one per leaf, one per cut, with the stages' variants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge.applications import get_application
from streamgauge.model import (
    Application,
    Expected,
    Field,
    FieldType,
    Output,
    PerEvent,
    StoredTable,
    UserError,
    Variant,
    stage,
)
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

    return Compiler(spark, application.with_variants(variants or {}), job(application), OPTIONS)


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

    application = application_with(replace(upper, variants={"lower": Variant(lower_case)}))
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


PLACES = StoredTable("places", "where", (Field("word", FieldType.STRING), Field("place", FieldType.STRING)), list)


@stage(uses=("static-join",))
def placed(searches: Any, places: Any) -> Any:
    return searches.withColumnRenamed("query", "word").join(places, "word").select("word", "place", "origin")


def test_a_stored_table_is_read_by_its_name_and_is_no_stream(spark: Any, tmp_path: Path) -> None:
    from streamgauge.engines.spark.compiler import Compiler

    output = Output("placed", no_answer, PerEvent(("word", "place")))
    application = Application("small", "?", {"searches": STREAM}, (placed,), (output,), tables={"places": PLACES})
    pq.write_table(pa.table({"word": ["maps"], "place": ["Ulm"]}), tmp_path / "places.parquet")
    where = job(application, tables={"places": str(tmp_path / "places.parquet")})
    (query,) = Compiler(spark, application, where, OPTIONS).queries()
    assert query.reads == ("in-searches",)
    assert query.records.isStreaming


def test_dead_letters_are_a_query_of_their_own_where_they_are_asked_for(spark: Any) -> None:
    from streamgauge.engines.spark.compiler import Compiler

    application = get_application("wordcount")
    queries = Compiler(spark, application, job(application, dead_letters="bad"), OPTIONS).queries()
    assert [(q.name, q.topic, q.reads) for q in queries][1:] == [("dead-letters", "bad", ("in-searches",))]
    assert queries[1].records.columns == ["value", "headers"]
