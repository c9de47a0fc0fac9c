"""Trials in which something went wrong, as the laboratory stores them."""

from __future__ import annotations

from typing import Any

from tests.report.sample_run import STARTED_MS, record

FAULT = "kill driver at 10s"
PHASE = {"seen": 700, "lost": 0, "wrong": 0, "unexpected": 0, "duplicated": 0, "out_of_order": 0}


def injected(**changes: Any) -> dict[str, Any]:
    """A driver that was killed ten seconds after the first measured event."""
    return {
        "fault": FAULT,
        "verb": "kill",
        "target": "driver",
        "number": 1,
        "pid": 4711,
        "lasting": "transient",
        "planned_at_ms": STARTED_MS + 10_000,
        "at_ms": STARTED_MS + 10_012,
        "effect": "gone",
        "planned_until_ms": None,
        "until_ms": None,
        "back_effect": None,
        "problem": None,
        **changes,
    }


def recovery(**changes: Any) -> dict[str, Any]:
    """What is stored of how a job came through its faults."""
    each = {
        "fault": FAULT,
        "target": "driver",
        "at_ms": STARTED_MS + 10_012,
        "until_ms": None,
        "detect_s": 0.4,
        "output_gap_s": 5.25,
        "gap_end_ms": STARTED_MS + 15_100,
        "usual_gap_s": 0.5,
        "latency_back_s": 8.0,
        "p99_back_s": 9.0,
        "band_ms": 530.0,
        "peak_p50_ms": 5300.0,
        "backlog_peak": 2600,
        "drained_s": 7.3,
        "catch_up_per_s": 1800.0,
        "events_reprocessed": 240,
    }
    names = ("detect_s", "output_gap_s", "latency_back_s", "p99_back_s", "drained_s", "catch_up_per_s")
    figures = {name: each[name] for name in names}
    whole = {
        **figures,
        "events_reprocessed": 240,
        "lost_share": 0.0,
        "class": "rollback",
        "each": [each],
        "notices": [],
    }
    return {**whole, **changes}


def broken(engine: str = "spark-microbatch", repeat: int = 1, **changes: Any) -> dict[str, Any]:
    """A trial whose driver was killed and came back, with outputs repeated."""
    found = record("wordcount", engine, repeat=repeat, faults=[injected()], recovery=recovery(), **changes)
    found["trial"]["faults"] = [FAULT]
    if found["verdict"]:
        found["verdict"] |= {"duplicated": 12, "restarts": 1, "duplicates_allowed": True}
        found["verdict"]["phases"] = {
            "before": PHASE,
            "during": {**PHASE, "seen": 3},
            "after": {**PHASE, "duplicated": 12},
        }
    return found
