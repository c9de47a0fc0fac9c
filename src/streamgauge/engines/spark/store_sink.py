"""Results to a store instead of a topic: each micro-batch is written by the tasks that hold its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamgauge.log.result_store import open_store
from streamgauge.model import LatestPerKey, Output, Text

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def write_to_store(records: DataFrame, output: Output, url: str, place: str) -> DataStreamWriter:
    """A writer, not yet started, of what `encode_output` made of the output's rows; `place` stands for a topic.

    A batch that is run again is written again: what becomes of it is the store's own word. A key's updates keep their
    order, since within a batch all rows of a key are in one task.
    """
    key = F.col("key") if "key" in records.columns else F.lit(None)
    origin = F.get(F.col("headers"), F.lit(0)).getField("value")
    texts = records.select(
        key.cast("string").alias("key"),
        F.col("value").cast("string").alias("value"),
        origin.cast("string").alias("origin"),
    )
    hashed = isinstance(output.matching, LatestPerKey)
    text_column = output.wire.column if isinstance(output.wire, Text) else None

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        store = open_store(url)
        for rows in batches:
            yield pa.RecordBatch.from_pydict({"written": [store.write(place, rows, hashed, text_column)]})

    def store_batch(batch: DataFrame, _: int) -> None:
        batch.mapInArrow(write, "written bigint").write.format("noop").mode("append").save()

    return texts.writeStream.foreachBatch(store_batch)
