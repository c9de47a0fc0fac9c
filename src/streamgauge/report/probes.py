"""Probes of a search on a console: a line each as they come, and what the search found in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from streamgauge.report.tables import plain_table
from streamgauge.report.words import NOTHING, milliseconds, per_second

Outcome = Mapping[str, Any]
"""A probe as it is stored."""

MARKS = {"holds": "✓", "breaks": "✗", "nothing": "?"}
"""What a probe says, in a character."""
BAR_WIDTH = 24
WIDTHS = {
    **{"#": 3, "rate": 11, "says": 7, "p50": 9, "p99": 9, "latency rise": 12},
    **{"queue growth": 12, "drain": 8, "job CPU": 7},
}


def heading() -> str:
    """The line above the probes."""
    return "  ".join(name.rjust(width) for name, width in WIDTHS.items()) + "  why"


def probe_line(number: int, probe: Outcome) -> str:
    """One probe as an aligned line."""
    cells = zip(probe_cells(number, probe), WIDTHS.values(), strict=True)
    return "  ".join(cell.rjust(width) for cell, width in cells) + f"  {why(probe)}"


def probe_cells(number: int, probe: Outcome) -> list[str]:
    """The figures of a probe in words, under the headings."""
    figures = probe["figures"]
    return [
        str(number),
        per_second(probe["rate_per_s"]),
        probe["says"],
        milliseconds(figures.get("p50_ms")),
        milliseconds(figures.get("p99_ms")),
        _signed(figures.get("latency_rise_ms"), " ms"),
        _signed(figures.get("queue_rise"), ""),
        NOTHING if figures.get("drain_s") is None else f"{figures['drain_s']:.1f} s",
        NOTHING if figures.get("cpu_share") is None else f"{100 * figures['cpu_share']:.0f} %",
    ]


def why(probe: Outcome) -> str:
    """Why a probe breaks or says nothing, and what is only remarked."""
    return "; ".join([*probe["reasons"], *(f"({remark})" for remark in probe["remarks"])])


def _signed(value: float | None, unit: str) -> str:
    return NOTHING if value is None else f"{value:+,.0f}{unit}"


def rates_table(probes: Sequence[Outcome], edge_per_s: float | None = None) -> Table:
    """The chart of a search: every rate from the lowest up, what each probe said, and its median latency as a bar.

    Bars are by the logarithm of the median, from a millisecond to the largest; below the rate that was found is a line.
    """
    table = plain_table()
    for name in ("rate", "held", "p50"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("median latency", no_wrap=True)
    for name in ("p99", "latency rise", "queue growth", "drain", "job CPU"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("why not", overflow="fold")
    longest = max((_median_ms(probe) for probe in probes), default=1.0)
    for rate in sorted({probe["rate_per_s"] for probe in probes}):
        mine = [probe for probe in probes if probe["rate_per_s"] == rate]
        held = [probe for probe in mine if probe["says"] == "holds"]
        shown = (held or mine)[-1]
        cells = probe_cells(0, shown)
        marks = Text("".join(MARKS[probe["says"]] for probe in mine), "green" if held else "red")
        reasons = dict.fromkeys(reason for probe in mine for reason in probe["reasons"])
        bar = Text(_bar(_median_ms(shown), longest), "green" if held else "red")
        edge = ["← the highest that held"] if rate == edge_per_s else []
        words = "; ".join([*edge, *reasons])
        table.add_row(cells[1], marks, cells[3], bar, *cells[4:], words, end_section=bool(edge))
    return table


def _median_ms(probe: Outcome) -> float:
    return max(float(probe["figures"].get("p50_ms") or 1.0), 1.0)


def _bar(value_ms: float, longest_ms: float) -> str:
    share = math.log(value_ms) / math.log(longest_ms) if longest_ms > 1 else 0.0
    return "█" * max(1, round(BAR_WIDTH * share))


def found_words(search: Mapping[str, Any]) -> str:
    """What a search found, in one sentence."""
    who = f"{search['application']} on {search['engine']}"
    if search["rate_per_s"] is None:
        return f"{who} held {search['slo']} at no rate that was probed."
    mine = [probe for probe in search["probes"] if probe["rate_per_s"] == search["rate_per_s"]]
    held = sum(probe["says"] == "holds" for probe in mine)
    sure = "" if search["confirmed"] else ", not yet sure"
    above = "" if search["above_per_s"] is None else f" ({per_second(search['above_per_s'])})"
    return (
        f"{who} sustains {per_second(search['rate_per_s'])} with {search['slo']}{sure}: it held in {held} of "
        f"{len(mine)} probe{'' if len(mine) == 1 else 's'}; {search['why']}{above}."
    )
