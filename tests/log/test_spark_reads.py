from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer

from streamgauge.log.cluster import Cluster
from streamgauge.model.origin import HEADER

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_spark_reaches_the_log_with_the_clusters_options(
    spark: Any, cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic(partitions=2)
    producer = Producer(cluster.client_settings())
    for index in range(3):
        producer.produce(name, b"v%d" % index, partition=index % 2, headers=[(HEADER, b"1,2,3,4")])
    assert producer.flush(10) == 0
    options = {**cluster.spark_options(), "subscribe": name, "includeHeaders": "true"}
    rows = spark.read.format("kafka").options(**options).load().collect()
    assert sorted(bytes(row.value) for row in rows) == [b"v0", b"v1", b"v2"]
    assert {row.timestampType for row in rows} == {1}, "LogAppendTime"
    assert {(h.key, bytes(h.value)) for row in rows for h in row.headers} == {(HEADER, b"1,2,3,4")}
