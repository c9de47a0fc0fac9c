"""Loads: when each event is due, one file per kind; and the publisher, a process of its own that keeps to them."""

from __future__ import annotations

import sys
from functools import cache

from streamgauge.model.errors import UserError, unknown
from streamgauge.model.load import Load, LoadKind
from streamgauge.model.registry import discover


@cache
def load_kinds() -> dict[str, LoadKind]:
    """Every kind of load by its name."""
    return discover(sys.modules[__name__], "LOAD")


def parse_load(text: str) -> Load:
    """The load that a spelling such as `constant:500/s` means, or a UserError that shows the right spelling."""
    name, _, rest = text.strip().partition(":")
    kinds = load_kinds()
    if name not in kinds:
        raise unknown("load", name, list(kinds))
    try:
        return kinds[name].parse(rest)
    except UserError as error:
        raise UserError(f"load '{text}': {error.cause}", f"Write it as {kinds[name].spelling}") from None
