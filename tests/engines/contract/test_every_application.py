"""The contract: every application on every engine gives its oracle's answer, or a gap with a reason."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from streamgauge.applications import all_applications, get_application
from streamgauge.engines import all_engines, get_engine
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.log.broker import EmbeddedBroker
from tests.lab.listening import Remembering

EVENTS = 4_000
QUICK = {"batch-duration": "2s", "epoch": "500ms"}
OWN = Path(__file__).parents[2] / "applications"
EXTRA = tuple(str(OWN / f"{name}.py") for name in ("two_branches", "two_queries", "own_pipeline"))
APPLICATIONS = (*sorted(all_applications()), *EXTRA)

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def records(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """(engine, application) → record, from one run per engine on the session's broker."""

    @cache
    def of_engine(engine: str) -> dict[str, dict[str, Any]]:
        listener = Remembering()
        conduct_run(
            RunRequest(
                applications=APPLICATIONS,
                engines=(engine,),
                load="preloaded",
                events=EVENTS,
                warmup_s=0,
                settings={k: v for k, v in QUICK.items() if get_engine(engine).knows(k)},
                kafka=broker.bootstrap,
                out=tmp_path_factory.mktemp("runs"),
                timeout_s=120,
            ),
            listener,
        )
        return dict(zip(APPLICATIONS, listener.records, strict=True))

    return lambda engine, application: of_engine(engine)[application]


@pytest.mark.parametrize("application", APPLICATIONS, ids=lambda a: Path(a).stem)
@pytest.mark.parametrize("engine", sorted(all_engines()))
def test_the_answer_is_the_oracles(records: Any, engine: str, application: str) -> None:
    record = records(engine, application)
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


def test_only_continuous_processing_has_gaps_and_they_are_about_state() -> None:
    gaps = {
        (engine, name): described.gap(application)
        for engine, described in all_engines().items()
        for name, application in all_applications().items()
    }
    stateful = {name for name, a in all_applications().items() if any(s.uses for s in a.stages)}
    assert {key for key, gap in gaps.items() if gap} == {("spark-continuous", name) for name in stateful}
    assert all("continuous" in gap.reason for gap in gaps.values() if gap)
