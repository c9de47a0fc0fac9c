"""PostgreSQL as the place of results: every row once, whatever is written again, and the latest of each key in a view.

A place is a table. What makes an output unique (its key, its origin and its value) is hashed to the table's primary
key, so that a batch that an engine runs again after a failure changes nothing. The instant at which the server inserts
a row stands for the log's append time, so latencies are right where PostgreSQL and Kafka share a clock. A text with
the character NUL cannot be stored.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa

from streamgauge.log.identity import identity
from streamgauge.log.reading import BATCH_RECORDS, RECORDS_SCHEMA, origin_columns
from streamgauge.model.errors import LogError, UserError
from streamgauge.model.trial import without_password

SCHEMES = ("postgresql", "postgres")
LATEST = "_latest"
"""Ending of the view that shows the latest row of each key."""

_WAY_OUT = "Write it like postgresql://user@localhost:5432/results"
_CONNECT_S = 5
_LONGEST_NAME = 63 - len(LATEST)
"""PostgreSQL cuts longer names off in silence."""

CREATE = """
create table {table} (
    id bytea primary key,
    number bigserial,
    key text,
    value text not null,
    origin text,
    written_ms bigint not null default (extract(epoch from clock_timestamp()) * 1000)::bigint
);
create view {latest} as
    select distinct on (key) key, value, origin, written_ms from {table} where key is not null
    order by key, number desc
"""
INCOMING = "create temporary table incoming (place bigint, id bytea, key text, value text, origin text) on commit drop"
COPY = "copy incoming (place, id, key, value, origin) from stdin"
# An output that a batch holds twice would hit itself: the first of them counts.
INSERT = """
insert into {table} (id, key, value, origin)
    select id, key, value, origin from (
        select distinct on (id) place, id, key, value, origin from incoming order by id, place) as once
    order by place
