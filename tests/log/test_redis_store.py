"""Results in Redis: every row is read back in order, the latest of each key is there for a person, nothing stays."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
import redis

from streamgauge.log.reading import RECORDS_SCHEMA
from streamgauge.log.redis_store import RedisStore, hash_name
from streamgauge.model.errors import LogError, UserError


@pytest.fixture
def store(redis_url: str) -> RedisStore:
    """The session's Redis as a store."""
    return RedisStore(redis_url)


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    """A client of the test's own, with texts for bytes."""
    with redis.Redis.from_url(redis_url, decode_responses=True) as opened:
        yield opened


@pytest.fixture
def place(store: RedisStore) -> Iterator[str]:
    """A place of this test alone."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    yield name
    store.delete([name])


def _rows(rows: list[tuple[str | None, str, str | None]]) -> pa.RecordBatch:
    schema = pa.schema([("key", pa.string()), ("value", pa.string()), ("origin", pa.string())])
    return pa.RecordBatch.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)


def test_what_was_written_is_read_back_in_the_shape_of_a_topic(store: RedisStore, place: str) -> None:
    before_ms = time.time_ns() // 1_000_000
    rows = [("a", '{"seen":1}', "1700,1,42,0"), (None, "plain é", None), ("a", '{"seen":2}', "1701,0,7,3")]
    assert store.write(place, _rows(rows)) == 3
    after_ms = time.time_ns() // 1_000_000
    batches = list(store.read_records(place))
    assert [b.schema for b in batches] == [RECORDS_SCHEMA]
    found = batches[0].to_pylist()
    assert all(before_ms <= row.pop("append_ms") <= after_ms for row in found)
    assert [tuple(row.values()) for row in found] == [
        (0, 0, b"a", b'{"seen":1}', 1700, 1, 42, 0),
        (0, 1, None, "plain é".encode(), None, None, None, None),
        (0, 2, b"a", b'{"seen":2}', 1701, 0, 7, 3),
    ]


def test_what_is_written_again_is_turned_away_and_its_hash_stays(store: RedisStore, place: str, client: Any) -> None:
    rows = [("a", '{"seen":1}', "1,0,0,0"), ("a", '{"seen":2}', "2,0,1,0"), (None, "x", "2,0,9,0")]
    store.write(place, _rows(rows), hashed=True)
    first = pa.Table.from_batches(store.read_records(place))
    store.write(place, _rows([*rows[:1], ("b", '{"seen":7}', "3,0,2,0")]), hashed=True)
    again = pa.Table.from_batches(store.read_records(place))
    assert again.slice(0, 3).to_pylist() == first.to_pylist()
    assert again["value"].to_pylist()[3:] == [b'{"seen":7}']
    assert client.hget(f"{place}:a", "seen") == "2"


def test_many_rows_keep_their_order_over_batches_and_writes(store: RedisStore, place: str) -> None:
    for start in (0, 12_345):
        store.write(place, _rows([("k", str(n), f"{n},0,{n},0") for n in range(start, start + 12_345)]))
    assert store.count(place) == 24_690
    batches = list(store.read_records(place))
    assert len(batches) == 3
    table = pa.Table.from_batches(batches)
    assert table["offset"].to_pylist() == list(range(24_690))
    assert table["origin_offset"].to_pylist() == list(range(24_690))
    assert table["value"].to_pylist() == [str(n).encode() for n in range(24_690)]
    append_ms = table["append_ms"].to_pylist()
    assert append_ms == sorted(append_ms)


def test_a_place_that_nothing_was_written_to_is_empty(store: RedisStore) -> None:
    assert store.count("test-nowhere") == 0
    assert list(store.read_records("test-nowhere")) == []


def test_a_person_finds_the_latest_values_of_a_key(store: RedisStore, place: str, client: Any) -> None:
    several = '{"campaign_id":"a:b","window_start_ms":1000}'
    rows = [
        ("shoes", '{"campaign_id":"shoes","views":1,"share":0.5,"tags":["x","é"],"none":null}', "1,0,0,0"),
        ("shoes", '{"campaign_id":"shoes","views":2,"share":0.25,"tags":[],"none":null}', "2,0,1,0"),
        (several, '{"campaign_id":"a:b","window_start_ms":1000,"views":7}', "3,0,2,0"),
    ]
    store.write(place, _rows(rows), hashed=True)
    found = client.hgetall(f"{place}:shoes")
    assert abs(time.time() * 1000 - int(found.pop("time_updated"))) < 60_000
    assert found == {"campaign_id": "shoes", "views": "2", "share": "0.25", "tags": "[]", "none": ""}
    assert client.hget(f"{place}:a%3Ab:1000", "views") == "7"
    store.write(place, _rows([("word", "7", None)]), hashed=True, text_column="seen")
    assert client.hget(f"{place}:word", "seen") == "7"


def test_without_hashes_there_are_the_stream_and_what_was_written_alone(
    store: RedisStore, place: str, client: Any
) -> None:
    store.write(place, _rows([("a", "{}", "1,0,0,0")]))
    assert sorted(client.keys(f"{place}*")) == [place, f"{place}#written"]


def test_no_two_keys_share_a_hash() -> None:
    keys = ['{"a":"x:y","b":"z"}', '{"a":"x","b":"y:z"}', '{"a":"x%3Ay","b":"z"}', "{not json", "x:y:z"]
    names = [hash_name("p", key) for key in keys]
    assert names == ["p:x%3Ay:z", "p:x:y:z", "p:x%253Ay:z", "p:{not json", "p:x:y:z"]
    assert len(set(names[:4])) == 4


def test_deleting_takes_a_place_and_leaves_its_neighbours(store: RedisStore, client: Any) -> None:
    odd, like_it = "test-[ab]*", "test-aXX"
    for each in (odd, like_it):
        store.write(each, _rows([(f"k{n}", "{}", None) for n in range(2_500)]), hashed=True)
    store.delete([odd, "test-never"])
    assert client.exists(odd) == 0 and not list(client.scan_iter(match="test-\\[ab\\]\\*:*", count=1000))
    assert client.exists(like_it, f"{like_it}:k0", f"{like_it}:k2499") == 3
    store.delete([like_it])
    assert not list(client.scan_iter(match="test-aXX*", count=1000))


def test_the_check_leaves_nothing_behind(store: RedisStore, client: Any) -> None:
    before = client.dbsize()
    store.check()
    assert client.dbsize() == before


@pytest.mark.parametrize(
    "url", ["", "localhost:6379", "http://localhost", "redis://", "redis://host:port/0", "redis://host/db"]
)
def test_a_url_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(UserError, match="redis://localhost:6379/0") as raised:
        RedisStore(url)
    assert "\n" not in str(raised.value)


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(LogError, match=r"no Redis answers at redis://127.0.0.1:1/3") as raised:
        RedisStore("redis://someone:secret@127.0.0.1:1/3").check()
    assert "secret" not in str(raised.value) and "\n" not in str(raised.value)


def test_valkeys_spelling_is_understood(redis_url: str) -> None:
    store = RedisStore(redis_url.replace("redis://", "valkey://"))
    store.check()
    assert store.shown.startswith("valkey://127.0.0.1:")


def test_a_wrong_password_is_told(redis_url: str) -> None:
    with pytest.raises(LogError, match="does not know the user") as raised:
        RedisStore(redis_url.replace("redis://", "redis://nobody:secret@")).check()
    assert "secret" not in str(raised.value)


def test_a_server_without_memory_is_told(store: RedisStore, place: str, client: Any) -> None:
    client.config_set("maxmemory", "1")
    try:
        for attempt in (store.check, lambda: store.write(place, _rows([("a", "{}", None)]))):
            with pytest.raises(LogError, match=r"refuses .*memory") as raised:
                attempt()
            assert "\n" not in str(raised.value)
    finally:
        client.config_set("maxmemory", "0")


def test_rows_that_vanish_while_they_are_read_are_told(store: RedisStore, place: str, client: Any) -> None:
    store.write(place, _rows([(None, "x", None)] * 15_000))
    reading = store.read_records(place)
    assert len(next(reading)) == 10_000
    client.xtrim(place, maxlen=0, approximate=False)
    with pytest.raises(LogError, match="5000 rows of"):
        next(reading)
