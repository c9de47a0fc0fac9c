"""What a publisher process is told, and what it tells at its end: two values that travel as JSON files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from streamgauge.model.errors import UserError
from streamgauge.streams.malformed import Spoiling
from streamgauge.streams.reference import StreamReference


@dataclass(frozen=True)
class PublisherSpec:
    """Which events are published, where, and when; the load counts from the first of them."""

    stream: StreamReference
    seed: int
    load: str
    events: int
    topic: str
    partitions: int
    bootstrap: str
    result_path: str
    lateness_path: str
    start_index: int = 0
    """Index in the stream of the first event that is published."""
    start_at_epoch_ns: int = 0
    """The instant at which elapsed time is zero; 0 means as soon as the publisher is ready."""
    judged_from_s: int = 0
    """Lateness before this second of the schedule, the warm-up, is counted but not judged."""
    kafka_config: Mapping[str, str] = field(default_factory=dict)
    """Settings of librdkafka: security, or what is to differ from this program's choice."""
    malformed: float = 0.0
    """Share of the events that are spoiled on purpose."""
    required: tuple[str, ...] = ()
    """The fields that the application cannot do without: what a defect is aimed at."""
    progress_path: str | None = None
    resumes: bool = False
    """Whether a publisher before this one was killed: what it left in the topic, which was empty, is not sent again."""
    broker_timeout_s: float = 15.0
    """How long the log may not answer before the publisher gives up."""
    share: int = 0
    shares: int = 1
    """Of several publishers of one topic each has a share of the partitions: those whose number leaves `share`."""

    def __post_init__(self) -> None:
        if self.events < 1:
            raise UserError(f"{self.events} events cannot be published", "Ask for at least one event")
        if self.partitions < 1 or self.start_index < 0:
            raise UserError("a publisher needs at least one partition and a start index that is not negative")
        if not 0 <= self.share < self.shares <= self.partitions:
            raise UserError(f"share {self.share} of {self.shares} has no partition of {self.partitions}")

    @property
    def spoiling(self) -> Spoiling | None:
        """How events are spoiled, or None."""
        return Spoiling(self.seed, self.malformed, self.required) if self.malformed > 0 else None

    def write(self, path: Path) -> None:
        """Write the specification as JSON."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> PublisherSpec:
        """The specification that `write` wrote."""
        try:
            return cls.from_dict(json.loads(path.read_text()))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UserError(f"{path} is no specification of a publisher: {error}") from None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PublisherSpec:
        """The specification whose members as plain JSON values these are."""
        stream = StreamReference.from_dict(values["stream"])
        return cls(**{**values, "stream": stream, "required": tuple(values["required"])})


@dataclass(frozen=True)
class PublisherResult:
    """How the publishing went."""

    events: int
    """Events that were handed to the producer."""
    bytes: int
    """Bytes of their payloads."""
    partition_events: tuple[int, ...]
    start_at_epoch_ns: int
    first_sent_epoch_ns: int
    last_sent_epoch_ns: int
    finished_epoch_ns: int
    """When the log had acknowledged the last event."""
    achieved_rate_per_s: float
    """Paced: between the first and the last event. Preloaded: until the log had acknowledged all."""
    kept_up: bool
    kept_up_reason: str
    lateness_mean_ms: float | None = None
    """Lateness is None where no event has a time of its own: a preloaded load."""
    lateness_p50_ms: int | None = None
    lateness_p99_ms: int | None = None
    lateness_max_ms: float | None = None
    lateness_last_ms: float | None = None
    delivery_failures: int = 0
    """Events that the log did not acknowledge, or that are missing from the topic at the end."""
    interrupted: bool = False
    error: str | None = None
    exit_code: int = 0

    def write(self, path: Path) -> None:
        """Write the result as JSON, all or nothing."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> PublisherResult:
        """The result that `write` wrote."""
        return cls.from_dict(json.loads(path.read_text()))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PublisherResult:
        """The result whose members as plain JSON values these are."""
        return cls(**{**values, "partition_events": tuple(values["partition_events"])})

    @classmethod
    def together(cls, shares: Sequence[PublisherResult]) -> PublisherResult:
        """The result of publishers that shared a topic flat out, as of one; the first error stands for all."""
        if len(shares) == 1:
            return shares[0]
        first_ns, finished_ns = (
            min(s.first_sent_epoch_ns for s in shares),
            max(s.finished_epoch_ns for s in shares),
        )
        events = sum(s.events for s in shares)
        worst = next((s for s in shares if s.error), shares[0])
        return replace(
            worst,
            events=events,
            bytes=sum(s.bytes for s in shares),
            partition_events=tuple(map(sum, zip(*(s.partition_events for s in shares), strict=True))),
            start_at_epoch_ns=min(s.start_at_epoch_ns for s in shares),
            first_sent_epoch_ns=first_ns,
            last_sent_epoch_ns=max(s.last_sent_epoch_ns for s in shares),
            finished_epoch_ns=finished_ns,
            achieved_rate_per_s=events / max((finished_ns - first_ns) / 1e9, 1e-9),
            delivery_failures=sum(s.delivery_failures for s in shares),
        )


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Put a JSON file in its place in one step, so that a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(json.dumps(values))
    unfinished.replace(path)
