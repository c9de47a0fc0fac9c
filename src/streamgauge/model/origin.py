"""The origin of an output: the latest input that contributed, carried in one header of every output record."""

from __future__ import annotations

HEADER = "origin"
"""Name of the header. Its value is the four fields as decimal text with commas: `1763179200123,0,4711,0`."""

FIELDS = ("append_ms", "partition", "offset", "ordinal")
"""Fields of the `origin` column. Of two inputs the later is the one with the later append time, then the larger offset.

(partition, offset, ordinal) is the record id: ordinal tells apart the rows that one event was split into.
With several inputs, partitions are numbered on over all of them, so that (partition, offset) names one event.
"""
