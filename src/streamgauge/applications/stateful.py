"""Python state in whole batches: a few groups of keys, each with one state and one call per batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.model.origin import FIELDS

if TYPE_CHECKING:
    import pandas as pd

BUCKETS = 8
"""Groups of keys; more would cost a call each, fewer would leave cores idle."""
ORIGIN_COLUMNS = tuple(f"origin_{name}" for name in FIELDS)
_ORIGIN_TYPES = "origin_append_ms bigint, origin_partition int, origin_offset bigint, origin_ordinal int"
_BUCKET = "bucket of the key"

Step = Callable[[bytes | None, "pd.DataFrame"], tuple[bytes, "pd.DataFrame"]]
"""(state of the bucket, its rows of this batch) → (new state, rows to emit)."""


def in_batches(rows: DataFrame, key: str, step: Step, emitted: str, buckets: int = BUCKETS) -> DataFrame:
    """What `step` makes of each bucket's rows, batch by batch; all rows of a key go to one bucket.

    `step` gets the rows sorted by partition, offset and ordinal, `origin` as the four columns ORIGIN_COLUMNS, which
    it hands on for each row that it emits; `emitted` names and types its other columns as DDL. The state is None at
    first. It is written anew with every batch: keep it small, and as arrays. Rows at rest are one batch.
    """
    from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

    flat = [fn.col("origin").getField(name).alias(column) for name, column in zip(FIELDS, ORIGIN_COLUMNS, strict=True)]
    plain = [name for name in rows.columns if name != "origin"]
    bucketed = rows.select(*plain, *flat, fn.pmod(fn.xxhash64(key), fn.lit(buckets)).alias(_BUCKET))

    def ordered(chunks: Iterable[pd.DataFrame]) -> pd.DataFrame:
        import pandas as pd

        batch = pd.concat(list(chunks), ignore_index=True)
        return batch.sort_values(list(ORIGIN_COLUMNS[1:]), kind="stable", ignore_index=True)

    def run(_: tuple[Any, ...], chunks: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        after, made = step(bytes(state.get[0]) if state.exists else None, ordered(chunks))
        state.update((after,))
        yield made

    grouped, columns = bucketed.groupBy(_BUCKET), f"{emitted}, {_ORIGIN_TYPES}"
    if rows.isStreaming:
        timeout = GroupStateTimeout.NoTimeout
        made = grouped.applyInPandasWithState(run, columns, "state binary", "update", timeout)
    else:
        made = grouped.applyInPandas(lambda batch: step(None, ordered([batch]))[1], columns)
    names = [name for name in made.columns if name not in ORIGIN_COLUMNS]
    origin = [fn.col(column).alias(name) for name, column in zip(FIELDS, ORIGIN_COLUMNS, strict=True)]
    return made.select(*names, fn.struct(*origin).alias("origin"))
