"""Results in PostgreSQL: every row is read back in order, what is written again is turned away, nothing stays."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.log.identity import identity
from streamgauge.log.postgres_store import PostgresStore, table_name
from streamgauge.log.reading import RECORDS_SCHEMA
from streamgauge.log.redis_store import RedisStore
from streamgauge.log.result_store import open_store
from streamgauge.model.errors import LogError, UserError


@pytest.fixture
def store(postgres_url: str) -> PostgresStore:
    """The session's database as a store."""
    return PostgresStore(postgres_url)


@pytest.fixture
def place(store: PostgresStore) -> Iterator[str]:
    """A place of this test alone."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    store.make(name)
    yield name
    store.delete([name])


@pytest.fixture
def database(postgres_url: str) -> Iterator[Any]:
    """A connection of the test's own."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_url, autocommit=True) as opened:
        yield opened


def _rows(rows: list[tuple[str | None, str, str | None]]) -> pa.RecordBatch:
    schema = pa.schema([("key", pa.string()), ("value", pa.string()), ("origin", pa.string())])
    return pa.RecordBatch.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)


ROWS = [("a", '{"seen":1}', "1700,1,42,0"), (None, "plain é\n\t\\", "1,0,0,0"), ("a", '{"seen":2}', "1701,0,7,3")]


def test_what_was_written_is_read_back_in_the_shape_of_a_topic(store: PostgresStore, place: str) -> None:
    before_ms = time.time_ns() // 1_000_000
    assert store.write(place, _rows(ROWS)) == 3
    after_ms = time.time_ns() // 1_000_000
    batches = list(store.read_records(place))
    assert [b.schema for b in batches] == [RECORDS_SCHEMA]
    found = batches[0].to_pylist()
    assert all(before_ms - 1 <= row.pop("append_ms") <= after_ms + 1 for row in found)
    assert [tuple(row.values()) for row in found] == [
        (0, 0, b"a", b'{"seen":1}', 1700, 1, 42, 0),
        (0, 1, None, "plain é\n\t\\".encode(), 1, 0, 0, 0),
        (0, 2, b"a", b'{"seen":2}', 1701, 0, 7, 3),
    ]


def test_what_is_written_again_is_turned_away_and_keeps_its_place_and_time(store: PostgresStore, place: str) -> None:
    store.write(place, _rows(ROWS))
    first = pa.Table.from_batches(store.read_records(place))
    store.write(place, _rows([*ROWS, ("b", "new", "1,0,9,0"), ("b", "new", "1,0,9,0")]))
    again = pa.Table.from_batches(store.read_records(place))
    assert store.count(place) == 4
    assert again.slice(0, 3).to_pylist() == first.to_pylist()
    assert again["value"].to_pylist()[3:] == [b"new"]


def test_many_rows_keep_their_order_over_batches_and_writes(store: PostgresStore, place: str) -> None:
    for start in (0, 12_345):
        store.write(place, _rows([("k", str(n), f"{n},0,{n},0") for n in range(start, start + 12_345)]))
    batches = list(store.read_records(place))
    assert len(batches) == 3
    table = pa.Table.from_batches(batches)
    assert table["offset"].to_pylist() == list(range(24_690))
    assert table["value"].to_pylist() == [str(n).encode() for n in range(24_690)]


def test_a_person_finds_the_latest_row_of_a_key(store: PostgresStore, place: str, database: Any) -> None:
    store.write(place, _rows(ROWS))
    rows = database.execute(f'select key, value from "{place}_latest"').fetchall()
    assert rows == [("a", '{"seen":2}')]


def test_a_place_is_made_empty_and_deleted_whole(store: PostgresStore, place: str, database: Any) -> None:
    store.write(place, _rows(ROWS))
    store.make(place)
    assert store.count(place) == 0 and list(store.read_records(place)) == []
    store.delete([place, "test-nowhere"])
    left = database.execute("select count(*) from pg_class where relname like %s", [f"{place}%"]).fetchone()
    assert left == (0,)
    assert store.count("test-nowhere") == 0 and list(store.read_records("test-nowhere")) == []


def test_names_are_never_cut_off_or_mistaken(store: PostgresStore) -> None:
    places = [f'test-"{"x" * 80}-{n}' for n in range(2)]
    for number, name in enumerate(places):
        store.make(name)
        store.write(name, _rows([("k", str(number), None)]))
    assert [store.count(name) for name in places] == [1, 1]
    store.delete(places)


def test_a_server_that_takes_results_says_so(store: PostgresStore, database: Any) -> None:
    store.check()
    assert database.execute("select count(*) from pg_class where relname like 'streamgauge-probe%'").fetchone() == (0,)


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(LogError, match=r"no PostgreSQL answers at postgresql://127\.0\.0\.1:1/db") as raised:
        PostgresStore("postgresql://me:secret@127.0.0.1:1/db").check()
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://localhost", "names no database"),
        ("postgresql:///results", "'postgresql' is no PostgreSQL"),
        ("postgresql://localhost:port/db", "a port that is no number"),
        ("mysql://localhost/db", "'mysql' is no PostgreSQL"),
    ],
)
def test_a_url_that_is_none_is_refused(url: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        PostgresStore(url)


def test_a_url_names_its_store() -> None:
    assert isinstance(open_store("postgres://localhost/db"), PostgresStore)
    assert isinstance(open_store("redis://localhost"), RedisStore)
    assert open_store("postgresql://localhost/db").outputs == "exactly-once"
    with pytest.raises(UserError, match="'mysql' is no store that results can be written to"):
        open_store("mysql://localhost/db")


_KEY = st.none() | st.text(max_size=4)
_ORIGIN = st.text(min_size=1, max_size=4)


@given(_KEY, st.text(max_size=4), _ORIGIN, _KEY, st.text(max_size=4), _ORIGIN)
def test_only_equal_outputs_have_the_same_identity(k1: Any, v1: str, o1: str, k2: Any, v2: str, o2: str) -> None:
    assert identity(k1, v1, o1) == identity(k1, v1, o1)
    assert (identity(k1, v1, o1) == identity(k2, v2, o2)) == ((k1, v1, o1) == (k2, v2, o2))


def test_outputs_without_an_origin_are_never_taken_for_repeats(store: PostgresStore, place: str) -> None:
    store.write(place, _rows([("a", "x", None)] * 3))
    assert store.count(place) == 3
    assert [row["origin_offset"] for row in next(store.read_records(place)).to_pylist()] == [None] * 3


@given(st.text(min_size=1, max_size=120), st.text(min_size=1, max_size=120))
def test_names_of_tables_fit_and_differ(one: str, other: str) -> None:
    assert len((table_name(one) + "_latest").encode()) <= 63
    assert (table_name(one) == table_name(other)) == (one == other)
