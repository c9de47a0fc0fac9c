"""Real trials under bursts, with a trigger interval, and with skewed keys: the figures are there and make sense."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from streamgauge.lab.planning import plan_run
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_plan
from streamgauge.log.broker import EmbeddedBroker
from tests.lab.listening import Remembering

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(300)]

REQUEST = RunRequest(applications=("grep",), engines=("spark-microbatch",), warmup_s=0, timeout_s=120)
UNEVEN = replace(REQUEST, applications=("spike-detection",), load="preloaded", events=8_000, partitions=4)
REQUESTS = {
    "even": replace(UNEVEN, key_skew="0"),
    "skewed": replace(UNEVEN, key_skew="1.5"),
    "bursts": replace(REQUEST, load="bursts:200/s:1000:5s", for_s=13, settings={"trigger": "1s"}),
    # Last: what has run before has warmed the process, so that a burst is caught up even on a busy machine.
    "burst": replace(REQUEST, load="burst:1000/s:4s:100/s", for_s=16),
}


@pytest.fixture(scope="module")
def records(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The record of each request, conducted in one run."""
    out = tmp_path_factory.mktemp("runs")
    plans = [plan_run(replace(each, kafka=broker.bootstrap, out=out)) for each in REQUESTS.values()]
    listener = Remembering()
    conduct_plan(replace(plans[0], trials=tuple(trial for plan in plans for trial in plan.trials)), listener)
    for record in listener.records:
        assert record["status"] == "done", record["error"]
        assert record["verdict"]["correct"], record["verdict"]
    return dict(zip(REQUESTS, listener.records, strict=True))


def test_a_burst_at_start_up_is_caught_up(records: dict[str, dict[str, Any]]) -> None:
    found = records["burst"]["bursts"]
    # Some of the burst may be gone before the first whole second is counted.
    assert 3_000 <= found["waiting_events"] <= 4_800
    assert 0 < found["catch_up_s"] <= 16
    assert found["burst_events_per_s"] <= found["peak_events_per_s"]


def test_bursts_and_a_trigger_interval_have_their_figures(records: dict[str, dict[str, Any]]) -> None:
    record = records["bursts"]
    assert record["bursts"]["bursts"] == 2
    assert 0 <= record["bursts"]["inflated_mean_s"] <= record["bursts"]["inflated_max_s"] <= 5
    assert record["scheduling"]["batches"] >= 5
    assert 0 <= record["scheduling"]["delay_mean_ms"] <= record["scheduling"]["delay_max_ms"]
    assert record["throughput"]["outputs_per_s"] > 0


def test_skewed_keys_load_one_partition_and_the_answer_stays_right(records: dict[str, dict[str, Any]]) -> None:
    even, skewed = (records[name]["log"]["largest_partition_share"] for name in ("even", "skewed"))
    assert even < 0.32 and skewed > 0.45
