"""Trials laid over each other, whatever run or engine they are of: the charts of a section, a colour to each name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from streamgauge.measure.comparability import Side
from streamgauge.measure.validity import Record
from streamgauge.report import charts, drawing
from streamgauge.report.drawing import DrawnTrial, Figure, Section
from streamgauge.report.words import told_apart

MOST_NAMES = len(charts.PALETTE)
"""More lines than colours cannot be told apart."""
_ENTRY_PX = 20


def trial_names(records: Sequence[Record]) -> list[str]:
    """A short name for each trial of a run that tells it apart from the others."""
    several = [member for member in ("application", "load") if len({r[member] for r in records}) > 1]
    short = [_name(record, several) for record in records]
    full = [f"{name} · {detail}" if detail else name for name, detail in zip(short, told_apart(records), strict=True)]
    return [_told(record, short, full, at) for at, record in enumerate(records)]


def _name(record: Record, several: Sequence[str]) -> str:
    parts = [record["application"]] if "application" in several else []
    parts += [record["engine"], *([record["load"]] if "load" in several else [])]
    repeat = int((record.get("trial") or {}).get("repeat") or 1)
    return " · ".join([*parts, *([f"#{repeat}"] if repeat > 1 else [])])


def _told(record: Record, short: Sequence[str], full: Sequence[str], at: int) -> str:
    """The shortest of a trial's names that no other trial has."""
    for names in (short, full):
        if names.count(names[at]) == 1:
            return names[at]
    return f"{full[at]} (trial {record['number']})"


def overlay_figures(trials: Sequence[DrawnTrial]) -> list[Figure]:
    """The charts of a section with every trial under its name."""
    return named_figures(Section("", tuple(trials)), charts.name_colours(t.called for t in trials))


def named_figures(section: Section, colours: dict[str, str]) -> list[Figure]:
    """The charts of a section whose trials have names, which are longer than those of engines."""
    return [replace(each, figure=_legible(each.figure)) for each in drawing.section_figures(section, colours)]


def _legible(figure: dict[str, Any]) -> dict[str, Any]:
    """The chart with one entry for each colour in its legend, below the room that the lines keep.

    Its caption says what dots and dashes are.
    """
    known: set[str] = set()
    for each in figure["data"]:
        colour = each["line"]["color"]
        each["legendgroup"] = colour
        each["showlegend"] = colour not in known
        known.add(colour)
    figure["layout"]["height"] += _ENTRY_PX * max(0, len(known) - 2)
    return figure


def glance_figures(named: Sequence[tuple[str, Side]]) -> list[Figure]:
    """Latency and throughput of sides of a comparison, a row each, with intervals where there are repeats."""
    ranked = [(name, side.group) for name, side in named if side.group.ranked]
    if not ranked:
        return []
    colours = charts.name_colours(name for name, _ in named)
    latency = charts.overview_chart([drawing.reach(name, group, name) for name, group in ranked], colours, None)
    rates = charts.rate_chart([drawing.bar(name, group, name) for name, group in ranked], colours)
    return [
        Figure(
            "Latency at a glance",
            "Event latency: median (dot), p95 and p99 (rings), largest (tick), on a logarithmic axis.",
            latency,
        ),
        Figure("Throughput at a glance", "Events consumed per second, with the 95 % interval over repeats.", rates),
    ]
