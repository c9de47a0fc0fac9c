"""Thresholds: 'p99<500ms' as a value, and whether a trial's figures keep it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from streamgauge.measure.figures import Unit, get_figure
from streamgauge.model.errors import UserError
from streamgauge.model.units import parse_count, parse_duration_s, parse_rate_per_s, parse_size_bytes

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
_SHOWN: dict[Unit, str] = {
    **{"ms": " ms", "s": " s", "per_s": "/s", "mb_per_s": " MB/s", "%": " %"},
    **{"bytes": " bytes", "bytes_per_s": " bytes/s", "count": ""},
}
_EXAMPLES: dict[Unit, str] = {
    **{"ms": "500ms", "s": "2s", "per_s": "10k", "mb_per_s": "1.5", "%": "80%"},
    **{"bytes": "1.5GB", "bytes_per_s": "20MB", "count": "0"},
}


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
    unit = get_figure(figure, "figure in a threshold").unit
    return Threshold(text.strip(), figure, op, _parse_value(text, value, unit))


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
        if unit in ("bytes", "bytes_per_s"):
            return parse_size_bytes(value.removesuffix("/s"))
        return float(value.removesuffix("%") if unit == "%" else value)
    except (UserError, ValueError) as error:
        cause = error.cause if isinstance(error, UserError) else f"'{value}' is not a number"
        raise UserError(f"threshold '{text}': {cause}", f"Write the value like {_EXAMPLES[unit]}") from None


def check(threshold: Threshold, trial_record: Mapping[str, Any]) -> Outcome:
    """Whether the trial keeps the threshold; a figure that it does not have breaks it."""
    figure = get_figure(threshold.figure)
    value = figure.value(trial_record)
    if value is None:
        return Outcome(False, None, f"✗ {threshold.text}: {figure.why_missing(trial_record)}")
    ok = _OPERATORS[threshold.op](value, threshold.value)
    return Outcome(ok, value, f"{'✓' if ok else '✗'} {threshold.text}: {value:,.6g}{_SHOWN[figure.unit]}")
