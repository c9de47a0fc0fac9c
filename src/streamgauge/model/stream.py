"""A stream: a named endless sequence of events, each a function of seed and index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from streamgauge.model.wire import Field, WireFormat


class Source(Protocol):
    """Random access to a stream's events: the same index always gives the same event."""

    def block(self, start: int, count: int) -> Any:
        """Events start … start+count−1 as a `pyarrow.RecordBatch` with the stream's fields."""
        ...


@dataclass(frozen=True)
class Stream:
    """What is known of a stream before any event of it exists."""

    name: str
    about: str
    fields: tuple[Field, ...]
    wire: WireFormat
    synthetic: Callable[[int], Source]
    """Seed → generated events."""
    recorded: Callable[[Path], Source] | None = None
    """A file in the real data set's format → its events, looped with a continuous timeline."""
    key: str | None = None
    """The field that decides an event's partition; without it events go round robin by index."""
    papers: tuple[str, ...] = ()
    skewed: Callable[[int, float], Source] | None = None
    """Seed and exponent of Zipf's law over its keys, 0 for even ones → generated events."""