on conflict (id) do nothing
"""
READ = """
select number, written_ms, key, value, origin from {table} where number > %s order by number limit %s
"""


@dataclass(frozen=True, eq=False)
class PostgresStore:
    """A PostgreSQL database by its URL; nothing is opened before the first question."""

    url: str

    def __post_init__(self) -> None:
        _check_url(self.url)

    @property
    def outputs(self) -> Literal["exactly-once", "at-least-once"]:
        """An output that is written again is turned away."""
        return "exactly-once"

    @property
    def shown(self) -> str:
        """The URL without its user and password."""
        return without_password(self.url)

    def check(self) -> None:
        """Return when the database lets us make a table, or raise a LogError within five seconds or so."""
        probe = f"streamgauge-probe-{uuid.uuid4().hex[:12]}"
        self.make(probe)
        self.delete([probe])

    def make(self, place: str) -> None:
        """Make an empty table with the view of its latest rows; what had its name is dropped."""
        with self._asking() as connection:
            _drop(connection, place)
            for statement in CREATE.split(";"):
                connection.execute(_named(statement, place))

    def count(self, place: str) -> int:
        """How many rows are there; none where the table is not."""
        with self._asking() as connection:
            if connection.execute("select to_regclass(%s)", [quoted(table_name(place))]).fetchone()[0] is None:
                return 0
            return int(connection.execute(_named("select count(*) from {table}", place)).fetchone()[0])

    def write(self, place: str, rows: pa.RecordBatch, hashed: bool = False, text_column: str | None = None) -> int:
        """Write rows (key, value, origin) in one transaction and give their number; what is there already stays.

        `hashed` and `text_column` are nothing to this store: the latest row of a key is in the view of its place.
        """
        keys, values, origins = (rows.column(name).to_pylist() for name in ("key", "value", "origin"))
        if not values:
            return 0
        with self._asking() as connection:
            connection.execute(INCOMING)
            with connection.cursor() as cursor:
                with cursor.copy(COPY) as copy:
                    for number, (key, value, origin) in enumerate(zip(keys, values, origins, strict=True)):
                        copy.write_row((number, identity(key, value, origin), key, value, origin))
                cursor.execute(_named(INSERT, place))
        return len(values)

    def read_records(self, place: str) -> Iterator[pa.RecordBatch]:
        """Every row that is there now, as `log.reading.read_records` gives a topic's: partition 0, in order."""
        first_offset, after = 0, -1
        if self.count(place) == 0:
            return
        while True:
            with self._asking() as connection:
                rows = connection.execute(_named(READ, place), [after, BATCH_RECORDS]).fetchall()
            if not rows:
                return
            yield self._batch(place, rows, first_offset)
            first_offset, after = first_offset + len(rows), rows[-1][0]

    def delete(self, places: Iterable[str]) -> None:
        """Drop the tables of these places and their views; one that does not exist is no error."""
        with self._asking() as connection:
            for place in places:
                _drop(connection, place)

    def _batch(self, place: str, rows: list[tuple[Any, ...]], first_offset: int) -> pa.RecordBatch:
        _, written, keys, values, origins = zip(*rows, strict=True)
        try:
            columns = origin_columns([(origin or "").encode() for origin in origins])
        except pa.ArrowInvalid as error:
            raise LogError(f"'{place}' at {self.shown} cannot be read back ({error})") from None
        arrays: list[pa.Array] = [
            pa.array(np.zeros(len(rows), np.int32)),
            pa.array(np.arange(first_offset, first_offset + len(rows), dtype=np.int64)),
            pa.array(written, pa.int64()),
            pa.array([None if key is None else key.encode() for key in keys], pa.binary()),
            pa.array([value.encode() for value in values], pa.binary()),
            *columns,
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=RECORDS_SCHEMA)

    @contextlib.contextmanager
    def _asking(self) -> Iterator[Any]:
        """A transaction, with the server's refusals and its silence as LogErrors of one line."""
        client = _client()
        try:
            with client.connect(self.url, connect_timeout=_CONNECT_S) as connection:
                yield connection
        except (client.errors.InvalidPassword, client.errors.InvalidAuthorizationSpecification) as error:
            raise LogError(
                f"PostgreSQL at {self.shown} does not know the user ({_first_line(error)})", "Check user and password"
            ) from None
        except client.OperationalError as error:
            raise LogError(
                f"no PostgreSQL answers at {self.shown} ({_first_line(error)})",
                "Check the address, the user and that the server runs",
            ) from None
        except client.Error as error:
            raise LogError(
                f"PostgreSQL at {self.shown} refuses ({_first_line(error)})",
                "The user must be allowed to make tables in the database",
            ) from None


def table_name(place: str) -> str:
    """The name of a place's table: its own, or what fits of it with a part that no other has."""
    if len(place.encode()) <= _LONGEST_NAME:
        return place
    ending = hashlib.sha256(place.encode()).hexdigest()[:12]
    return f"{place.encode()[: _LONGEST_NAME - 13].decode(errors='ignore')}-{ending}"


def quoted(name: str) -> str:
    """A name as an SQL identifier, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'


def _named(statement: str, place: str) -> Any:
    """A statement on the table of a place; the names are quoted by the client."""
    from psycopg import sql

    names = {"table": sql.Identifier(table_name(place)), "latest": sql.Identifier(table_name(place) + LATEST)}
    return sql.SQL(statement).format(**{name: names[name] for name in names if f"{{{name}}}" in statement})


def _drop(connection: Any, place: str) -> None:
    connection.execute(_named("drop view if exists {latest}", place))
    connection.execute(_named("drop table if exists {table}", place))


@functools.cache
def _client() -> Any:
    try:
        import psycopg
    except ImportError:
        raise UserError(
            "results cannot be written to PostgreSQL: psycopg is not installed", "Install psycopg"
        ) from None
    return psycopg


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in SCHEMES and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        raise UserError("the URL of the sink has a port that is no number", _WAY_OUT) from None
    if not usable:
        raise UserError(f"'{parts.scheme or url}' is no PostgreSQL", _WAY_OUT)
    if not parts.path.strip("/"):
        raise UserError("the URL of the sink names no database", _WAY_OUT)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
