"""Stored join: the category and popularity of each clicked site; the directory is read once and kept as state."""

from __future__ import annotations

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.program import Program, Result


def clicks() -> Result:
    """Who clicked on which site."""
    return Result(
        f"SELECT user_id, click_url AS site, {origin.text()} AS origin FROM searches WHERE click_url IS NOT NULL"
    )


def enrich() -> Result:
    """Each click on a listed site with what the directory says; a click waits up to a minute for the directory."""
    clicked = "SELECT * FROM searches WHERE click_url IS NOT NULL"
    return Result(
        "SELECT /*+ STATE_TTL('v' = '1 min', 'd' = '0 s') */"
        f" v.user_id, d.site, d.category, d.popularity, {origin.text('v.part_no', 'v')} AS origin"
        f" FROM ({clicked}) AS v JOIN sites AS d ON v.click_url = d.site"
    )


PROGRAM = Program("stored-join", {"clicks": clicks, "enrich": enrich})
