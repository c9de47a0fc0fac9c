"""What an engine can be told, and what it answers to a mistake."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.applications import get_application
from streamgauge.engines import all_engines, get_engine
from streamgauge.model import Application, Expected, Output, PerEvent, UserError, stage
from streamgauge.streams.aol_search import STREAM


def test_the_engines_are_found() -> None:
    spark = {"spark-adaptive", "spark-microbatch", "spark-realtime", "spark-continuous"}
    assert set(all_engines()) == {*spark, "flink"}


def test_an_unknown_engine_names_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'spark-realtime'"):
        get_engine("spark-realtme")


def test_an_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'trigger'"):
        get_engine("spark-microbatch").resolve({"triger": "1s"})


@pytest.mark.parametrize(
    ("engine", "setting", "value"),
    [
        ("spark-microbatch", "trigger", "soon"),
        ("spark-microbatch", "max-offsets-per-trigger", "many"),
        ("spark-realtime", "batch-duration", "10"),
        ("spark-continuous", "epoch", "-"),
        ("spark-microbatch", "shuffle-partitions", "0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_before_anything_starts(engine: str, setting: str, value: str) -> None:
    with pytest.raises(UserError):
        get_engine(engine).resolve({setting: value})


def test_an_unknown_state_store_is_refused() -> None:
    with pytest.raises(UserError, match="hdfs or rocksdb"):
        get_engine("spark-microbatch").session_settings({"state-store": "redis"})


def test_real_time_has_no_choice_of_a_state_store() -> None:
    """Spark refuses any but RocksDB there, and would say so only when the query starts."""
    with pytest.raises(UserError, match="state-store"):
        get_engine("spark-realtime").resolve({"state-store": "hdfs"})


def test_settings_reach_where_they_belong() -> None:
    engine = get_engine("spark-microbatch")
    given = {
        "max-offsets-per-trigger": "100",
        "source.minPartitions": "4",
        "sink.kafka.linger.ms": "7",
        "spark.sql.shuffle.partitions": "5",
    }
    tuning = engine.tuning("wordcount", given)
    assert tuning["source.maxOffsetsPerTrigger"] == "100"
    assert tuning["source.minPartitions"] == "4"
    assert tuning["sink.kafka.linger.ms"] == "7"
    assert tuning["spark.sql.shuffle.partitions"] == "5"


def test_every_engine_keeps_state_so_that_one_checkpoint_serves_both_paradigms_when_asked() -> None:
    for name, given in (("spark-microbatch", {"state-store": "rocksdb"}), ("spark-realtime", {})):
        settings = get_engine(name).session_settings(given)
        assert settings["spark.sql.streaming.stateStore.checkpointFormatVersion"] == "2"


def test_a_real_time_query_holds_its_slots_and_a_micro_batch_does_not() -> None:
    wordcount = get_application("wordcount")
    assert get_engine("spark-realtime").slots_needed(wordcount, 2, {}) == 4
    assert get_engine("spark-realtime").slots_needed(wordcount, 2, {"shuffle-partitions": "6"}) == 8
    assert get_engine("spark-microbatch").slots_needed(wordcount, 2, {}) == 2


@stage(uses=("aggregate", "row-updates"))
def answer(searches: Any) -> Any:
    raise AssertionError("not called")


@answer.variant("stateful", uses=("python-state",))
def _stateful(searches: Any) -> Any:
    raise AssertionError("not called")


def _per_event() -> Application:
    output = Output("answer", lambda events: Expected(None), PerEvent(("query",)))
    return Application("small", "?", {"searches": STREAM}, (answer,), (output,))


def test_an_engine_takes_the_variant_that_it_can_run() -> None:
    microbatch, realtime = get_engine("spark-microbatch"), get_engine("spark-realtime")
    assert microbatch.variants(_per_event(), {}) == {"answer": "stateful"}
    assert realtime.variants(_per_event(), {}) == {"answer": "default"}
    assert microbatch.gap(_per_event()) is None
    assert realtime.gap(_per_event()) is None


def test_a_variant_that_was_chosen_is_taken_or_is_a_gap() -> None:
    realtime = get_engine("spark-realtime")
    forced = _per_event().with_variants({"answer": "stateful"})
    assert "python-state" in realtime.gap(forced).reason
    assert realtime.variants(_per_event(), {"variant.answer": "stateful"}) == {"answer": "stateful"}


def test_an_engine_that_can_run_no_variant_says_what_the_stage_needs() -> None:
    gap = get_engine("spark-continuous").gap(_per_event())
    assert "stage 'answer' uses aggregate" in gap.reason
