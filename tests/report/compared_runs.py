"""Stored runs to be compared: repeats of one trial with seeded noise, slower by a given factor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from streamgauge.store import StoredRun
from tests.report.sample_run import record, store_sample, tables

Stored = tuple[dict[str, Any], dict[str, pa.Table]]


def repeats(
    application: str = "wordcount",
    engine: str = "spark-microbatch",
    *,
    factor: float = 1.0,
    n: int = 5,
    noise: float = 0.03,
    seed: int = 1,
    version: str = "4.3.0",
    **changes: Any,
) -> list[Stored]:
    """Repeats whose latencies are `factor` times the usual and whose throughput is as much lower.

    Only one repeat has its tables: nothing reads those of several.
    """
    rng = np.random.default_rng(seed)
    found = []
    for repeat in range(1, n + 1):
        made = record(application, engine, 1, repeat, process={"version": version}, **changes)
        slower = factor * np.exp(rng.normal(0, noise))
        for kind in ("latency_ms", "output_latency_ms", "due_latency_ms"):
            made[kind] = {k: v if k == "n" or v is None else round(v * slower) for k, v in made[kind].items()}
        made["throughput"]["events_per_s"] = 500 / slower
        made["resources"]["job"]["cpu_share"] = 0.4 * float(np.exp(rng.normal(0, noise)))
        found.append((made, tables(engine, seed) if n == 1 else {}))
    return found


def with_trial(stored: list[Stored], **changes: Any) -> list[Stored]:
    """The same repeats of a trial that differs in some of what decides it."""
    for made, _ in stored:
        made["trial"] |= changes
        made |= {name: value for name, value in changes.items() if name in ("load", "seed")}
    return stored


def store_run(root: Path, *parts: list[Stored], **facts: Any) -> StoredRun:
    """A run with those trials, read back."""
    return StoredRun.open(store_sample(root, [each for part in parts for each in part], **facts))
