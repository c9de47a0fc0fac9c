"""What a trial's faults did to it: recoveries taken from its tables, and their part of the record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from streamgauge.lab.fault_drill import Endured
from streamgauge.measure.answering import Answer
from streamgauge.measure.latency import Latencies
from streamgauge.measure.recovery import Disturbance, Recovery, measure_recovery, recovery_figures, with_reprocessed
from streamgauge.measure.throughput import NO_COMMITS, Commits, measure_tenths
from streamgauge.model import Verdict


def recoveries_of(
    endured: Endured,
    connection: Any,
    inputs: list[Path],
    answers: list[Answer],
    latencies: Latencies,
    start_ms: int,
    commits: Commits = NO_COMMITS,
) -> tuple[list[Recovery], pa.Table | None]:
    """How the job came through each disturbance, and the table that it was taken from; of a trial without none."""
    disturbances = Disturbance.of(endured.injected)
    if not disturbances:
        return [], None
    outputs = [answer.outputs for answer in answers]
    tenths = measure_tenths(connection, inputs, outputs, start_ms, commits)
    notices = [each.at_ms for each in endured.notices if each.what == "died"]
    found = measure_recovery(tenths, latencies.counts, disturbances, notices, start_ms)
    return with_reprocessed(connection, outputs, found), tenths


def span_ms(recovery: Recovery) -> tuple[int, int]:
    """When a fault was at work: until it was undone and output was back."""
    return recovery.at_ms, max(recovery.at_ms, recovery.until_ms or 0, recovery.gap_end_ms or 0)


def recovery_record(endured: Endured, recoveries: list[Recovery], verdict: Verdict) -> dict[str, Any]:
    """The record's part on recovery."""
    return {
        **recovery_figures(recoveries, verdict.as_dict()),
        "each": [each.as_dict() for each in recoveries],
        "notices": [each.as_dict() for each in endured.notices],
        "went_down": endured.went_down,
    }
