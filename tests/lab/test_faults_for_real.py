"""Real faults on real jobs, one at a time: killed and suspended, brought back, and the answer still right."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamgauge.engines.spark.checkpoints import newest_commit
from streamgauge.lab.checkpoint_folder import IN_MEMORY, MEMORY
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.lab.supervised_job import SupervisedJob
from streamgauge.report.fault_words import story
from tests.lab.listening import Remembering

REQUEST = RunRequest(
    applications=("wordcount",), load="constant:200/s", for_s=25, warmup_s=5, timeout_s=180, partitions=2
)

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(500)]


def conducted(out: Path, *faults: str, **changes: Any) -> dict[str, Any]:
    listener = Remembering()
    conduct_run(replace(REQUEST, faults=faults, out=out, **changes), listener)
    (record,) = listener.records
    assert record["status"] == "done", record["error"]
    return record


ENGINES = ["spark-microbatch", "spark-realtime"]
ADAPTIVE = "spark-adaptive"
CLUSTER = {"place": "cluster:3", "for_s": 30, "timeout_s": 240, "failure_timeout_s": 10.0}


@pytest.mark.parametrize(("engine", "restarts"), [(ENGINES[0], 0), (ENGINES[1], 1)])
def test_an_executor_that_is_killed_is_made_up_for(tmp_path: Path, engine: str, restarts: int) -> None:
    """Micro-batches try lost tasks again; a real-time query ends and is restarted in the same process."""
    record = conducted(tmp_path, "kill executor at 10s", engines=(engine,), **CLUSTER)
    (fault,) = record["faults"]
    assert (fault["target"], fault["effect"], fault["problem"]) == ("executor", "gone", None)
    assert record["verdict"]["correct"] and record["verdict"]["restarts"] == restarts, record["recovery"]["notices"]
    assert "the job process died" not in str(record["recovery"]["notices"])
    assert record["recovery"]["output_gap_s"] > 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("fault", ["kill worker at 10s", "kill worker at 10s for 3s", "suspend worker at 10s for 3s"])
def test_a_node_that_fails_loses_nothing(tmp_path: Path, engine: str, fault: str) -> None:
    record = conducted(tmp_path, fault, engines=(engine,), **CLUSTER)
    (injected,) = record["faults"]
    assert injected["problem"] is None and injected["lasting"] == (
        "permanent" if fault.endswith("10s") else "transient"
    )
    assert record["verdict"]["correct"], record["verdict"]
    assert record["tuning"]["spark.network.timeout"] == "10s"


def test_a_worker_that_stands_still_for_longer_than_the_time_out_is_given_up(tmp_path: Path) -> None:
    record = conducted(tmp_path, "suspend worker at 8s for 18s", engines=("spark-realtime",), **CLUSTER)
    assert record["verdict"]["correct"], record["verdict"]
    assert record["recovery"]["output_gap_s"] < 18, "the job went on before the worker did"


def test_a_driver_in_a_cluster_waits_for_its_executors_before_it_goes_on(tmp_path: Path) -> None:
    record = conducted(tmp_path, "kill driver at 10s", engines=("spark-realtime",), **CLUSTER)
    assert record["verdict"]["correct"] and record["verdict"]["restarts"] == 1, record["recovery"]["notices"]
    assert record["recovery"]["output_gap_s"] > 0


def test_a_master_that_is_restarted_does_not_touch_the_job(tmp_path: Path) -> None:
    record = conducted(tmp_path, "restart master at 8s", "kill executor at 20s", **CLUSTER)
    assert [each["problem"] for each in record["faults"]] == [None, None]
    assert record["verdict"]["correct"], record["verdict"]


def test_a_cluster_that_was_broken_is_nobody_elses(tmp_path: Path) -> None:
    listener = Remembering()
    request = replace(REQUEST, place="cluster:2", for_s=12, faults=("kill worker at 5s",), repeat=2, out=tmp_path)
    conduct_run(request, listener)
    assert [record["verdict"]["correct"] for record in listener.records] == [True, True]
    assert listener.notes.count("starting a Spark cluster of 2 workers") == 2


@pytest.mark.parametrize("engine", [*ENGINES, ADAPTIVE])
def test_a_driver_that_is_killed_comes_back_and_loses_nothing(tmp_path: Path, engine: str) -> None:
    record = conducted(tmp_path, "kill driver at 8s", engines=(engine,))
    (fault,) = record["faults"]
    assert (fault["effect"], fault["problem"]) == ("gone", None)
    verdict = record["verdict"]
    assert verdict["correct"] and verdict["restarts"] == 1 and verdict["lost"] == 0
    assert sum(part["seen"] for part in verdict["phases"].values()) == verdict["seen"]
    recovery = record["recovery"]
    assert recovery["class"] in ("precise", "rollback")
    assert recovery["output_gap_s"] > recovery["detect_s"] >= 0


def _moved(checkpoint: Path, by: int) -> None:
    """Move the offsets that a query has committed, and those of a batch that it had begun: the state stays."""
    newest = newest_commit(checkpoint)
    assert newest is not None
    for file in (checkpoint / "offsets").glob("[0-9]*"):
        if int(file.name) < newest:
            continue
        *heading, offsets = file.read_text().splitlines()
        moved = {
            topic: {partition: max(0, offset + by) for partition, offset in each.items()}
            for topic, each in json.loads(offsets).items()
        }
        file.write_text("\n".join([*heading, json.dumps(moved)]))
        (file.parent / f".{file.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize("by", [-100, 100])
def test_a_checkpoint_that_was_tampered_with_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: int
) -> None:
    """What all the zeros are worth: events taken twice, or never, and a job that runs on as if nothing were wrong."""
    restart = SupervisedJob.restart
    seen: list[bool] = []

    def tampered(job: SupervisedJob) -> None:
        if not seen:
            seen.append(True)
            _moved(Path(job.attempts[-1].job.checkpoint) / "count", by)
        restart(job)

    monkeypatch.setattr(SupervisedJob, "restart", tampered)
    record = conducted(tmp_path, "kill driver at 8s", engines=("spark-microbatch",))
    verdict = record["verdict"]
    assert seen and verdict["restarts"] == 1
    assert not verdict["correct"] and verdict["wrong"] + verdict["lost"] > 0


def test_a_checkpoint_in_memory_outlives_the_driver_and_not_the_trial(tmp_path: Path) -> None:
    before = set(IN_MEMORY.iterdir())
    record = conducted(tmp_path, "kill driver at 8s", settings={"checkpoint-location": MEMORY})
    verdict = record["verdict"]
    assert verdict["correct"] and verdict["restarts"] == 1, record["recovery"]["notices"]
    assert not [left for left in set(IN_MEMORY.iterdir()) - before if left.name.startswith("streamgauge-")]


def test_a_driver_that_is_killed_in_the_middle_of_a_switch_goes_on_from_its_checkpoints(tmp_path: Path) -> None:
    """Two segments that are switched without a rest: for most of the time one of them is between two queries."""
    settings = {"cuts": "split", "rehearse": "1ms", "batch-duration": "2s", "standby": "off"}
    kills = [f"kill driver at {at}s" for at in (10, 35, 60)]
    record = conducted(tmp_path, *kills, engines=(ADAPTIVE,), settings=settings, for_s=80, timeout_s=300)
    struck_s = [fault["at_ms"] / 1000 for fault in record["faults"] if fault["problem"] is None]
    verdict, scheduler = record["verdict"], record["scheduler"]
    assert len(struck_s) == verdict["restarts"] == 3, record["recovery"]["notices"]
    assert verdict["correct"], verdict
    assert [verdict[name] for name in ("lost", "wrong", "unexpected", "out_of_order")] == [0, 0, 0, 0]
    assert scheduler["broken_off"], "no kill fell into a switch: nothing was shown"
    for each in scheduler["broken_off"]:
        assert any(0 <= at_s - each["stopped_s"] < 60 for at_s in struck_s)
    done = [(each["stopped_s"], each["reading_s"]) for each in scheduler["carried_out"]]
    for before_s, after_s in zip([0.0, *struck_s], [*struck_s, float("inf")], strict=True):
        assert any(before_s < stopped_s <= reading_s < after_s for stopped_s, reading_s in done), (before_s, after_s)
    assert scheduler["switches"] == len(done)
    assert any("was broken off" in line for line in story(record))


def test_an_executor_that_is_killed_ends_the_segments_and_the_supervisor_brings_them_back(tmp_path: Path) -> None:
    record = conducted(tmp_path, "kill executor at 10s", engines=(ADAPTIVE,), **CLUSTER)
    assert record["faults"][0]["problem"] is None
    assert record["verdict"]["correct"] and record["verdict"]["restarts"] == 1, record["recovery"]["notices"]
    assert "the job process died" not in str(record["recovery"]["notices"])
    assert record["recovery"]["output_gap_s"] > 0


def test_a_driver_that_is_not_restarted_stays_down_and_the_verdict_says_what_is_lost(tmp_path: Path) -> None:
    record = conducted(tmp_path, "kill driver at 8s", no_restart=True)
    assert record["verdict"]["lost"] > 0 and not record["verdict"]["correct"]
    assert record["recovery"]["class"] == "gap" and record["recovery"]["went_down"]
    assert record["recovery"]["output_gap_s"] is None
    assert "the job stayed down, so the input was not consumed" in record["invalid_reasons"]


def test_a_broker_that_is_restarted_keeps_all_that_it_had(tmp_path: Path) -> None:
    record = conducted(tmp_path, "restart broker at 8s")
    (fault,) = record["faults"]
    assert (fault["effect"], fault["back_effect"], fault["problem"]) == ("gone", "running", None)
    assert record["verdict"]["correct"], record["verdict"]


@pytest.mark.parametrize(
    "fault", ["suspend driver at 8s for 3s", "suspend broker at 8s for 2s", "suspend publisher at 8s for 2s"]
)
def test_what_stands_still_for_a_while_goes_on(tmp_path: Path, fault: str) -> None:
    record = conducted(tmp_path, fault)
    assert record["faults"][0]["back_effect"] == "running"
    assert record["verdict"]["correct"], record["verdict"]


def test_a_publisher_that_is_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    record = conducted(tmp_path, "kill publisher at 8s")
    assert record["log"]["events"] == record["trial"]["events"]
    assert record["verdict"]["correct"], record["verdict"]


def test_a_preloaded_job_is_killed_at_half_of_its_twins_time(tmp_path: Path) -> None:
    listener = Remembering()
    request = replace(
        REQUEST, load="preloaded", for_s=None, events=400_000, faults=("kill driver at half",), out=tmp_path
    )
    conduct_run(request, listener)
    twin, broken = listener.records
    took_s = twin["measured_events"] / twin["throughput"]["events_per_s"]
    planned_s = (broken["faults"][0]["planned_at_ms"] - broken["started_at_ms"]) / 1000
    assert planned_s == pytest.approx(took_s / 2, abs=0.5)
    assert broken["verdict"]["correct"], broken["verdict"]
