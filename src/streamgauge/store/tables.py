"""Tables as DuckDB reads them: one bounded connection over Parquet files, Arrow tables and relations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from streamgauge.model.cores import available_cores

Table = Any
"""A DuckDB relation of the same connection, an Arrow table, a Parquet path, or several Parquet paths."""

MB_PER_CORE = 256
"""A few million events fill it on two cores, and what is more spills: memory is not to grow with the events."""


def connect(spill_folder: Path, memory: str | None = None) -> duckdb.DuckDBPyConnection:
    """A connection that keeps to `memory`, or to so much for each core, and spills what is larger into the folder."""
    spill_folder.mkdir(parents=True, exist_ok=True)
    cores = available_cores()
    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": cores,
        "memory_limit": memory or f"{cores * MB_PER_CORE}MB",
        "temp_directory": str(spill_folder),
        "preserve_insertion_order": False,
    }
    connection = duckdb.connect(":memory:", config=settings)
    connection.execute("set TimeZone = 'UTC'")
    return connection


def attach(connection: duckdb.DuckDBPyConnection, name: str, table: Table) -> None:
    """Make a table readable in SQL under that name, replacing what had the name."""
    detach(connection, name)
    if isinstance(table, duckdb.DuckDBPyRelation):
        table.create_view(name, replace=True)
    elif isinstance(table, str | Path):
        connection.read_parquet(str(table)).create_view(name, replace=True)
    elif isinstance(table, list | tuple):
        connection.read_parquet([str(path) for path in table]).create_view(name, replace=True)
    else:
        connection.register(name, table)


def detach(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Let go of an attached table, so that its memory can be freed."""
    connection.execute(f"drop view if exists {quoted(name)}")
    connection.unregister(name)


def column_types(connection: duckdb.DuckDBPyConnection, name: str) -> dict[str, str]:
    """The columns of a readable table with their DuckDB types."""
    found = connection.execute(f"describe select * from {quoted(name)}").fetchall()
    return {row[0]: row[1] for row in found}


def one_row(
    connection: duckdb.DuckDBPyConnection, query: str, params: Mapping[str, Any] | Sequence[Any] | None = None
) -> tuple[Any, ...]:
    """The only row of a query; all of it is fetched, since an unfinished result would block the connection."""
    (row,) = connection.execute(query, params).fetchall()
    return tuple(row)


def quoted(name: str) -> str:
    """A name as an SQL identifier, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """A text as an SQL literal, whatever its characters."""
    return "'" + text.replace("'", "''") + "'"


def columns(names: Iterable[str], table: str = "") -> str:
    """Names as a comma-separated list of SQL identifiers, each of the given table."""
    prefix = f"{table}." if table else ""
    return ", ".join(prefix + quoted(name) for name in names)
