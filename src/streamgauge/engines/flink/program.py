"""What a file of `programs/` gives: for every stage that an application may end with, a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache


@dataclass(frozen=True)
class Result:
    """The rows of a stage as a query over the views of the inputs.

    Its last column is the origin: `origin`, its text, or `latest`, what `origin.LATEST` has made of several.
    """

    sql: str
    updates: bool = False
    """Whether a row replaces the earlier one of its key, so that the query is a changelog."""
    document: str | None = None
    """The column that is the whole JSON text of a record; without it the columns are its members."""


@dataclass(frozen=True)
class EventTime:
    """The field of an input that Flink's event time follows, and how far events may be behind."""

    field: str
    delay: str
    """An interval of SQL, like `INTERVAL '7' DAY`."""


@dataclass(frozen=True)
class Program:
    """An application as Flink runs it; `stages` take the application's parameters by keyword."""

    name: str
    stages: Mapping[str, Callable[..., Result]]
    event_times: Mapping[str, EventTime] = field(default_factory=dict)
    """Input → its event time, where a query needs one: the view then has the column `event_time`."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of the engine that the answer depends on: they hold over the user's."""


@cache
def all_programs() -> dict[str, Program]:
    """Every program of the folder by the name of its application."""
    from streamgauge.engines.flink import programs
    from streamgauge.model.registry import discover

    return discover(programs, "PROGRAM")
