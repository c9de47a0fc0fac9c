"""Real trials under bursts, with a trigger interval, and with skewed keys: the figures are there and make sense."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.log.broker import EmbeddedBroker
from tests.lab.listening import Remembering

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(300)]

REQUEST = RunRequest(applications=("grep",), engines=("spark-microbatch",), warmup_s=0, timeout_s=120)


def conducted(request: RunRequest) -> dict[str, Any]:
    listener = Remembering()
    conduct_run(request, listener)
    (record,) = listener.records
    assert record["status"] == "done", record["error"]
    assert record["verdict"]["correct"], record["verdict"]
    return record


def test_a_burst_at_start_up_is_caught_up(broker: EmbeddedBroker, tmp_path: Path) -> None:
    request = replace(REQUEST, load="burst:3000/s:4s:200/s", for_s=12, kafka=broker.bootstrap, out=tmp_path)
    found = conducted(request)["bursts"]
    # Some of the burst may be gone before the first whole second is counted.
    assert 9_000 <= found["waiting_events"] <= 14_000
    assert 1 <= found["catch_up_s"] <= 12
    assert found["burst_events_per_s"] <= found["peak_events_per_s"]


def test_bursts_and_a_trigger_interval_have_their_figures(broker: EmbeddedBroker, tmp_path: Path) -> None:
    request = replace(
        REQUEST, load="bursts:200/s:1000:5s", for_s=13, settings={"trigger": "1s"}, kafka=broker.bootstrap, out=tmp_path
    )
    record = conducted(request)
    assert record["bursts"]["bursts"] == 2
    assert 0 <= record["bursts"]["inflated_mean_s"] <= record["bursts"]["inflated_max_s"] <= 5
    assert record["scheduling"]["batches"] >= 5
    assert 0 <= record["scheduling"]["delay_mean_ms"] <= record["scheduling"]["delay_max_ms"]
    assert record["throughput"]["outputs_per_s"] > 0


def test_skewed_keys_load_one_partition_and_the_answer_stays_right(broker: EmbeddedBroker, tmp_path: Path) -> None:
    request = replace(REQUEST, applications=("spike-detection",), load="preloaded", events=8_000, partitions=4)
    shares = []
    for skew in ("0", "1.5"):
        record = conducted(replace(request, key_skew=skew, kafka=broker.bootstrap, out=tmp_path))
        shares.append(record["log"]["largest_partition_share"])
    assert shares[0] < 0.32 and shares[1] > 0.45
