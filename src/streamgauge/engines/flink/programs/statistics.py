"""Statistics: count, maximum, minimum, sum and average of a field so far."""

from __future__ import annotations

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.names import literal, name
from streamgauge.engines.flink.program import Program, Result


def extract(*, field: str) -> Result:
    """The field of each event that has it."""
    return Result(
        f"SELECT {_named(field)}, {name(field)} AS `value`, {origin.text()} AS origin"
        f" FROM flows WHERE {name(field)} IS NOT NULL"
    )


def summarise(*, field: str) -> Result:
    """The running figures; the sum is a double, since times in nanoseconds outgrow 64 bits."""
    values = f"SELECT {_named(field)}, {name(field)} AS v, {origin.PLACE} FROM flows WHERE {name(field)} IS NOT NULL"
    figures = (
        "COUNT(*) AS seen, MAX(v) AS maximum, MIN(v) AS minimum,"
        " SUM(CAST(v AS DOUBLE)) AS total, AVG(CAST(v AS DOUBLE)) AS average"
    )
    return Result(f"SELECT field, {figures}, {origin.LATEST} FROM ({values}) GROUP BY field", updates=True)


def _named(field: str) -> str:
    """The name of the field, no constant to the optimiser: a group without a key could not be updated."""
    return f"CASE WHEN in_partition >= 0 THEN {literal(field)} END AS field"


PROGRAM = Program("statistics", {"extract": extract, "summarise": summarise})
