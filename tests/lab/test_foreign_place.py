"""A Spark cluster that is there, which the run neither starts nor ends: right answers, and nothing left in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.model import UserError
from streamgauge.places import EmbeddedCluster
from streamgauge.provision.guard import Guard
from tests.lab.listening import Remembering

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def somebodys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedCluster]:
    """A cluster that is there before the run begins."""
    with Guard() as guard, EmbeddedCluster(1, tmp_path_factory.mktemp("cluster"), guard) as found:
        yield found


def test_a_run_uses_it_and_leaves_it_alone(somebodys: EmbeddedCluster, broker: EmbeddedBroker, tmp_path: Path) -> None:
    location = tmp_path / "checkpoints"
    location.mkdir()
    before = somebodys.pids()
    request = RunRequest(
        applications=("wordcount", "stored-join"),
        engines=("spark-microbatch",),
        load="preloaded",
        events=5_000,
        warmup_s=0,
        place=somebodys.master,
        settings={"checkpoint-location": f"file://{location}"},
        kafka=broker.bootstrap,
        out=tmp_path / "runs",
        timeout_s=120,
    )
    listener = Remembering()
    conduct_run(request, listener)
    for record in listener.records:
        assert record["status"] == "done", record["error"]
        assert record["verdict"]["correct"], record["verdict"]
        assert record["resources"]["job"]["samples"] == 0, "its processes are not watched"
        assert record["resources"]["job"]["cpu_share"] is None
    assert somebodys.pids() == before
    assert list(location.iterdir()) == [], "what only the job process reaches is removed by it"


def test_its_processes_cannot_be_hit(somebodys: EmbeddedCluster, broker: EmbeddedBroker, tmp_path: Path) -> None:
    request = RunRequest(
        applications=("grep",),
        place=somebodys.master,
        kafka=broker.bootstrap,
        out=tmp_path,
        for_s=10,
        load="constant:100/s",
    )
    with pytest.raises(UserError, match="worker"):
        conduct_run(replace(request, faults=("kill worker at 5s",)), Remembering())
