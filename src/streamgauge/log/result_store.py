"""Stores beside the log that results can be written to: what is asked of one, and the one that a URL names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol
from urllib.parse import urlsplit

import pyarrow as pa

from streamgauge.log.postgres_store import SCHEMES as POSTGRES
from streamgauge.log.postgres_store import PostgresStore
from streamgauge.log.redis_store import SCHEMES as REDIS
from streamgauge.log.redis_store import RedisStore
from streamgauge.model.errors import UserError

WAY_OUT = "Write it like redis://localhost:6379/0 or postgresql://user@localhost:5432/results"


class ResultStore(Protocol):
    """Places for results, each with a name, in a store of the user's."""

    @property
    def outputs(self) -> Literal["exactly-once", "at-least-once"]:
        """What becomes of an output that is written again: turned away, or there twice."""
        ...

    def check(self) -> None:
        """Return when the store takes results, or raise a LogError."""
        ...

    def make(self, place: str) -> None:
        """Make an empty place; what had its name is deleted."""
        ...

    def count(self, place: str) -> int:
        """How many rows are there."""
        ...

    def write(self, place: str, rows: pa.RecordBatch, hashed: bool = False, text_column: str | None = None) -> int:
        """Write rows (key, value, origin; all texts, key and origin may be null) and give their number."""
        ...

    def read_records(self, place: str) -> Iterator[pa.RecordBatch]:
        """Every row in the order in which they were written, as `log.reading.read_records` gives a topic's."""
        ...

    def delete(self, places: Iterable[str]) -> None:
        """Delete places with all they hold; one that does not exist is no error."""
        ...


def open_store(url: str) -> ResultStore:
    """The store that a URL names; nothing is opened before the first question."""
    scheme = urlsplit(url).scheme
    if scheme in REDIS:
        return RedisStore(url)
    if scheme in POSTGRES:
        return PostgresStore(url)
    raise UserError(f"'{scheme or url}' is no store that results can be written to", WAY_OUT)
