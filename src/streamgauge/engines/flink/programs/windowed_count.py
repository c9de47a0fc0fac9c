"""Windowed count: clicks per site and window, told whenever a count grows.

A window of Flink's own answers when it closes; here its start is a plain key of the group, so that every click answers.
"""

from __future__ import annotations

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.program import Program, Result
from streamgauge.engines.flink.wire import epoch_ms


def clicks() -> Result:
    """The site and the time of each click."""
    return Result(
        f"SELECT click_url AS site, query_time, {origin.text()} AS origin FROM searches WHERE click_url IS NOT NULL"
    )


def count(*, window_s: int) -> Result:
    """The running count per site and window."""
    clicked = (
        f"SELECT click_url AS site, {epoch_ms('query_time')} AS at_ms, {origin.PLACE}"
        " FROM searches WHERE click_url IS NOT NULL"
    )
    placed = (
        f"SELECT site, TO_TIMESTAMP_LTZ(at_ms - MOD(at_ms, {window_s * 1000}), 3) AS window_start, {origin.PLACE}"
        f" FROM ({clicked})"
    )
    return Result(
        f"SELECT site, window_start, COUNT(*) AS clicks, {origin.LATEST} FROM ({placed}) GROUP BY site, window_start",
        updates=True,
    )


PROGRAM = Program("windowed-count", {"clicks": clicks, "count": count})
