"""The job file: everything that a job process is told, as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

DEAD_LETTERS = "dead-letters"
"""The name of the query, and of the output, that holds malformed events."""
STANDBY = "-standby"
"""Ends the names of the topic and the checkpoint of a segment's standby."""


@dataclass(frozen=True)
class InputTopic:
    """Where one input is read, and the number of its first partition counted over all inputs."""

    topic: str
    first_partition: int = 0


@dataclass(frozen=True)
class Job:
    """One job: an application on an engine, from its input topics to its output topics."""

    application: str
    """A name, or the path of a user's file."""
    engine: str
    inputs: Mapping[str, InputTopic]
    outputs: Mapping[str, str]
    """Output stage → topic."""
    between: Mapping[str, str]
    """Stage that a cut follows → topic."""
    bootstrap: str
    checkpoint: str
    status_path: str
    """The job process appends one JSON object per line here: what happened, and when."""
    kafka_options: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    stop_after: str | None = None
    tables: Mapping[str, str] = field(default_factory=dict)
    """Stored table → the Parquet file that holds its rows."""
    dead_letters: str | None = None
    """Topic for malformed events; without it they are dropped."""
    sink: str | None = None
    """The store that results are written to instead of their topics; the topics' names stand for places in it."""
    described: Mapping[str, Any] = field(default_factory=dict)
    """What the engine says of the application to a process that cannot import it."""

    def write(self, path: Path) -> None:
        """Write the job file."""
        path.write_text(json.dumps(asdict(self), indent=2))

    @staticmethod
    def read(path: Path) -> Job:
        """Read a job file back."""
        values = json.loads(path.read_text())
        values["inputs"] = {name: InputTopic(**each) for name, each in values["inputs"].items()}
        return Job(**values)
