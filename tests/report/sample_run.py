"""A run as the laboratory stores it, made from seeded draws: the shapes and sizes are those of a real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from streamgauge.model import Trial
from streamgauge.store import RunStore, trial_record

STARTED_MS = 1_760_000_000_000
SECONDS = 25
RATE = 500

_LONG_SETTING = {"spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming." * 3}

MEDIAN_MS = {
    "spark-realtime": 6.0,
    "spark-microbatch": 480.0,
    "spark-continuous": 9.0,
    "spark-adaptive": 6.0,
    "flink": 8.0,
}


def run_facts() -> dict[str, Any]:
    """The run's own facts."""
    trip = {"records": 200, "consumed_ms": {"min": 0.9, "median": 1.4, "p99": 3.9}}
    return {
        "schema": 1,
        "run": "2025-10-09-085320-demo",
        "created_at": "2025-10-09T08:53:20Z",
        "command": "streamgauge run wordcount grep --engine spark-microbatch --engine spark-realtime",
        "status": "done",
        "machine": {
            "system": "Linux 6.1",
            "processor": "x86-64",
            "cores": 2,
            "memory_bytes": 8 * 2**30,
            "load_average": 0.4,
        },
        "versions": {"streamgauge": "0.1.0", "spark": "4.3.0", "kafka": "4.1.1", "java": "17.0.12", "python": "3.11.7"},
        "log": {"kind": "embedded", "round_trip_ms": trip},
    }


def tables(engine: str, seed: int) -> dict[str, pa.Table]:
    """Stored samples of one trial."""
    rng = np.random.default_rng(seed)
    return {
        "latency": _latency(engine, rng),
        "throughput": _throughput(engine, rng),
        "resources": _resources(engine, rng),
        "lateness": pa.table({"second": [0, 1], "lateness_ms": [0, 1], "count": [RATE, RATE]}),
    }


