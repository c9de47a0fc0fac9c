"""Projection: one field of every line, as its text."""

from __future__ import annotations

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.names import name
from streamgauge.engines.flink.program import Program, Result


def projection(*, field: str) -> Result:
    """The field's text as it stands on the wire, a missing one as the empty text."""
    text = (
        "DATE_FORMAT(query_time, 'yyyy-MM-dd HH:mm:ss')" if field == "query_time" else f"CAST({name(field)} AS STRING)"
    )
    return Result(f"SELECT COALESCE({text}, '') AS `value`, {origin.text()} AS origin FROM searches")


PROGRAM = Program("projection", {"projection": projection})
