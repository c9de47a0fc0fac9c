"""A stored table: data at rest that an application joins its stream with (SB9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge.model.wire import Field


@dataclass(frozen=True)
class StoredTable:
    """What is known of a stored table; its rows do not change while an application runs."""

    name: str
    about: str
    fields: tuple[Field, ...]
    synthetic: Callable[[], Any]
    """The rows that are used without --data, as a `pyarrow.Table` with these fields."""
    recorded: Callable[[Path], Any] | None = None
    """A file in the real data's format → its rows."""