def _latency(engine: str, rng: np.random.Generator) -> pa.Table:
    parts = []
    for kind in ("event", "output", "due"):
        for second in range(SECONDS):
            draws = np.round(rng.lognormal(np.log(MEDIAN_MS[engine]), 0.35, RATE)) + (kind == "due")
            if second % 5 == 4 and engine == "spark-realtime":
                draws[: RATE // 20] += rng.integers(80, 260, RATE // 20)
            values, counts = np.unique(draws.astype(np.int64), return_counts=True)
            parts.append(
                pa.table(
                    {
                        "kind": [kind] * len(values),
                        "second": pa.array([second] * len(values), pa.int32()),
                        "latency_ms": values,
                        "count": counts,
                    }
                )
            )
    return pa.concat_tables(parts)


def _throughput(engine: str, rng: np.random.Generator) -> pa.Table:
    ripple = rng.normal(0, 40 if engine == "spark-microbatch" else 4, SECONDS)
    return pa.table(
        {
            "second": pa.array(range(SECONDS), pa.int32()),
            "in_events": [RATE] * SECONDS,
            "consumed_events": np.round(RATE + ripple).astype(np.int64),
            "out_records": [RATE * 3] * SECONDS,
        }
    )


def _resources(engine: str, rng: np.random.Generator) -> pa.Table:
    at = STARTED_MS + np.arange(-4, SECONDS * 2) * 500
    parts = []
    for component, level, rss in (("job", 0.9, 900e6), ("broker", 0.2, 420e6), ("publisher", 0.05, 90e6)):
        heap = np.abs(300e6 + rng.normal(0, 60e6, at.size)).astype(np.int64)
        jvm = component != "publisher"
        parts.append(
            pa.table(
                {
                    "at_ms": at,
                    "component": [component] * at.size,
                    "cpu_cores": np.abs(level + rng.normal(0, level / 6, at.size)),
                    "rss_bytes": (rss + np.arange(at.size) * 2e5).astype(np.int64),
                    "rx_bytes": np.arange(at.size) * 40_000,
                    "tx_bytes": np.arange(at.size) * 30_000,
                    "heap_used_bytes": pa.array(heap if jvm else [None] * at.size, pa.int64()),
                    "heap_max_bytes": pa.array([2**30 if jvm else None] * at.size, pa.int64()),
                    "gc_count": pa.array(np.arange(at.size) // 8 if jvm else [None] * at.size, pa.int64()),
                    "gc_ms": pa.array(np.arange(at.size) * 1.5 if jvm else [None] * at.size, pa.float64()),
                }
            )
        )
    return pa.concat_tables(parts)


def record(application: str, engine: str, seed: int = 1, repeat: int = 1, **changes: Any) -> dict[str, Any]:
    """A trial that went well; `changes` replace members."""
    rng = np.random.default_rng(seed)
    median = MEDIAN_MS[engine] * float(rng.uniform(0.95, 1.05))
    latency = {"n": 7500, "mean": median * 1.1, "p50": round(median), "p95": round(median * 1.7)}
    latency |= {"p99": round(median * 2.4), "p99.9": round(median * 5), "p99.999": None, "max": round(median * 8)}
    verdict = {"correct": True, "expected": 1843, "seen": 22498, "lost": 0, "wrong": 0, "unexpected": 0}
    verdict |= {"duplicated": 0, "out_of_order": 0, "late": 0, "rejected": 0, "examples": []}
    facts = {
        "measured_events": 7500,
        "started_at_ms": STARTED_MS,
        "valid": True,
        "latency_ms": latency,
        "output_latency_ms": {**latency, "p50": round(median * 0.9)},
        "due_latency_ms": {**latency, "p50": round(median + 1)},
        "throughput": {
            "events_per_s": 499.6 + repeat,
            "p5_events_per_s": 494.0,
            "mb_per_s": 0.031,
            "events_per_s_per_node": 499.6,
            "mb_per_s_per_node": 0.031,
            "time_to_first_output_s": 0.42,
            "drain_s": 0.6,
        },
        "publisher": {"events": 12500, "kept_up": True, "lateness_ms": {"p50": 0.2, "p99": 1.1, "max": 4.0}},
        "requirements": [
            {"name": "publishing faster than consumption", "met": True, "detail": "the publisher kept its schedule"},
            {"name": "the broker serves faster", "met": True, "detail": "1,400,000/s against 500/s"},
        ],
        "resources": {
            "job": {
                "samples": 50,
                "cpu_cores_mean": 0.91,
                "cpu_share": 0.455,
                "rss_bytes_max": 943718400,
                "gc_ms": 160,
            },
            "broker": {"samples": 50, "cpu_cores_mean": 0.21, "rss_bytes_max": 440401920, "rx_bytes_per_s": 81234.5},
            "publisher": {"samples": 50, "cpu_cores_mean": 0.05, "rss_bytes_max": 94371840},
            "watching_cpu_s": 0.31,
        },
        "warmup": {"seconds": 10.0, "events": 5000, "settled": True},
        "end": {"reached": True, "silence_s": 1.0},
        "verdict": verdict,
        "tuning": {"spark.sql.shuffle.partitions": "2", "kafka.fetch.max.wait.ms": "10", **_LONG_SETTING},
        "thresholds": [{"threshold": "p99<5s", "ok": True, "seen": 15.0, "text": "✓ p99<5s: 15 ms"}],
    }
    status = changes.pop("status", "done")
    if status != "done":
        facts = {"tuning": facts["tuning"]}
    trial = Trial(application, engine, "constant:500/s", seed, 12500, 5000, repeat=repeat)
    return trial_record(trial, status, **{**facts, **changes})


def trials() -> list[tuple[dict[str, Any], dict[str, pa.Table]]]:
    """A comparison with everything that can happen: repeats, a late publisher, a wrong answer, a gap, a failure."""
    found = []
    for application in ("wordcount", "grep"):
        for engine in ("spark-microbatch", "spark-realtime"):
            for repeat in (1, 2, 3):
                seed = len(found) + 1
                found.append((record(application, engine, seed, repeat), tables(engine, seed)))
    behind = ["the publisher fell behind its schedule: 212 ms at the end"]
    late = record("projection", "spark-realtime", 40, valid=False, invalid_reasons=behind)
    found.append((late, tables("spark-realtime", 40)))
    wrong = record("statistics", "spark-microbatch", 41)
    wrong["verdict"] |= {"correct": False, "lost": 3, "wrong": 1, "examples": ["key 17: expected 4.5, seen 4.25"]}
    found.append((wrong, tables("spark-microbatch", 41)))
    gap = {"kind": "never", "reason": "continuous processing has no aggregates: wordcount needs one"}
    found.append((record("wordcount", "spark-continuous", 42, status="gap", gap=gap), {}))
    error = {"cause": "the job process of spark-continuous died: exit code 137", "way_out": "Run again", "exit_code": 5}
    found.append((record("grep", "spark-continuous", 43, status="failed", error=error), {}))
    return found


def store_sample(
    root: Path, chosen: list[tuple[dict[str, Any], dict[str, pa.Table]]] | None = None, **changes: Any
) -> Path:
    """Write the sample run, or chosen trials, below the root with the store's own writer, and say where.

    `changes` replace facts of the run.
    """
    facts = run_facts()
    kept = trials() if chosen is None else chosen
    named = {name: facts[name] for name in ("command", "machine", "versions", "log")}
    writer = RunStore(root).create(trials=len(kept), **named)
    writer.describe(**changes)
    for stored, samples in kept:
        writer.add_trial(stored, samples)
    writer.finish("complete")
    return writer.folder
