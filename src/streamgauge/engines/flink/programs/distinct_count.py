"""Distinct count: how many different values a field has had so far."""

from __future__ import annotations

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.names import literal, name
from streamgauge.engines.flink.program import Program, Result


def size(*, field: str) -> Result:
    """The running size of the set of values, told when a value is new: the first row of each value is kept."""
    named = f"CASE WHEN in_partition >= 0 THEN {literal(field)} END AS field"
    first = (
        f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {name(field)} ORDER BY arrived ASC) AS nth"
        f" FROM searches WHERE {name(field)} IS NOT NULL"
    )
    return Result(
        # Named by a constant, the one group would have no key, and Flink no way to update it.
        f"SELECT field, COUNT(*) AS distinct_values, {origin.LATEST}"
        f" FROM (SELECT {named}, {origin.PLACE} FROM ({first}) WHERE nth = 1) GROUP BY field",
        updates=True,
    )


PROGRAM = Program("distinct-count", {"size": size})
