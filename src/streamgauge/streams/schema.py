"""The Arrow types of a stream's fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamgauge.model.wire import Field, FieldType

ARROW_TYPES: dict[FieldType, pa.DataType] = {
    FieldType.STRING: pa.string(),
    FieldType.LONG: pa.int64(),
    FieldType.DOUBLE: pa.float64(),
    FieldType.TIMESTAMP: pa.timestamp("s"),
}
"""A TIMESTAMP is whole seconds in UTC, without a zone in its type: that is all the wire carries."""


def arrow_schema(fields: Sequence[Field]) -> pa.Schema:
    """The schema of a block of events with these fields."""
    return pa.schema([pa.field(f.name, ARROW_TYPES[f.type]) for f in fields])


def column(values: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """The numbers as an Arrow array over the same memory, missing where they are not valid."""
    validity = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    numbers = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [validity, pa.py_buffer(numbers)])
