"""Thresholds: 'p99<500ms' as a value, and whether a trial's figures keep it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from streamgauge.measure.quantiles import PERCENTILES
from streamgauge.model.errors import UserError, unknown
from streamgauge.model.units import parse_count, parse_duration_s, parse_rate_per_s

Unit = Literal["ms", "s", "per_s", "mb_per_s", "%", "count"]

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
_SHOWN = {"ms": " ms", "s": " s", "per_s": "/s", "mb_per_s": " MB/s", "%": " %", "count": ""}


def _known_figures() -> dict[str, tuple[tuple[str, ...], Unit]]:
    """Name of each figure with its path in the trial record and its unit."""
    figures: dict[str, tuple[tuple[str, ...], Unit]] = {}
    latencies = {
        "": ("latency_ms",),
        "event.": ("latency_ms",),
        "output.": ("output_latency_ms",),
        "due.": ("due_latency_ms",),
        "lateness.": ("publisher", "lateness_ms"),
    }
    for prefix, path in latencies.items():
        for name in ("mean", *PERCENTILES, "max"):
            figures[prefix + name] = ((*path, name), "ms")
    for name in ("events_per_s", "p5_events_per_s", "events_per_s_per_node"):
        figures[name] = (("throughput", name), "per_s")
    for name in ("mb_per_s", "mb_per_s_per_node"):
        figures[name] = (("throughput", name), "mb_per_s")
    for name in ("time_to_first_output", "drain"):
        figures[name] = (("throughput", f"{name}_s"), "s")
    figures["cpu"] = (("resources", "job", "cpu_share"), "%")
    for name in ("lost", "wrong", "unexpected", "duplicated", "out_of_order", "late", "rejected"):
        figures[name] = (("verdict", name), "count")
    return figures


FIGURES = _known_figures()


@dataclass(frozen=True)
class Threshold:
    """A limit on one figure; the value is in the figure's own unit."""

    text: str
    figure: str
    op: str
    value: float


@dataclass(frozen=True)
class Outcome:
    """Whether a threshold held, what was seen, and the line that says so."""

    ok: bool
    seen: float | None
    text: str

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain JSON values."""
        return {"ok": self.ok, "seen": self.seen, "text": self.text}


def parse_threshold(text: str) -> Threshold:
    """'p99<500ms', 'output.p95<=1s', 'events_per_s>=10k', 'cpu<80%' or 'lost==0'."""
    found = re.fullmatch(r"\s*([\w.]+)\s*(<=|>=|==|<|>)\s*(\S(?:.*\S)?)\s*", text)
    if not found:
        raise UserError(f"'{text}' is not a threshold", "Write it like p99<500ms, events_per_s>=10000 or lost==0")
    figure, op, value = found.groups()
    if figure not in FIGURES:
        raise unknown("figure in a threshold", figure, list(FIGURES))
    return Threshold(text.strip(), figure, op, _parse_value(text, value, FIGURES[figure][1]))


def _parse_value(text: str, value: str, unit: Unit) -> float:
    bare = re.fullmatch(r"\d+(\.\d+)?", value) is not None
    try:
        if unit == "ms":
            return float(value) if bare else parse_duration_s(value) * 1000
        if unit == "s":
            return float(value) if bare else parse_duration_s(value)
        if unit == "per_s":
            return parse_rate_per_s(value if "/" in value else f"{value}/s")
        if unit == "count":
            return float(parse_count(value))
        return float(value.removesuffix("%") if unit == "%" else value)
    except (UserError, ValueError) as error:
        example = {"ms": "500ms", "s": "2s", "per_s": "10k", "mb_per_s": "1.5", "%": "80%", "count": "0"}[unit]
        cause = error.cause if isinstance(error, UserError) else f"'{value}' is not a number"
        raise UserError(f"threshold '{text}': {cause}", f"Write the value like {example}") from None


def check(threshold: Threshold, trial_record: Mapping[str, Any]) -> Outcome:
    """Whether the trial keeps the threshold; a figure that it does not have breaks it."""
    path, unit = FIGURES[threshold.figure]
    seen: Any = trial_record
    for step in path:
        seen = seen.get(step) if isinstance(seen, Mapping) else None
    if seen is None:
        return Outcome(False, None, f"✗ {threshold.text}: {_why_missing(threshold, trial_record)}")
    value = float(seen) * (100 if unit == "%" else 1)
    ok = _OPERATORS[threshold.op](value, threshold.value)
    return Outcome(ok, value, f"{'✓' if ok else '✗'} {threshold.text}: {value:,.6g}{_SHOWN[unit]}")


def _why_missing(threshold: Threshold, trial_record: Mapping[str, Any]) -> str:
    path = FIGURES[threshold.figure][0]
    sample: Any = trial_record
    for step in path[:-1]:
        sample = sample.get(step) if isinstance(sample, Mapping) else None
    if isinstance(sample, Mapping) and sample.get("n"):
        return f"a sample of {sample['n']} does not carry {path[-1]}"
    return "the trial has no such figure"
