"""A bucket's state as a table of rows: the columns of a frame, written as Arrow's stream of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd


def state_of_rows(rows: pd.DataFrame) -> bytes:
    """The rows as a state for `in_batches`."""
    table = pa.Table.from_pandas(rows, preserve_index=False).replace_schema_metadata()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def rows_of_state(state: bytes | None) -> pd.DataFrame | None:
    """The rows that `state_of_rows` was given, in their order; None before the first batch."""
    return None if state is None else pa.ipc.open_stream(state).read_pandas()
