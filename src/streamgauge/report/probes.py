"""Probes of a search on a console: a line each as they come, and what the search found in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from streamgauge.report.tables import plain_table
from streamgauge.report.words import NOTHING, milliseconds, per_second

Outcome = Mapping[str, Any]
"""A probe as it is stored."""

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


def rates_table(probes: Sequence[Outcome]) -> Table:
    """Every rate that was probed, from the lowest up, with how often it held."""
    table = plain_table()
    for name in ("rate", "held", "p50", "p99", "drain", "job CPU"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("why not", overflow="fold")
    for rate in sorted({probe["rate_per_s"] for probe in probes}):
        mine = [probe for probe in probes if probe["rate_per_s"] == rate]
        held = [probe for probe in mine if probe["says"] == "holds"]
        cells = probe_cells(0, (held or mine)[-1])
        reasons = dict.fromkeys(reason for probe in mine for reason in probe["reasons"])
        table.add_row(
            cells[1], f"{len(held)} of {len(mine)}", cells[3], cells[4], cells[7], cells[8], "; ".join(reasons)
        )
    return table


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
