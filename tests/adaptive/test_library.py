"""The engine without the laboratory: what is refused before anything starts, and a chain between two topics."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from streamgauge.adaptive import run_adaptive
from streamgauge.adaptive.library import AdaptiveQuery
from streamgauge.engines.spark.adaptive_engine import OWN_PRODUCER
from streamgauge.log.cluster import Cluster
from streamgauge.log.reading import read_records
from streamgauge.model import UserError, stage
from streamgauge.paradigms.actuator import Order
from streamgauge.paradigms.paradigm import How, Paradigm

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "adaptive_wordcount.py"
SOURCE = {"kafka.bootstrap.servers": "nowhere:1", "subscribe": "lines"}
SINK = {"kafka.bootstrap.servers": "nowhere:1", "topic": "counts"}


def example() -> Any:
    """The program of the docs."""
    spec = importlib.util.spec_from_file_location("adaptive_wordcount", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@stage(key=("word",))
def split(records: Any) -> Any:
    return example().split(records)


def count(words: Any) -> Any:
    return example().count(words)


def query(**more: Any) -> AdaptiveQuery:
    given = {"source": SOURCE, "sink": SINK, "checkpoint": "c", "between": {}, "settings": {}, "name": "n", **more}
    return AdaptiveQuery(None, [split, count], **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"source": {"kafka.bootstrap.servers": "a:1"}}, "source has no option 'subscribe'"),
        ({"sink": {"topic": "t"}}, "sink has no option 'kafka.bootstrap.servers'"),
        ({"between": {"splitt": "t"}}, "Did you mean 'split'"),
        ({"between": {"count": "t"}}, "nothing to cut off after it"),
        ({"settings": {"delt": "0.1"}}, "Did you mean 'delta'"),
        ({"settings": {"pinned.split": "data", "pinned.count": "operation"}}, "run in one segment"),
    ],
)
def test_a_mistake_is_said_before_anything_starts(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        query(**given)


def test_a_chain_is_one_segment_until_it_is_cut() -> None:
    assert [plan.stages for plan in query()._plans] == [("split", "count")]
    assert [plan.stages for plan in query(between={"split": "words"})._plans] == [("split",), ("count",)]


def test_the_users_options_go_over_those_of_the_paradigm() -> None:
    mine = query(sink={**SINK, "kafka.linger.ms": "7"}, source={**SOURCE, "kafka.max.poll.records": "9"})
    data, operation = (mine._sink_options(each, "t", standby=False) for each in Paradigm)
    assert data["kafka.linger.ms"] == operation["kafka.linger.ms"] == "7"
    assert (data["topic"], data["kafka.metadata.max.idle.ms"], operation["kafka.batch.size"]) == ("t", "5000", "131072")
    read = mine._source_options(Paradigm.OPERATION_STREAM, 100, standby=False)
    assert (read["maxOffsetsPerTrigger"], read["kafka.max.poll.records"]) == ("100", "9")
    assert query()._source_options(Paradigm.OPERATION_STREAM, None, standby=False)["kafka.max.poll.records"] == "5000"


def test_a_standby_works_on_what_the_log_holds_wherever_the_query_begins() -> None:
    mine = query(source={**SOURCE, "startingOffsets": "latest"})
    for standby, first in ((False, "latest"), (True, "earliest")):
        assert mine._source_options(Paradigm.OPERATION_STREAM, 100, standby)["startingOffsets"] == first


def test_a_standby_shares_no_producer_with_its_query() -> None:
    mine = query(sink={**SINK, "kafka.client.id": "mine"})
    own, standby = (mine._sink_options(Paradigm.OPERATION_STREAM, "t", each) for each in (False, True))
    assert own["kafka.client.id"] == "mine"
    assert standby["kafka.client.id"] == OWN_PRODUCER["kafka.client.id"]


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(300)
@pytest.mark.parametrize("cut", [pytest.param(False, marks=pytest.mark.long), True])
def test_counts_are_exact_over_switches(
    spark: Any, cluster: Cluster, topic: Callable[..., str], tmp_path: Path, cut: bool
) -> None:
    lines, words, counts = topic(1), topic(1), topic(1)
    options = cluster.spark_options()
    running = run_adaptive(
        spark,
        [split, count],
        {**options, "subscribe": lines, "startingOffsets": "earliest"},
        {**options, "topic": counts},
        str(tmp_path / "checkpoint"),
        between={"split": words} if cut else None,
        settings={"standby": "off", "batch-duration": "2s", "rehearse": ""},
    )
    producer = Producer(cluster.client_settings())
    try:
        for number in range(60):
            for _ in range(10):
                producer.produce(lines, value=b"to be or not to be")
            producer.flush(10)
            if number % 20 == 10:
                assert running._scheduled is not None
                for name, paradigm in running.segments.items():
                    running._scheduled._actuator.switch(Order(name, paradigm.other, How.REPLAY, 10_000))
            time.sleep(0.1)
        deadline = time.monotonic() + 60
        while _newest(cluster, counts).get("to") != 1200 and time.monotonic() < deadline:
            time.sleep(0.5)
    finally:
        facts = running.stop()
    assert _newest(cluster, counts) == {"to": 1200, "be": 1200, "or": 600, "not": 600}
    assert facts["switches"] >= 2
    assert set(running.segments.values()) <= set(Paradigm)


def _newest(cluster: Cluster, topic: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for batch in read_records(cluster, topic):
        for value in batch["value"].to_pylist():
            row = json.loads(value)
            found[row["word"]] = max(found.get(row["word"], 0), row["seen"])
    return found
