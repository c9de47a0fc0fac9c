"""The parts of a load's spelling: parsed with what is allowed of them, printed so that they parse back exactly."""

from __future__ import annotations

import math

import numpy as np

from streamgauge.model.errors import UserError
from streamgauge.model.units import parse_duration_s, parse_rate_per_s


def parts_of(text: str, fewest: int, most: int) -> list[str]:
    """What stands between the colons, when there are as many parts as the kind of load takes."""
    parts = [part.strip() for part in text.split(":")] if text.strip() else []
    if not fewest <= len(parts) <= most:
        raise UserError(
            f"it has {len(parts)} parts after the kind, not {fewest if fewest == most else f'{fewest} to {most}'}"
        )
    return parts


def positive_rate_per_s(text: str) -> float:
    """A rate above zero."""
    rate_per_s = parse_rate_per_s(text)
    if not 0 < rate_per_s < math.inf:
        raise UserError(f"the rate '{text}' is not above zero")
    return rate_per_s


def positive_duration_s(text: str) -> float:
    """A duration above zero."""
    duration_s = parse_duration_s(text)
    if not 0 < duration_s < math.inf:
        raise UserError(f"the duration '{text}' is not above zero")
    return duration_s


def rate_text(rate_per_s: float) -> str:
    """A rate that parses back to the same number, by the minute where only that is a whole one."""
    per_min = round(rate_per_s * 60)
    by_minute = rate_per_s != int(rate_per_s) and per_min > 0 and per_min / 60.0 == rate_per_s
    return f"{per_min}/min" if by_minute else f"{_plain(rate_per_s)}/s"


def duration_text(duration_s: float) -> str:
    """A duration that parses back to the same number, in milliseconds where that is shorter."""
    in_ms = f"{_plain(round(duration_s * 1000, 6))}ms"
    return in_ms if duration_s < 1 and parse_duration_s(in_ms) == duration_s else f"{_plain(duration_s)}s"


def _plain(number: float) -> str:
    return str(np.format_float_positional(number, trim="-"))
