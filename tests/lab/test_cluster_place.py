"""A real embedded cluster: right answers from its workers, inputs written by them once, and nothing left behind."""

from __future__ import annotations

from typing import Any

import psutil
import pytest

from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.log.cluster import Cluster
from tests.lab.listening import Remembering

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def records(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    listener = Remembering()
    request = RunRequest(
        applications=("wordcount", "grep"),
        engines=("spark-microbatch",),
        load="preloaded",
        events=20_000,
        warmup_s=0,
        place="cluster:2",
        kafka=broker.bootstrap,
        out=tmp_path_factory.mktemp("runs"),
        timeout_s=120,
    )
    conduct_run(request, listener)
    return listener.records


def test_the_workers_give_the_right_answer(records: list[dict[str, Any]]) -> None:
    for record in records:
        assert record["status"] == "done", record["error"]
        assert record["verdict"]["correct"], record["verdict"]
        assert record["valid"], record["invalid_reasons"]


def test_its_processes_count_for_the_job(records: list[dict[str, Any]]) -> None:
    # A driver and two executors, each with a heap of its own.
    assert records[0]["resources"]["job"]["rss_bytes_max"] > 600e6
    assert records[0]["throughput"]["events_per_s_per_node"] == records[0]["throughput"]["events_per_s"] / 2


def test_the_input_is_written_once_and_read_by_both(records: list[dict[str, Any]]) -> None:
    assert [record["publisher"]["reused"] for record in records] == [False, True]
    assert [record["publisher"]["events"] for record in records] == [20_000, 20_000]


def test_nothing_is_left(records: list[dict[str, Any]], cluster: Cluster) -> None:
    assert records
    assert not [name for name in cluster.topics() if name.startswith("streamgauge-")]
    daemons = ("deploy.master.Master", "deploy.worker.Worker", "CoarseGrainedExecutorBackend")
    mine = [child for child in psutil.Process().children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]
    assert not [child for child in mine if any(name in " ".join(child.cmdline()) for name in daemons)]
