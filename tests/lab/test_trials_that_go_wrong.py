"""Real trials that fail in the middle: the right record, the right exit code, and the others go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil
import pytest

from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.log.cluster import Cluster
from streamgauge.store.run_store import RunStore
from tests.lab.listening import Remembering

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(400)]

WRONG_ORACLE = """
from streamgauge.applications.wordcount import APPLICATION as RIGHT
from streamgauge.model import Application, Expected, LatestPerKey, Output

def one_too_many(events):
    right = RIGHT.leaf_outputs()[0].oracle(events)
    return Expected(rows=right.rows.project("word, seen + 1 as seen"), touches=right.touches)

APPLICATION = Application(
    name="wrong",
    question="What if the oracle disagrees?",
    inputs=RIGHT.inputs,
    stages=RIGHT.stages,
    outputs=(Output("count", one_too_many, LatestPerKey(("word",), {"seen": "rises"})),),
)
"""
BROKEN_STAGE = """
from streamgauge.model import Application, Expected, Output, PerEvent, stage
from streamgauge.streams.aol_search import STREAM

@stage
def pick(searches):
    return searches.select("no_such_column", "origin")

APPLICATION = Application(
    name="broken",
    question="What if a stage names a column that is not there?",
    inputs={"searches": STREAM},
    stages=(pick,),
    outputs=(Output("pick", lambda events: Expected(None), PerEvent(("no_such_column",))),),
)
"""


def job_process_of_this_test() -> psutil.Process:
    alive = [c for c in psutil.Process().children(recursive=True) if c.status() != psutil.STATUS_ZOMBIE]
    (found,) = [child for child in alive if "streamgauge.job" in child.cmdline()]
    return found


@pytest.fixture(scope="module")
def outcome(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One run of four trials: a wrong answer, a broken stage, a job that is killed, and one that is well."""
    folder = tmp_path_factory.mktemp("own")
    for name, text in (("wrong", WRONG_ORACLE), ("broken", BROKEN_STAGE)):
        (folder / f"{name}.py").write_text(text)

    def kill_the_third(number: int, phase: str) -> None:
        if (number, phase) == (3, "measuring"):
            job_process_of_this_test().kill()

    listener = Remembering(kill_the_third)
    applications = (str(folder / "wrong.py"), str(folder / "broken.py"), "projection", "grep")
    out = tmp_path_factory.mktemp("runs")
    request = RunRequest(
        applications=applications,
        load="constant:500/s",
        for_s=3,
        warmup_s=0,
        kafka=broker.bootstrap,
        out=out,
        timeout_s=120,
        thresholds=("p50<1h",),
    )
    return conduct_run(request, listener), listener, RunStore(out)


def test_a_wrong_answer_is_seen(outcome: Any) -> None:
    record = outcome[1].records[0]
    assert record["status"] == "done"
    assert not record["verdict"]["correct"]
    assert record["verdict"]["lost"] == record["verdict"]["expected"]
    assert record["verdict"]["examples"]


def test_a_broken_stage_is_the_users_mistake_in_one_line(outcome: Any) -> None:
    record = outcome[1].records[1]
    assert record["status"] == "failed"
    assert record["error"]["exit_code"] == 2
    assert "stage 'pick'" in record["error"]["cause"]
    assert "no_such_column" in record["error"]["cause"]
    assert "\n" not in record["error"]["cause"]


def test_a_killed_job_fails_its_trial_and_no_other(outcome: Any) -> None:
    records = outcome[1].records
    assert records[2]["status"] == "failed"
    assert "died" in records[2]["error"]["cause"]
    assert records[3]["status"] == "done"
    assert records[3]["verdict"]["correct"]


def test_the_exit_code_is_that_of_the_worst(outcome: Any) -> None:
    assert outcome[0].exit_code == 3


def test_every_trial_is_stored_and_every_topic_deleted(outcome: Any, cluster: Cluster) -> None:
    _, listener, store = outcome
    stored = store.open(listener.run)
    assert [t["status"] for t in stored.trials] == ["done", "failed", "failed", "done"]
    assert stored.run["status"] == "complete"
    assert not stored.problems
    assert not [topic for topic in cluster.topics() if listener.run in topic]


def test_a_failed_trial_breaks_its_thresholds(outcome: Any) -> None:
    oks = [[t["ok"] for t in record["thresholds"]] for record in outcome[1].records]
    assert oks == [[True], [False], [False], [True]]


def test_the_figures_of_a_good_trial_are_all_there(outcome: Any) -> None:
    record = outcome[1].records[3]
    assert record["events"] == record["measured_events"] == 1500
    assert record["latency_ms"]["n"] > 0
    assert record["latency_ms"]["p50"] <= record["latency_ms"]["max"]
    assert record["throughput"]["events_per_s"] > 0
    assert {r["name"] for r in record["requirements"]} == {
        "publishing faster than consumption",
        "broker serves faster than consumption",
    }
    assert record["resources"]["job"]["cpu_share"] > 0
    assert record["publisher"]["lateness_ms"]["p50"] is not None
    assert record["tuning"]["trigger"] == "0s"
    assert Path(outcome[0].path / "trials" / "004" / "samples.parquet").exists()
