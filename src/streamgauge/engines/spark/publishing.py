"""Input written from the Spark place itself: every share of the partitions by a publisher inside a Python worker."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from streamgauge.load.publisher import Publisher
from streamgauge.load.specification import PublisherResult, PublisherSpec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def publish_from(session: SparkSession, shares: Sequence[PublisherSpec]) -> list[PublisherResult]:
    """Publish all shares, a task each, and tell how each went, in no order.

    A task that Spark tried twice would publish twice: an error is told in the result, and nothing is raised.
    """
    tasks = session.range(0, len(shares), 1, len(shares))
    rows = tasks.mapInArrow(_publishing([json.dumps(asdict(each)) for each in shares]), "result string").collect()
    return [PublisherResult.from_dict(json.loads(row.result)) for row in rows]


def _publishing(specs: list[str]) -> Callable[[Any], Iterator[pa.RecordBatch]]:
    def publish(batches: Any) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                result = Publisher(PublisherSpec.from_dict(json.loads(specs[number]))).run()
                yield pa.RecordBatch.from_arrays([pa.array([json.dumps(asdict(result))])], ["result"])

    return publish
