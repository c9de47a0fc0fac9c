from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pyarrow as pa
import pytest
from confluent_kafka import Producer

from streamgauge.log import reading
from streamgauge.log.cluster import Cluster
from streamgauge.log.reading import RECORDS_SCHEMA, read_append_times, read_records
from streamgauge.model.errors import LogError
from streamgauge.model.origin import HEADER

pytestmark = pytest.mark.kafka


def _publish(cluster: Cluster, topic: str, records: list[dict]) -> None:
    producer = Producer(cluster.client_settings())
    for record in records:
        producer.produce(topic, **record)
    assert producer.flush(20) == 0


def _table(cluster: Cluster, topic: str, **options: object) -> pa.Table:
    batches = list(read_records(cluster, topic, **options))
    return pa.Table.from_batches(batches, RECORDS_SCHEMA).sort_by([("partition", "ascending"), ("offset", "ascending")])


def test_records_come_back_with_key_value_origin_and_the_logs_time(cluster: Cluster, topic: Callable[..., str]) -> None:
    name = topic(partitions=2)
    before_ms = time.time_ns() // 1_000_000
    _publish(
        cluster,
        name,
        [
            {"key": b"k", "value": b"\x00\xff", "partition": 1, "headers": [(HEADER, b"1763179200123,3,9876543210,2")]},
            {"value": b"plain", "partition": 0, "timestamp": 1000},
            {"key": b"k", "value": None, "partition": 1, "headers": [("other", b"1"), (HEADER, b"5,0,7,0")]},
            {"key": b"k", "value": b"v", "partition": 1, "headers": [("other", None)]},
        ],
    )
    after_ms = time.time_ns() // 1_000_000
    rows = _table(cluster, name).to_pylist()
    assert all(before_ms <= row.pop("append_ms") <= after_ms for row in rows)
    no_origin = dict.fromkeys(("origin_append_ms", "origin_partition", "origin_offset", "origin_ordinal"))
    assert rows == [
        {"partition": 0, "offset": 0, "key": None, "value": b"plain", **no_origin},
        {
            "partition": 1,
            "offset": 0,
            "key": b"k",
            "value": b"\x00\xff",
            "origin_append_ms": 1763179200123,
            "origin_partition": 3,
            "origin_offset": 9876543210,
            "origin_ordinal": 2,
        },
        {
            "partition": 1,
            "offset": 1,
            "key": b"k",
            "value": None,
            "origin_append_ms": 5,
            "origin_partition": 0,
            "origin_offset": 7,
            "origin_ordinal": 0,
        },
        {"partition": 1, "offset": 2, "key": b"k", "value": b"v", **no_origin},
    ]


def test_reading_stops_at_the_given_ends(cluster: Cluster, topic: Callable[..., str]) -> None:
    name = topic(partitions=3)
    _publish(cluster, name, [{"value": b"%d" % i, "partition": i % 2} for i in range(40)])
    kept = _table(cluster, name, ends={0: 7, 1: 20, 2: 0})
    assert kept["partition"].to_pylist() == [0] * 7 + [1] * 20
    assert kept["offset"].to_pylist() == [*range(7), *range(20)]


def test_an_empty_topic_reads_as_nothing(cluster: Cluster, topic: Callable[..., str]) -> None:
    name = topic(partitions=2)
    assert list(read_records(cluster, name)) == []
    times, read_back = read_append_times(cluster, name)
    assert (times.records, read_back.records, read_back.value_bytes, read_back.records_per_s) == (0, 0, 0, 0)


def test_append_times_are_ordered_and_counted(cluster: Cluster, topic: Callable[..., str]) -> None:
    name = topic(partitions=3)
    count = 25_000
    _publish(cluster, name, [{"value": b"12345", "partition": i % 3} for i in range(count)])
    times, read_back = read_append_times(cluster, name)
    assert {p: times.held(p) for p in range(3)} == cluster.end_offsets(name)
    whole = _table(cluster, name)
    for partition in range(3):
        of_it = whole.filter(pa.array(whole["partition"].to_numpy() == partition))
        assert times.at(partition, of_it["offset"].to_numpy()).tolist() == of_it["append_ms"].to_pylist()
    assert (read_back.records, read_back.value_bytes) == (count, count * 5)
    assert read_back.records_per_s > 0


def test_records_with_the_origin_alone_are_read_alike(cluster: Cluster, topic: Callable[..., str]) -> None:
    name = topic()
    origins = [b"1,0,7,0", b"2,0,8,1", None]
    _publish(cluster, name, [{"value": b"v", "headers": [(HEADER, origin)]} for origin in origins])
    assert _table(cluster, name)["origin_offset"].to_pylist() == [7, 8, None]


def test_garbage_is_collected_again_after_reading_and_after_leaving_off(
    cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic()
    _publish(cluster, name, [{"value": b"v"}])
    list(read_records(cluster, name))
    assert gc.isenabled()
    begun = read_records(cluster, name)
    next(begun)
    assert not gc.isenabled()
    begun.close()
    assert gc.isenabled()


def test_a_malformed_origin_is_loud(cluster: Cluster, topic: Callable[..., str]) -> None:
    name = topic()
    _publish(cluster, name, [{"value": b"", "headers": [(HEADER, b"1,2,three,4")]}])
    with pytest.raises(LogError, match="origin is malformed"):
        list(read_records(cluster, name))


def test_a_stall_before_the_end_is_an_error(
    cluster: Cluster, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "STALL_S", 0.5)
    name = topic()
    _publish(cluster, name, [{"value": b"only one"}])
    with pytest.raises(LogError, match="nothing came for"):
        list(read_records(cluster, name, ends={0: 2}))
