"""What flink can be told, what Flink is told then, and what a mistake is answered with."""

from __future__ import annotations

import os

import pytest

from streamgauge.engines import get_engine
from streamgauge.engines.flink import settings
from streamgauge.model import UserError

FLINK = get_engine("flink")


def test_the_parallelism_is_that_of_the_machine_unless_told() -> None:
    assert FLINK.resolve({})["parallelism"] == str(len(os.sched_getaffinity(0)))
    assert FLINK.tuning("wordcount", {"parallelism": "3"})["parallelism.default"] == "3"


def test_a_checkpoint_comes_as_often_as_a_real_time_batch_ends() -> None:
    ours, spark = FLINK.settings["checkpoint-interval"], get_engine("spark-realtime").settings["batch-duration"]
    assert ours.default == spark.default == "10s"
    assert FLINK.tuning("wordcount", {})["execution.checkpointing.interval"] == "10000 ms"


def test_gathering_is_off_by_default_and_has_a_size_and_a_time() -> None:
    assert FLINK.tuning("wordcount", {})["table.exec.mini-batch.enabled"] == "false"
    told = FLINK.tuning("wordcount", {"mini-batch": "on", "mini-batch-latency": "20ms"})
    assert told["table.exec.mini-batch.enabled"] == "true"
    assert told["table.exec.mini-batch.allow-latency"] == "20 ms"
    assert told["table.exec.mini-batch.size"] == "5000"


@pytest.mark.parametrize(("given", "spark"), [({}, "spark-realtime"), ({"mini-batch": "on"}, "spark-microbatch")])
def test_both_write_alike(given: dict[str, str], spark: str) -> None:
    ours, theirs = FLINK.tuning("wordcount", given), get_engine(spark).tuning("wordcount", {})
    for name in ("linger.ms", "batch.size"):
        assert ours[f"sink.{name}"] == theirs[f"sink.kafka.{name}"]


def test_a_record_waits_as_long_between_two_tasks_of_both() -> None:
    ours, theirs = FLINK.tuning("wordcount", {}), get_engine("spark-realtime").tuning("wordcount", {})
    wait = theirs["spark.shuffle.streaming.networkBufferMaxWaitTimeMs"]
    assert ours["execution.buffer-timeout.interval"] == f"{wait} ms"


def test_what_is_gathered_is_written_as_micro_batches_write() -> None:
    assert FLINK.tuning("wordcount", {"mini-batch": "on"})["sink.linger.ms"] == "20"
    assert FLINK.tuning("wordcount", {"mini-batch": "on", "sink.linger.ms": "3"})["sink.linger.ms"] == "3"


def test_state_lies_on_the_heap_or_in_rocksdb() -> None:
    assert FLINK.tuning("wordcount", {})["state.backend.type"] == "hashmap"
    told = FLINK.tuning("wordcount", {"state": "rocksdb"})
    assert (told["state.backend.type"], told["execution.checkpointing.incremental"]) == ("rocksdb", "true")


def test_what_begins_with_flink_source_or_sink_goes_on_as_it_is() -> None:
    told = FLINK.tuning(
        "wordcount", {"flink.pipeline.max-parallelism": "64", "source.max.poll.records": "9", "sink.acks": "1"}
    )
    assert told["pipeline.max-parallelism"] == "64"
    assert (told["source.max.poll.records"], told["sink.acks"]) == ("9", "1")
    assert "flink.pipeline.max-parallelism" not in told


def test_transactions_have_a_time_that_a_broker_allows() -> None:
    assert "transaction.timeout.ms" in settings.producer(FLINK.resolve({"sink": "exactly-once"}))
    assert "transaction.timeout.ms" not in settings.producer(FLINK.resolve({}))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("parallelism", "0"),
        ("parallelism", "many"),
        ("checkpoint-interval", "10"),
        ("checkpoint-interval", "0s"),
        ("buffer-timeout", "soon"),
        ("mini-batch", "yes"),
        ("mini-batch-size", "-1"),
        ("state", "disk"),
        ("sink", "once"),
        ("object-reuse", "true"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_before_anything_starts(setting: str, value: str) -> None:
    with pytest.raises(UserError):
        FLINK.resolve({setting: value})


def test_an_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'mini-batch'"):
        FLINK.resolve({"minibatch": "on"})


def test_only_the_memory_is_fixed_for_the_life_of_a_process() -> None:
    assert FLINK.session_settings({"mini-batch": "on", "memory": "2g"}) == {"memory": "2g"}


def test_what_a_program_needs_is_told_as_it_runs_whatever_the_user_says() -> None:
    told = FLINK.tuning("trending-topics", {"mini-batch": "off"})
    assert told["mini-batch"] == "on"
    assert told["table.exec.mini-batch.enabled"] == "true"
