"""A query's rows reach Redis batch by batch: all of them, in the order of their key, with their origin."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import redis
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamgauge.engines.spark.codec import encode_output
from streamgauge.engines.spark.store_sink import write_to_store
from streamgauge.log.redis_store import RedisStore
from streamgauge.model import Expected, LatestPerKey, Output, PerEvent, Text

COUNTS = Output("count", lambda events: Expected(None), LatestPerKey(("word", "day"), {"seen": "rises"}))
LINES = Output("lines", lambda events: Expected(None), PerEvent(("line",)), Text("line"))
PER_BATCH = 50

pytestmark = pytest.mark.spark


@pytest.fixture
def store(redis_url: str) -> RedisStore:
    """The session's Redis as a store."""
    return RedisStore(redis_url)


@pytest.fixture
def place(store: RedisStore) -> Iterator[str]:
    """A place of this test alone."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    yield name
    store.delete([name])


@pytest.fixture
def numbers(spark: Any, tmp_path: Path) -> DataFrame:
    """0 … 149 as a stream that is read in three batches, with an origin each."""
    folder = tmp_path / "numbers"
    for batch in range(3):
        rows = spark.range(batch * PER_BATCH, (batch + 1) * PER_BATCH, numPartitions=1)
        rows.write.mode("append").parquet(str(folder))
    files = spark.readStream.schema("id bigint").option("maxFilesPerTrigger", "1").parquet(str(folder))
    origin = F.struct(
        (F.col("id") + 1_000).alias("append_ms"),
        F.lit(0).alias("partition"),
        F.col("id").alias("offset"),
        F.lit(0).alias("ordinal"),
    )
    return files.select("id", origin.alias("origin"))


@pytest.fixture
def run(redis_url: str, tmp_path: Path, place: str) -> Callable[[DataFrame, Output], None]:
    """Runs a query on what there is, to its end."""

    def to_its_end(rows: DataFrame, output: Output) -> None:
        writer = write_to_store(encode_output(rows, output), output, redis_url, place)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).outputMode("update")
        writer.trigger(availableNow=True).start().awaitTermination()

    return to_its_end


def test_updates_of_a_key_stay_in_order_and_the_last_is_in_its_hash(
    numbers: DataFrame, store: RedisStore, place: str, run: Callable[[DataFrame, Output], None], redis_url: str
) -> None:
    words = numbers.select(F.concat(F.lit("w"), F.col("id") % 5).alias("word"), F.lit(7).alias("day"), "origin")
    counted = words.groupBy("word", "day").agg(F.count("*").alias("seen"), F.max("origin").alias("origin"))
    run(counted, COUNTS)
    table = pa.Table.from_batches(store.read_records(place)).to_pylist()
    of_w3 = [row for row in table if b'"w3"' in row["value"]]
    assert [row["value"] for row in of_w3] == [b'{"word":"w3","day":7,"seen":%d}' % n for n in (10, 20, 30)]
    assert [row["origin_offset"] - row["origin_append_ms"] for row in of_w3] == [-1_000] * 3
    assert {row["key"] for row in of_w3} == {b'{"word":"w3","day":7}'}
    assert len(table) == store.count(place) == 15
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        assert client.hget(f"{place}:w3:7", "seen") == "30"
        assert len(list(client.scan_iter(match=f"{place}:*"))) == 5


def test_rows_per_event_are_all_there_and_make_no_hashes(
    numbers: DataFrame, store: RedisStore, place: str, run: Callable[[DataFrame, Output], None], redis_url: str
) -> None:
    run(numbers.select(F.concat(F.lit("line "), "id").alias("line"), "origin"), LINES)
    table = pa.Table.from_batches(store.read_records(place))
    assert sorted(table["value"].to_pylist()) == sorted(f"line {n}".encode() for n in range(3 * PER_BATCH))
    assert sorted(table["origin_offset"].to_pylist()) == list(range(3 * PER_BATCH))
    assert set(table["key"].to_pylist()) == {None}
    with redis.Redis.from_url(redis_url) as client:
        assert not list(client.scan_iter(match=f"{place}:*"))


def test_a_query_ends_with_the_stores_own_words_when_redis_is_gone(numbers: DataFrame, tmp_path: Path) -> None:
    rows = numbers.select(F.col("id").cast("string").alias("line"), "origin")
    writer = write_to_store(encode_output(rows, LINES), LINES, "redis://127.0.0.1:1/0", "nowhere")
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    with pytest.raises(StreamingQueryException, match=r"no Redis answers at redis://127.0.0.1:1/0"):
        query.awaitTermination()
