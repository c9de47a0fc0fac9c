"""Literal events for stages (a Spark frame) and for oracles (DuckDB views), built apart from each other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import duckdb
import pytest
from pyspark.sql import DataFrame, SparkSession

Event = tuple[int, int, int, str]
"""partition, offset, append_ms, and the payload of aol-search with its five tab-separated fields."""

ORIGIN = "origin struct<append_ms: bigint, partition: int, offset: bigint, ordinal: int>"


class LiteralEvents:
    """What an oracle sees, over literal rows."""

    def __init__(self) -> None:
        self._connection = duckdb.connect()

    def add(self, name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
        """Create the view of one input from rows of (partition, offset, append_ms, raw, fields…)."""
        place = 'index bigint, partition int, "offset" bigint, append_ms bigint, raw varchar'
        self._connection.execute(f"create table {name} ({place}, {columns})")
        for index, row in enumerate(rows):
            marks = ", ".join("?" * (len(row) + 1))
            self._connection.execute(f"insert into {name} values ({marks})", [index, *row])

    def add_table(self, name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
        """Create a stored table from rows of its columns."""
        self._connection.execute(f"create table {name} ({columns})")
        for row in rows:
            self._connection.execute(f"insert into {name} values ({', '.join('?' * len(row))})", list(row))

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """A relation over the views."""
        return self._connection.sql(query)


@pytest.fixture
def search_frame(spark: SparkSession) -> Callable[[list[Event]], DataFrame]:
    """Events of aol-search as the frame that a stage is given; an empty field is null, as on the wire."""

    def build(events: list[Event]) -> DataFrame:
        rows = []
        for partition, offset, append_ms, raw in events:
            user, query, time, rank, url = raw.split("\t")
            instant = datetime.strptime(time + "+0000", "%Y-%m-%d %H:%M:%S%z") if time else None
            fields = (int(user) if user else None, query or None, instant, int(rank) if rank else None, url or None)
            rows.append((*fields, raw, (append_ms, partition, offset, 0)))
        columns = "user_id bigint, query string, query_time timestamp, item_rank bigint, click_url string, raw string"
        return spark.createDataFrame(rows, f"{columns}, {ORIGIN}")

    return build


@pytest.fixture
def search_events() -> Callable[[list[Event]], LiteralEvents]:
    """Events of aol-search as an oracle sees them, parsed by DuckDB."""

    def build(events: list[Event]) -> LiteralEvents:
        found = LiteralEvents()
        columns = "user_id bigint, query varchar, query_time timestamp, item_rank bigint, click_url varchar"
        rows = [
            (partition, offset, append_ms, raw, *(text or None for text in raw.split("\t")))
            for partition, offset, append_ms, raw in events
        ]
        found.add("searches", columns, rows)
        return found

    return build


@pytest.fixture
def literal_events() -> LiteralEvents:
    """An oracle's view with no input yet."""
    return LiteralEvents()


@pytest.fixture(scope="session")
def origin_type() -> str:
    """The type of the column `origin`, for frames that a test builds itself."""
    return ORIGIN


@pytest.fixture(scope="session")
def rows_of() -> Callable[..., list[tuple[Any, ...]]]:
    """Rows of a frame's or relation's named columns, sorted: origin as (append_ms, partition, offset, ordinal)."""

    def collect(table: Any, *columns: str) -> list[tuple[Any, ...]]:
        if isinstance(table, DataFrame):
            found = [tuple(row) for row in table.select(*columns).collect()]
        else:
            found = table.select(*columns).fetchall()
        plain = [tuple(tuple(v) if isinstance(v, tuple) else v for v in row) for row in found]
        return sorted(plain, key=repr)

    return collect
