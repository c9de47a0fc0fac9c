"""What the attempts at one job left beside its outputs: when it committed, and what an engine that decides did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamgauge.lab.job_process import JobHandle
from streamgauge.measure.throughput import Commits
from streamgauge.model.job import InputTopic
from streamgauge.paradigms.keeping import read_kept
from streamgauge.paradigms.ticks import TICKS
from streamgauge.store.calibrations import DECISIONS
from streamgauge.watch.flow import committed_of


def left_by(attempts: Sequence[JobHandle], folder: Path) -> tuple[dict[str, Any], dict[str, pa.Table | Path]]:
    """Facts for the record and tables of all attempts together; both are empty where an engine decides nothing.

    What is told by a job that stops in order is of the last; what is kept while one runs is there of all, also of one
    that was killed.
    """
    files = [attempt.keeps for attempt in attempts if attempt.keeps.as_dict()]
    if not files:
        return {}, {}
    kept = read_kept(files)
    decisions = folder / f"{DECISIONS}.jsonl"
    decisions.write_text(kept.decisions, encoding="utf-8")
    told = next((attempt.left for attempt in reversed(attempts) if attempt.left), {})
    return {**told, **kept.facts}, {TICKS: kept.ticks, DECISIONS: decisions}


def commits_of(attempts: Sequence[JobHandle], inputs: Mapping[str, InputTopic]) -> Commits:
    """When every query that reads an input had committed how much of it, by any of the attempts."""
    return Commits.of(
        [
            (at_ms, where.first_partition + partition, offset)
            for attempt in attempts
            for at_ms, committed in attempt.commits
            for where in inputs.values()
            for partition, offset in committed_of(where.topic, committed).items()
        ]
    )
