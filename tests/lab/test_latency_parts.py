"""Components of latency in a trial: why some have none, and that those of real trials add up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from streamgauge.lab.latency_parts import components_of
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.measure.answering import Answer, answering
from streamgauge.measure.window import measured_window
from streamgauge.model import PerEvent
from streamgauge.model.job import InputTopic
from tests.lab.listening import Remembering
from tests.measure.small_trial import events_of, outputs_of

ROUND_TRIP = {"consumed_ms": {"median": 2.0}}


def found(engine: str, progress: list[dict[str, Any]], round_trip: Any = ROUND_TRIP, **changes: Any) -> dict[str, Any]:
    """Components of three events of one partition, appended at 1000, 1010 and 1020 and answered 8 ms later."""
    starts_at_s, cuts = changes.get("starts_at_s", 0.0), changes.get("cuts", ())
    conductor: Any = SimpleNamespace(
        trial=SimpleNamespace(engine=engine, partitions=1), lab=SimpleNamespace(round_trip_ms=round_trip)
    )
    done: Any = SimpleNamespace(
        load=SimpleNamespace(job_starts_at_s=starts_at_s),
        application=SimpleNamespace(cuts=cuts),
        inputs={"in": InputTopic("topic", 0)},
        progress=progress,
        job_started_ms=900,
        endured=SimpleNamespace(hit=changes.get("hit", set())),
    )
    at = (1000, 1010, 1020)
    events = events_of([(0, offset, ms, None) for offset, ms in enumerate(at)])
    outputs = outputs_of([(ms + 8, ms, 0, offset, "w") for offset, ms in enumerate(at)])
    with duckdb.connect() as connection:
        window = measured_window(connection, [events], 0)
        with answering(connection, [events], [Answer(outputs, PerEvent(("word",)), None, "out")]) as answered:
            return components_of(conductor, done, connection, answered, window)


def test_a_query_that_ends_no_batch_has_neither_batch_wait_nor_scheduling() -> None:
    """Continuous processing tells of epochs that compute no batch."""
    parts = found("spark-continuous", [{"name": "out", "batchId": 0, "durationMs": {"commitOffsets": 4}}])
    assert (parts["outside_ms"], parts["batch_wait_ms"], parts["scheduling_ms"]) == (0, 0, 0)
    assert (parts["processing_ms"], parts["transmission_ms"]) == (6, 2)
    assert parts["adds_up"] and parts["latency_ms"] == 8


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"starts_at_s": None}, "before the job started"),
        ({"cuts": ("split",)}, "between two queries"),
        ({"hit": {"driver"}}, "a fault was injected"),
        ({"round_trip": {}}, "round trip was not measured"),
        ({}, "less than 90%"),
    ],
)
def test_a_trial_without_components_says_why(more: dict[str, Any], reason: str) -> None:
    parts = found("spark-microbatch", [], **more)
    assert list(parts) == ["reason"] and reason in parts["reason"]


@pytest.fixture(scope="module")
def records(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Engine → record of wordcount over the same events; a real-time batch ends in the measured time."""
    made = {}
    for engine, settings in (("spark-microbatch", {}), ("spark-realtime", {"batch-duration": "5s"})):
        listener = Remembering()
        folder: Path = tmp_path_factory.mktemp("runs")
        request = RunRequest(
            applications=("wordcount",),
            engines=(engine,),
            load="constant:300/s",
            for_s=8,
            warmup_s=4,
            # Components add up however warm it is.
            settling_s=4,
            settings=settings,
            kafka=broker.bootstrap,
            out=folder,
            timeout_s=200,
        )
        conduct_run(request, listener)
        (made[engine],) = listener.records
    return made


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(600)
@pytest.mark.parametrize("engine", ["spark-microbatch", "spark-realtime"])
def test_a_real_trial_has_components_of_its_latency(records: dict[str, dict[str, Any]], engine: str) -> None:
    record = records[engine]
    assert record["status"] == "done", record["error"]
    parts = record["components"]
    assert "reason" not in parts, parts
    mean = record["latency_ms"]["mean"]
    assert parts["latency_ms"] == pytest.approx(mean, rel=1e-6)
    # Beside other tests a word may be answered by an output that overtook its own: what is told within a tenth there
    # is told by the test below, which runs by itself.
    assert abs(parts["sum_ms"] - mean) <= 0.4 * mean + 1, parts
    assert parts["adds_up"] == (abs(parts["sum_ms"] - mean) <= max(0.1 * mean, 1.0))
    assert parts["covered"] >= 0.99
    assert all(parts[f"{name}_ms"] >= 0 for name in ("outside", "batch_wait", "scheduling", "processing"))
    if engine == "spark-microbatch":
        assert parts["batch_wait_ms"] > parts["outside_ms"]
        assert parts["scheduling_ms"] > 1
    else:
        assert parts["batch_wait_ms"] + parts["scheduling_ms"] < mean


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(600)
@pytest.mark.parametrize("engine", ["spark-microbatch", "spark-realtime"])
def test_components_add_up_within_a_tenth(records: dict[str, dict[str, Any]], engine: str) -> None:
    parts, mean = records[engine]["components"], records[engine]["latency_ms"]["mean"]
    assert abs(parts["sum_ms"] - mean) <= max(0.1 * mean, 1.0), parts


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_both_engines_gave_the_same_answer_once(records: dict[str, dict[str, Any]]) -> None:
    verdicts = [record["verdict"] for record in records.values()]
    assert len({v["digest"] for v in verdicts} | {v["expected_digest"] for v in verdicts}) == 1
    assert len(verdicts[0]["digest"]) == 32
    assert {record["durability"]["reprocessed"] for record in records.values()} == {0}
