"""Ad analytics: views per campaign and window, told whenever a count grows.

The campaigns are a table that is read once. Flink keeps both sides of the join as state: that of the stream for a
minute, in case a view comes before its campaign, that of the table for ever.
"""

from __future__ import annotations

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.program import Program, Result

VIEWS = "SELECT * FROM ad_events WHERE event_type = 'view'"
FIELDS = "user_id, page_id, ad_id, ad_type, event_type, event_time, ip_address"


def filter_views() -> Result:
    """The views, whole."""
    return Result(f"SELECT {FIELDS}, {origin.text()} AS origin FROM ({VIEWS})")


def project() -> Result:
    """The ad and the time."""
    return Result(f"SELECT ad_id, event_time, {origin.text()} AS origin FROM ({VIEWS})")


def _with_campaign(columns: str) -> str:
    """SQL: the views of ads that the table knows; `v` is the view and `c` its campaign."""
    hint = "/*+ STATE_TTL('v' = '1 min', 'c' = '0 s') */"
    return f"SELECT {hint} {columns} FROM ({VIEWS}) AS v JOIN campaigns AS c ON v.ad_id = c.ad_id"


def join_campaign() -> Result:
    """The ad's campaign in place of the ad."""
    return Result(_with_campaign(f"c.campaign_id, v.event_time, {origin.text('v.part_no', 'v')} AS origin"))


def count_views(*, window_s: int) -> Result:
    """The running count per campaign and window."""
    start = f"v.event_time - MOD(v.event_time, {window_s * 1000})"
    views = _with_campaign(f"c.campaign_id, {start} AS window_start_ms, v.{origin.PLACE}")
    return Result(
        f"SELECT campaign_id, window_start_ms, COUNT(*) AS `views`, {origin.LATEST}"
        f" FROM ({views}) GROUP BY campaign_id, window_start_ms",
        updates=True,
    )


PROGRAM = Program(
    "ad-analytics",
    {
        "filter_views": filter_views,
        "project": project,
        "join_campaign": join_campaign,
        "count_views": count_views,
    },
)
