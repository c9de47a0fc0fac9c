"""Limits on changes: 'p99:+10%' as a value, and whether a comparison keeps it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamgauge.measure.comparison import Change
from streamgauge.measure.figures import Figure, get_figure
from streamgauge.measure.thresholds import Outcome
from streamgauge.model.errors import UserError


@dataclass(frozen=True)
class ChangeLimit:
    """By how many percent a figure may get worse."""

    text: str
    figure: Figure
    percent: float


def parse_change_limit(text: str) -> ChangeLimit:
    """'p99:+10%' for a figure of which less is better, 'events_per_s:-5%' for one of which more is."""
    found = re.fullmatch(r"\s*([\w.]+)\s*:\s*([+-]?)\s*(\d+(?:\.\d+)?)\s*%\s*", text)
    if not found:
        raise UserError(f"'{text}' is not a limit on a change", "Write it like p99:+10% or events_per_s:-5%")
    name, sign, percent = found.groups()
    figure = comparable_figure(name, "figure in a limit")
    worse = "+" if figure.better == "less" else "-"
    if sign not in ("", worse):
        raise UserError(
            f"'{text}': {figure.better} is better for {name}, so this would be a limit on a gain",
            f"Write {name}:{worse}{percent}%",
        )
    return ChangeLimit(text.strip(), figure, float(percent))


def comparable_figure(name: str, kind: str = "figure") -> Figure:
    """The figure of that name, if less or more of it is a gain."""
    figure = get_figure(name, kind)
    if figure.better is None:
        raise UserError(
            f"{name} is a count of the verdict and has no change in percent",
            f"Use a threshold of the run instead: --threshold '{name}==0'",
        )
    return figure


def check_change(limit: ChangeLimit, change: Change) -> Outcome:
    """Whether the limit holds: broken by a worse figure whose difference is shown, and by a figure that is missing."""
    worse = change.worse_percent
    if worse is None or change.percent is None:
        return Outcome(False, None, f"✗ {limit.text}: {change.note}")
    ok = not (change.verdict == "worse" and worse > limit.percent)
    shown = f"{change.percent:+,.1f} %"
    words = change.word + (f" ({change.note})" if change.note else "")
    return Outcome(ok, change.percent, f"{'✓' if ok else '✗'} {limit.text}: {shown}, {words}")
