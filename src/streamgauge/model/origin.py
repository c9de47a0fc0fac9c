"""The origin of an output: the latest input that contributed, carried in one header of every output record."""

from __future__ import annotations

HEADER = "origin"
"""Name of the header. Its value is 24 bytes, big-endian: append_ms i64, partition i32, offset i64, ordinal i32."""

FIELDS = ("append_ms", "partition", "offset", "ordinal")
"""Fields of the `origin` column, in the order in which 'latest' compares them.

(partition, offset, ordinal) is the record id: ordinal tells apart the rows that one event was split into.
"""

NUMPY_LAYOUT = [("append_ms", ">i8"), ("partition", ">i4"), ("offset", ">i8"), ("ordinal", ">i4")]
"""The header's bytes as a NumPy structured type."""
