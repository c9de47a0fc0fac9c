"""spark-adaptive on real Spark: many switches under load, chained segments, a burst.

A driver that is killed within a switch is in `tests/lab/test_faults_for_real.py`: the supervisor starts it again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.log.broker import EmbeddedBroker
from tests.lab.listening import Remembering

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(600)]

REQUEST = RunRequest(
    applications=("wordcount",),
    engines=("spark-adaptive",),
    load="constant:1000/s",
    for_s=40,
    warmup_s=0,
    settings={"batch-duration": "5s", "rehearse": "1s", "standby": "off"},
    timeout_s=180,
)


def conducted(request: RunRequest) -> tuple[dict[str, Any], Path]:
    listener = Remembering()
    outcome = conduct_run(request, listener)
    (record,) = outcome.records
    assert record["status"] == "done", record["error"]
    return record, outcome.path


def exact(record: dict[str, Any]) -> None:
    """Nothing lost, wrong or out of order; outputs may be repeated after a replay."""
    verdict = record["verdict"]
    assert verdict["correct"], verdict
    assert [verdict[name] for name in ("lost", "wrong", "unexpected", "out_of_order")] == [0, 0, 0, 0]


def test_switching_there_and_back_loses_nothing(broker: EmbeddedBroker, tmp_path: Path) -> None:
    # At a lower rate a micro-batch that is broken off has seldom written anything yet.
    settings = {"batch-duration": "2s", "rehearse": "0.5s", "standby": "off"}
    often = replace(REQUEST, load="constant:10000/s", settings=settings)
    record, _ = conducted(replace(often, kafka=broker.bootstrap, out=tmp_path))
    exact(record)
    done = record["scheduler"]["carried_out"]
    assert len(done) >= 10 and not any(each["failure"] for each in done)
    assert {each["how"] for each in done} == {"drain", "replay"}
    assert {each["to"] for each in done} == {"data stream", "operation stream"}


def test_chained_segments_stay_exact_while_both_are_switched(broker: EmbeddedBroker, tmp_path: Path) -> None:
    settings = {**REQUEST.settings, "cuts": "split"}
    record, _ = conducted(replace(REQUEST, settings=settings, for_s=20, kafka=broker.bootstrap, out=tmp_path))
    exact(record)
    assert record["between"] == ["split"]
    assert {each["segment"] for each in record["scheduler"]["carried_out"]} == {"split", "count"}


def test_a_stage_with_a_watermark_of_its_own_behind_a_cut_is_not_given_another(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    settings = {**REQUEST.settings, "cuts": "join_campaign"}
    request = replace(REQUEST, applications=("ad-analytics",), settings=settings, kafka=broker.bootstrap, out=tmp_path)
    record, _ = conducted(request)
    exact(record)
    assert record["scheduler"]["switches"] >= 4


def test_a_burst_is_answered_in_micro_batches_and_left_again(broker: EmbeddedBroker, tmp_path: Path) -> None:
    request = replace(
        REQUEST,
        load="steps:500/s:12s:60000/s:8s:500/s",
        for_s=40,
        settings={"batch-duration": "10s"},
        kafka=broker.bootstrap,
        out=tmp_path,
    )
    record, path = conducted(request)
    exact(record)
    folder = path / "trials" / "001"
    decisions = [json.loads(line) for line in (folder / "decisions.jsonl").read_text().splitlines()]
    switched = [each["to"] for each in decisions if each["action"] == "switch"]
    assert switched[:1] == ["operation stream"] and switched[-1] == "data stream"
    assert (folder / "scheduler.parquet").exists()


def test_what_real_time_cannot_run_stays_in_micro_batches(broker: EmbeddedBroker, tmp_path: Path) -> None:
    request = replace(
        REQUEST, applications=("voip-stream",), load="preloaded", events=3_000, for_s=None, settings={},
        kafka=broker.bootstrap, out=tmp_path,
    )  # fmt: skip
    record, _ = conducted(request)
    exact(record)
    (segment,) = record["scheduler"]["segments"]
    assert segment["pinned"] == "operation stream" and "python-state" in segment["reason"]
    assert record["scheduler"]["switches"] == 0
