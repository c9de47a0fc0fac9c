"""Spellings of durations, rates and sizes, parsed and printed in one place."""

from __future__ import annotations

import re
from decimal import Decimal

from streamgauge.model.errors import UserError

_DURATION = {"ms": 0.001, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PER = {"s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
_SCALE = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
_SIZE = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
_NUMBER = r"(\d[\d_]*(?:\.\d+)?)"


def parse_duration_s(text: str) -> float:
    """'30s', '175ms', '5min' or '2h' in seconds."""
    found = re.fullmatch(rf"\s*{_NUMBER}\s*(ms|s|min|m|h|d)\s*", text)
    if not found:
        raise UserError(f"'{text}' is not a duration", "Write it like 30s, 175ms, 5min or 2h")
    return float(found[1].replace("_", "")) * _DURATION[found[2]]


def parse_rate_per_s(text: str) -> float:
    """'500/s', '20k/s' or '1M/min' in events per second."""
    found = re.fullmatch(rf"\s*{_NUMBER}\s*([kMG]?)\s*/\s*(s|min|m|h)\s*", text)
    if not found:
        raise UserError(f"'{text}' is not a rate", "Write it like 500/s, 20k/s or 1M/min")
    return float(found[1].replace("_", "")) * _SCALE[found[2]] / _PER[found[3]]


def parse_count(text: str) -> int:
    """'3000000', '3_000_000', '3M' or '50k' as a whole number."""
    found = re.fullmatch(rf"\s*{_NUMBER}\s*([kMG]?)\s*", text)
    if not found:
        raise UserError(f"'{text}' is not a number of events", "Write it like 50000, 50k or 3M")
    value = Decimal(found[1].replace("_", "")) * Decimal(_SCALE[found[2]])
    if value != int(value):
        raise UserError(f"'{text}' is not a whole number of events", "Write it like 50000, 50k or 3M")
    return int(value)


def parse_size_bytes(text: str) -> float:
    """'900MB', '1.5GiB' or '4096' in bytes."""
    found = re.fullmatch(rf"\s*{_NUMBER}\s*({'|'.join(_SIZE)})?\s*", text)
    if not found:
        raise UserError(f"'{text}' is not a size", "Write it like 900MB or 1.5GiB")
    return float(found[1].replace("_", "")) * _SIZE[found[2] or "B"]


def duration(seconds: float) -> str:
    """Seconds as a short text: 175 ms, 12.3 s, 2 min 5 s."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def size(count_bytes: float) -> str:
    """Bytes as a short text in powers of 1024."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count_bytes) < 1024:
            return f"{count_bytes:.0f} {unit}" if unit == "B" else f"{count_bytes:.1f} {unit}"
        count_bytes /= 1024
    return f"{count_bytes:.1f} TiB"


def rate(per_s: float) -> str:
    """Events per second as a short text with thousands separated."""
    return f"{per_s:,.0f}/s" if per_s >= 10 else f"{per_s:.3g}/s"
