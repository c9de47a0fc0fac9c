"""Records of trials, and the shape that scripts read."""

import math

import numpy as np
import pytest

from streamgauge.model import Trial, UserError
from streamgauge.model.verdict import Verdict
from streamgauge.store import public_json, trial_record

TRIAL = Trial("wordcount", "spark-realtime", "constant:500/s", seed=1, events=10_000, warmup_events=2_500)
LATENCY = {"n": 5000, "mean": 6.5, "p50": 6, "p95": 9, "p99": 20, "p99.9": None, "p99.999": None, "max": 90}
DONE = {
    "measured_events": 7500,
    "valid": True,
    "latency_ms": LATENCY,
    "output_latency_ms": LATENCY,
    "throughput": {"events_per_s": 500.0, "p5_events_per_s": 480.0, "mb_per_s": 0.03, "drain_s": 0.1},
    "verdict": Verdict(expected=10, seen=30).as_dict(),
}


def test_the_public_shape_is_the_documented_one() -> None:
    record = trial_record(TRIAL, "done", **DONE)
    assert public_json({"run": "r"}, [record]) == {
        "schema": 1,
        "run": "r",
        "trials": [
            {
                "application": "wordcount",
                "engine": "spark-realtime",
                "load": "constant:500/s",
                "seed": 1,
                "events": 7500,
                "valid": True,
                "latency_ms": LATENCY,
                "output_latency_ms": LATENCY,
                "components": None,
                "durability": None,
                "throughput": {"events_per_s": 500.0, "p5_events_per_s": 480.0, "mb_per_s": 0.03},
                "verdict": {
                    "correct": True, "lost": 0, "duplicated": 0, "wrong": 0, "unexpected": 0, "out_of_order": 0,
                    "late": 0, "rejected": 0, "digest": "", "expected_digest": "",
                },
                "bursts": {},
                "seconds": {},
                "scheduling": {},
                "scheduler": {},
                "quality": {},
                "faults": [],
                "recovery": None,
                "phases": {},
                "gap": None,
            }
        ],
    }  # fmt: skip


def test_a_gap_has_no_figures_and_keeps_its_reason() -> None:
    gap = {"kind": "never", "reason": "continuous mode knows no aggregates"}
    (shown,) = public_json({"run": "r"}, [trial_record(TRIAL, "gap", gap=gap)])["trials"]
    assert shown["gap"] == gap
    assert (shown["valid"], shown["latency_ms"], shown["throughput"], shown["verdict"]) == (False, None, None, None)


@pytest.mark.parametrize(
    ("status", "facts", "said"),
    [
        ("done", {**DONE, "verdict": None}, "no figure without a verdict"),
        ("done", {**DONE, "invalid_reasons": ["late"]}, "has reasons against it"),
        ("gap", {}, "a gap without a reason"),
        ("failed", {}, "failed without an error"),
        ("failed", {"error": "died", "valid": True}, "called valid"),
        ("over", {}, "none of done, gap, failed"),
        ("failed", {"eror": "died"}, "Did you mean 'error'"),
    ],
)
def test_a_record_that_would_mislead_is_refused(status, facts, said) -> None:
    with pytest.raises(UserError, match=said):
        trial_record(TRIAL, status, **facts)


def test_numbers_are_plain_and_finite() -> None:
    facts = {**DONE, "resources": {"job": {"cpu_cores_mean": np.float64(1.5), "cpu_share": math.nan}}}
    record = trial_record(TRIAL, "done", **facts)
    assert record["resources"] == {"job": {"cpu_cores_mean": 1.5, "cpu_share": None}}
    assert type(record["resources"]["job"]["cpu_cores_mean"]) is float
