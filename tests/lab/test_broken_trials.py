"""Several real faults in one trial, engine by engine: brought back every time, and the answer still right."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from tests.lab.listening import Remembering

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(400)]

ON_THIS_MACHINE = ("kill driver at 3s", "kill publisher at 12s", "suspend broker at 15s for 1s")
"""The driver is killed within the first batch of a real-time query, which has no commit then."""
IN_A_CLUSTER = ("kill executor at 4s", "kill worker at 12s for 3s")


@pytest.mark.parametrize(
    ("engine", "place", "faults"),
    [
        ("spark-microbatch", "cluster:3", IN_A_CLUSTER),
        ("spark-realtime", "cluster:3", IN_A_CLUSTER),
        ("spark-adaptive", "local", ON_THIS_MACHINE),
    ],
)
def test_nothing_is_lost(tmp_path: Path, engine: str, place: str, faults: tuple[str, ...]) -> None:
    listener = Remembering()
    request = RunRequest(
        applications=("wordcount",),
        engines=(engine,),
        load="constant:200/s",
        for_s=18,
        warmup_s=0 if place == "local" else 3,
        timeout_s=180,
        partitions=2,
        place=place,
        faults=faults,
        settings={} if engine == "spark-microbatch" else {"batch-duration": "8s" if place == "local" else "3s"},
        out=tmp_path,
    )
    conduct_run(request, listener)
    (record,) = listener.records
    assert record["status"] == "done", record["error"]
    assert [fault["problem"] for fault in record["faults"]] == [None] * len(faults)
    verdict, recovery = record["verdict"], record["recovery"]
    assert verdict["correct"], verdict
    assert [verdict[name] for name in ("lost", "wrong", "unexpected", "out_of_order")] == [0, 0, 0, 0]
    assert sum(part["seen"] for part in verdict["phases"].values()) == verdict["seen"]
    assert record["log"]["events"] == record["trial"]["events"]
    # On a busy machine micro-batches may be so far apart that an executor less opens no gap between them.
    if engine != "spark-microbatch":
        assert recovery["output_gap_s"] > 0
        assert verdict["restarts"] >= 1, recovery["notices"]
