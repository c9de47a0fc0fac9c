"""What a trial left in the log, and what was seen on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamgauge.lab.fault_drill import Endured
from streamgauge.load.specification import PublisherResult
from streamgauge.measure.throughput import NO_COMMITS, Commits
from streamgauge.model import Application, Load
from streamgauge.model.job import InputTopic


@dataclass
class Conducted:
    """What a trial left in the log, and what was seen on the way."""

    application: Application
    load: Load
    inputs: dict[str, InputTopic]
    outputs: dict[str, str]
    tables: dict[str, Path] = field(default_factory=dict)
    """Stored table → the file that holds its rows."""
    dead_letters: str | None = None
    publishers: dict[str, PublisherResult] = field(default_factory=dict)
    reused_inputs: list[str] = field(default_factory=list)
    """Inputs that an earlier trial of the run had published."""
    lateness_paths: list[Path] = field(default_factory=list)
    resources: Any = None
    watching_cpu_s: float = 0.0
    progress: list[dict[str, Any]] = field(default_factory=list)
    commits: Commits = NO_COMMITS
    job_started_ms: int = 0
    ended_in_time: bool = True
    output_still_growing: bool = False
    discarded_s: float = 0.0
    """How long a process that was cold ran the job before, its outputs thrown away."""
    jobs_before: int = 0
    engine_facts: dict[str, Any] = field(default_factory=dict)
    end: dict[str, Any] = field(default_factory=dict)
    endured: Endured = field(default_factory=Endured)
    scheduler: dict[str, Any] = field(default_factory=dict)
    """What an engine that decides by itself did."""
    left_tables: dict[str, pa.Table | Path] = field(default_factory=dict)
    """What it saw and why it decided so."""
