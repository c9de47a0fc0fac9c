"""A run of a suite as the laboratory stores it: the suite's own trials, with figures by rule instead of measurement."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamgauge.lab.expansion import expand
from streamgauge.lab.request import PlannedTrial
from streamgauge.lab.suite import Scale, Suite
from streamgauge.model import Trial
from streamgauge.report.drawing import DrawnTrial
from streamgauge.store import RunStore, trial_record
from tests.report.sample_run import MEDIAN_MS, record, run_facts, tables

Change = Callable[[dict[str, Any]], dict[str, Any]]


def events_per_s(trial: Trial) -> float:
    """A rate that grows with partitions and a little with size, and differs between applications."""
    pace = 20_000 + 3_000 * (sum(map(ord, trial.application)) % 7)
    half = 0.6 if trial.engine == "spark-realtime" else 1.0
    return pace * half * math.log2(1 + trial.partitions) * (1 + 0.01 * trial.repeat) + trial.events / 1e4


def record_of(planned: PlannedTrial) -> dict[str, Any]:
    """A trial that went well; a gap where the plan has one."""
    trial, known = planned.trial, record("grep", planned.trial.engine, planned.trial.repeat, planned.trial.repeat)
    if planned.gap is not None:
        gap = {"kind": planned.gap.kind, "reason": planned.gap.reason}
        return trial_record(trial, "gap", gap=gap, matrices=planned.matrices)
    rate = events_per_s(trial)
    median = MEDIAN_MS[trial.engine]
    facts = {
        name: known[name] for name in ("latency_ms", "output_latency_ms", "due_latency_ms", "verdict", "resources")
    }
    job = {**facts["resources"]["job"], "cpu_spread": 0.3, "heap_used_bytes_max": 5e8, "rx_bytes_per_s": 1e6}
    throughput = {**known["throughput"], "events_per_s": rate, "mb_per_s": rate * 6e-5, "outputs_per_s": rate / 3}
    return trial_record(
        trial,
        "done",
        **{**facts, "resources": {**facts["resources"], "job": job}},
        valid=True,
        measured_events=trial.events,
        started_at_ms=known["started_at_ms"],
        throughput=throughput,
        bursts={
            "catch_up_s": 4.0 + trial.repeat,
            "burst_events_per_s": rate / 2,
            "peak_events_per_s": rate,
            "inflated_mean_s": 2.0,
            "inflated_max_s": 3.0,
            "peak_p50_ms": median * 4,
        },
        scheduling={"delay_mean_ms": 40.0 * len(trial.load)},
        thresholds=[
            {"threshold": text, "ok": True, "seen": 1.0, "text": f"✓ {text}: 1"} for text in planned.thresholds
        ],
        matrices=planned.matrices,
    )


def suite_run(suite: Suite, scale: Scale, change: Change | None = None) -> tuple[dict[str, Any], list[DrawnTrial]]:
    """The run's facts and its trials with their samples, as a page is made of them; `change` is given every record."""
    plan = expand(suite, scale)
    samples = {engine: tables(engine, 1) for engine in {planned.trial.engine for planned in plan}}
    found = []
    for planned in plan:
        made = record_of(planned) if change is None else change(record_of(planned))
        found.append(DrawnTrial(made, samples[planned.trial.engine] if made["status"] == "done" else {}))
    return {**run_facts(), "trials": len(plan), "suite": suite.facts(scale)}, found


def store_suite(root: Path, suite: Suite, scale: Scale) -> Path:
    """Store a run of the suite and say where."""
    run, trials = suite_run(suite, scale)
    named = {name: run[name] for name in ("command", "machine", "versions", "log", "trials", "suite")}
    writer = RunStore(root).create(**named)
    for each in trials:
        writer.add_trial(dict(each.record), dict(each.tables))
    writer.finish("complete")
    return writer.folder
