"""Carrying the origin through a query: as text where a row stems from one event, as one number where from several.

The number is the event's place in the order of origins (append time, then offset, then partition), so that its maximum
is the latest. Flink has no maximum of rows and no `max_by`. Limits of its 63 bits: 37 hours of append times around the
first start of the job, 536,870,912 offsets of a partition, 128 partitions over all inputs.
"""

from __future__ import annotations

from streamgauge.engines.flink.names import divided

ORDINAL_STRIDE = 10_000
"""Rows that one row may be split into at a time, as on Spark."""

PARTITION_BITS = 7
OFFSET_BITS = 29
TIME_BITS = 27
MOST_PARTITIONS = 1 << PARTITION_BITS
_PLACES = 1 << (PARTITION_BITS + OFFSET_BITS)

PLACE = "place_in_order"
"""Column of every view of an input: the event's place as a number."""
LATEST = f"MAX({PLACE}) AS latest"
"""The aggregate that gives a group the origin of its latest input."""
COMMA = ", ',', "
"""Stands between the arguments of CONCAT, of which one is a comma."""


def first_ms(start_ms: int) -> int:
    """The earliest append time that a place can tell of, for a job that was first started at that time."""
    return start_ms - (1 << (TIME_BITS - 1))


def place(since_ms: int) -> str:
    """SQL: the place of an event in the order, from the columns of its view."""
    return f"((append_ms - {since_ms}) * {_PLACES} + in_offset * {MOST_PARTITIONS} + in_partition)"


def text(ordinal: str = "part_no", of: str = "") -> str:
    """SQL: the origin of a row that stems from one event; `of` is the alias of the view that the event is in."""
    table = f"{of}." if of else ""
    return _joined(f"{table}append_ms", f"{table}in_partition", f"{table}in_offset", ordinal)


def text_of_place(column: str, since_ms: int) -> str:
    """SQL: the origin that a place stands for; what is divided leaves no rest."""
    within = f"MOD({column}, {_PLACES})"
    partition = f"MOD({column}, {MOST_PARTITIONS})"
    return _joined(
        f"{divided(f'{column} - {within}', _PLACES)} + {since_ms}",
        partition,
        divided(f"{within} - {partition}", MOST_PARTITIONS),
        "0",
    )


def split_ordinal(position: str) -> str:
    """SQL: the ordinal of the row at a position, from 1, of the rows that a row was split into."""
    return f"(part_no * {ORDINAL_STRIDE} + {position} - 1)"


def _joined(*fields: str) -> str:
    texts = [f"CAST({field} AS STRING)" for field in fields]
    return f"CONCAT({COMMA.join(texts)})"
