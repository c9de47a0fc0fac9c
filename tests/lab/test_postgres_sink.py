"""Results in PostgreSQL: each output once, whatever was repeated, and the verdict from there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamgauge.engines import get_engine
from streamgauge.lab.request import RunRequest
from streamgauge.lab.results import guarantee_of
from streamgauge.lab.run import conduct_run
from streamgauge.log.broker import EmbeddedBroker
from tests.lab.listening import Remembering

REQUEST = RunRequest(applications=("ad-analytics",), load="preloaded", events=4_000, warmup_s=0, timeout_s=120)


def test_what_is_promised_of_outputs_is_the_sinks_word() -> None:
    engine = get_engine("spark-microbatch")
    assert guarantee_of(engine, None).outputs == "at-least-once"
    assert guarantee_of(engine, "redis://localhost").outputs == "exactly-once"
    assert guarantee_of(engine, "postgresql://localhost/db").outputs == "exactly-once"
    assert guarantee_of(engine, "postgresql://localhost/db").values == "exactly-once"


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(300)
def test_results_go_to_postgresql_and_the_verdict_comes_from_there(
    broker: EmbeddedBroker, postgres_url: str, tmp_path: Path
) -> None:
    record = conducted(replace(REQUEST, sink=postgres_url, kafka=broker.bootstrap, out=tmp_path))
    assert record["verdict"]["correct"], record["verdict"]
    assert record["verdict"]["seen"] >= record["verdict"]["expected"] > 0


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(400)
def test_after_a_killed_driver_no_output_is_there_twice(postgres_url: str, tmp_path: Path) -> None:
    request = replace(REQUEST, applications=("wordcount",), load="constant:200/s", events=None, for_s=18, warmup_s=3)
    record = conducted(replace(request, faults=("kill driver at 5s",), sink=postgres_url, out=tmp_path))
    verdict = record["verdict"]
    assert (verdict["duplicated"], verdict["lost"], verdict["duplicates_allowed"]) == (0, 0, False)
    assert verdict["correct"] and record["recovery"]["class"] == "precise"


def conducted(request: RunRequest) -> dict[str, Any]:
    listener = Remembering()
    conduct_run(request, listener)
    (record,) = listener.records
    assert record["status"] == "done", record["error"]
    return record
