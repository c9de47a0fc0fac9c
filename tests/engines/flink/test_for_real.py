"""flink on a real Kafka: every stage that can be checked, its settings, a process that is killed, and a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.applications import get_application
from streamgauge.engines import get_engine
from streamgauge.engines.flink.program import all_programs
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.places import parse_place
from streamgauge.provision.guard import Guard
from tests.engines.flink.standalone import standalone_cluster
from tests.lab.listening import Remembering

_GAP = get_engine("flink").place_gap(parse_place("local"))

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(_GAP is not None, reason=_GAP.reason if _GAP else ""),
]

EARLIER = [
    (name, output.stage)
    for name in sorted(all_programs())
    for output in get_application(name).outputs
    if output.stage not in get_application(name).leaves()
]


def run(broker: EmbeddedBroker, folder: Path, *applications: str, **wish: Any) -> list[dict[str, Any]]:
    """The records of trials on Flink."""
    given = {"load": "preloaded", "events": 4_000, "warmup_s": 0, "settings": {"checkpoint-interval": "1s"}, **wish}
    listener = Remembering()
    request = RunRequest(
        applications=applications, engines=("flink",), kafka=broker.bootstrap, out=folder, timeout_s=120, **given
    )
    conduct_run(request, listener)
    return listener.records


def right(record: dict[str, Any]) -> None:
    assert record["status"] == "done", record["error"]
    assert record["verdict"]["correct"] and record["verdict"]["expected"] > 0, record["verdict"]


@pytest.mark.parametrize(("application", "stage"), EARLIER)
def test_a_pipeline_may_end_after_every_stage(
    broker: EmbeddedBroker, tmp_path: Path, application: str, stage: str
) -> None:
    (record,) = run(broker, tmp_path, application, stop_after=stage)
    right(record)


@pytest.mark.parametrize(
    "more", [{"mini-batch": "on"}, {"state": "rocksdb"}, {"object-reuse": "off"}, {"sink": "exactly-once"}]
)
def test_settings_change_no_answer(broker: EmbeddedBroker, tmp_path: Path, more: dict[str, str]) -> None:
    names = ("wordcount", "statistics", "ad-analytics", "windowed-count")
    for record in run(broker, tmp_path, *names, settings={"checkpoint-interval": "1s", **more}):
        right(record)


def test_points_that_stand_for_several_are_told_apart(broker: EmbeddedBroker, tmp_path: Path) -> None:
    (record,) = run(broker, tmp_path, "traffic-flow", stop_after="join", parameters={"spatial_scale": "3"})
    right(record)


def broken(broker: EmbeddedBroker, folder: Path, fault: str, **settings: str) -> dict[str, Any]:
    """The record of a word count that a fault hits while it runs; its answer is right."""
    paced = {"load": "constant:500/s", "events": None, "for_s": 20, "warmup_s": 3}
    wish = {**paced, "faults": (fault,), "settings": {"checkpoint-interval": "1s", **settings}}
    (record,) = run(broker, folder, "wordcount", **wish)
    right(record)
    assert record["faults"][0]["at_ms"] is not None
    return record


def test_a_killed_process_goes_on_from_its_last_checkpoint(broker: EmbeddedBroker, tmp_path: Path) -> None:
    record = broken(broker, tmp_path, "kill driver at 8s")
    assert record["verdict"]["restarts"] == 1


@pytest.mark.parametrize("sink", ["at-least-once", "exactly-once"])
def test_a_process_that_stands_still_goes_on(broker: EmbeddedBroker, tmp_path: Path, sink: str) -> None:
    record = broken(broker, tmp_path, "suspend driver at 5s for 3s", sink=sink)
    assert record["recovery"]["output_gap_s"] >= 2.5
    assert record["verdict"]["restarts"] == 0


def test_a_cluster_that_is_there_runs_one_job_after_another(
    broker: EmbeddedBroker, guard: Guard, tmp_path: Path
) -> None:
    settings = {"checkpoint-interval": "1s", "checkpoint-location": str(tmp_path), "parallelism": "2"}
    (tmp_path / "cluster").mkdir()
    names = ("wordcount", "stored-join")
    with standalone_cluster(tmp_path / "cluster", guard) as place:
        records = run(broker, tmp_path, *names, place=place, settings=settings)
    assert len(records) == len(names)
    for record in records:
        right(record)
