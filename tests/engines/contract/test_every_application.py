"""The contract: every application on every engine gives its oracle's answer, or a gap with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from streamgauge.applications import all_applications, get_application
from streamgauge.engines import all_engines, get_engine
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.places import parse_place
from tests.lab.listening import Remembering

EVENTS = {"spark-microbatch": 20_000}
FEWER = 4_000
"""Engines that run a record at a time are given fewer: what they do differently shows in the first second."""
SEEDS = {"spark-microbatch": 1, "spark-realtime": 2, "spark-continuous": 3, "spark-adaptive": 4, "flink": 5}
SPOILED = 0.01
QUICK = {"batch-duration": "2s", "epoch": "500ms", "standby": "off", "checkpoint-interval": "1s"}
OWN = Path(__file__).parents[2] / "applications"
EXTRA = tuple(str(OWN / f"{name}.py") for name in ("two_branches", "two_queries", "own_pipeline"))
APPLICATIONS = (*sorted(all_applications()), *EXTRA)
SOME = {
    "spark-adaptive": ("ad-analytics", "grep", "voip-stream", "wordcount"),
    "flink": ("spike-detection", "traffic-flow", "voip-stream", "wordcount"),
}
"""These run some applications here and the rest in `make test-long`."""
PAIRS = [(engine, name) for engine in sorted(all_engines()) for name in SOME.get(engine, APPLICATIONS)]

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def records(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """(engine, application) → record, from one run per engine on the session's broker.

    The runs go on at once: a trial waits much and computes little, and here nobody asks how fast it was.
    """
    engines = sorted(all_engines())
    folders = [tmp_path_factory.mktemp("runs") for _ in engines]
    with ThreadPoolExecutor(len(engines)) as pool:
        names = [SOME.get(engine, APPLICATIONS) for engine in engines]
        runs = dict(zip(engines, pool.map(run_of, engines, [broker] * len(engines), folders, names), strict=True))
        yield lambda engine, application: runs[engine][application]


def run_of(
    engine: str, broker: EmbeddedBroker, folder: Path, applications: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    """Application → record on this engine."""
    listener = Remembering()
    request = RunRequest(
        applications=applications,
        engines=(engine,),
        load="preloaded",
        events=EVENTS.get(engine, FEWER),
        seed=SEEDS.get(engine, 1),
        malformed=SPOILED if engine == "spark-microbatch" else 0.0,
        warmup_s=0,
        settings={k: v for k, v in QUICK.items() if get_engine(engine).knows(k)},
        kafka=broker.bootstrap,
        out=folder,
        timeout_s=300,
    )
    conduct_run(request, listener)
    return dict(zip(applications, listener.records, strict=True))


@pytest.mark.parametrize(("engine", "application"), PAIRS, ids=lambda name: Path(name).stem)
def test_the_answer_is_the_oracles(records: Any, engine: str, application: str) -> None:
    check(records(engine, application), engine, application)


@pytest.mark.long
@pytest.mark.parametrize("engine", sorted(SOME))
def test_the_answers_of_all_others_are_the_oracles(broker: EmbeddedBroker, tmp_path: Path, engine: str) -> None:
    others = tuple(name for name in APPLICATIONS if name not in SOME[engine])
    for application, record in run_of(engine, broker, tmp_path, others).items():
        check(record, engine, application)


def check(record: dict[str, Any], engine: str, application: str) -> None:
    """The record has the oracle's answer, or the gap that the engine names."""
    elsewhere = get_engine(engine).place_gap(parse_place("local"))
    if elsewhere is not None:
        assert record["status"] == "gap"
        pytest.skip(elsewhere.reason)
    gap = get_engine(engine).gap(get_application(application))
    if gap is not None:
        assert (record["status"], record["gap"]["reason"]) == ("gap", gap.reason)
        return
    assert record["status"] == "done", record["error"]
    assert record["valid"], record["invalid_reasons"]
    verdict = record["verdict"]
    assert verdict["correct"], verdict
    assert verdict["expected"] > 0
    assert verdict["seen"] >= verdict["expected"]
    assert (verdict["rejected"] > 0) == (engine == "spark-microbatch")


PAPERS_APPLICATIONS = {
    *("word-count", "log-processing", "traffic-monitoring", "machine-outlier", "sentiment-analysis", "spam-filter"),
    *("trending-topics", "click-analytics", "fraud-detection", "spike-detection", "bargain-index"),
    *("reinforcement-learner", "smart-grid", "voip-stream", "ad-analytics", "traffic-flow", "threat-detection"),
    *("windowed-count", "stored-join"),
}


def test_micro_batches_run_every_application() -> None:
    assert set(all_applications()) >= PAPERS_APPLICATIONS
    assert not [n for n, a in all_applications().items() if get_engine("spark-microbatch").gap(a)]


def test_real_time_runs_at_least_fourteen_of_the_papers_nineteen() -> None:
    run = {n for n in PAPERS_APPLICATIONS if get_engine("spark-realtime").gap(all_applications()[n]) is None}
    assert len(PAPERS_APPLICATIONS) == 19
    assert len(run) >= 14, sorted(PAPERS_APPLICATIONS - run)


def test_continuous_processing_has_a_gap_for_whatever_keeps_state() -> None:
    stateless = {"static-join", "python-udf"}
    for application in all_applications().values():
        gap = get_engine("spark-continuous").gap(application)
        if any(stage.uses - stateless for stage in application.stages):
            assert gap is not None and "continuous" in gap.reason, application.name
