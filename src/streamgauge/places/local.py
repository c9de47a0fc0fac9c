"""This machine's threads as a place: `local`, or `local[N]` for N task slots."""

from __future__ import annotations

import os
import re

from streamgauge.model import Gap, Place, UserError

DEFAULT_SLOTS = 32
"""Task slots, not cores: a real-time query holds one slot per task for its whole life."""


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parse_place(spelling: str) -> Place:
    """The place that a spelling names."""
    if spelling == "local":
        return Place("local", available_cores(), 1, DEFAULT_SLOTS, f"local[{DEFAULT_SLOTS}]")
    found = re.fullmatch(r"local\[(\d+)\]", spelling)
    if found and int(found[1]) > 0:
        slots = int(found[1])
        return Place(spelling, min(slots, available_cores()), 1, slots, f"local[{slots}]")
    raise UserError(f"'{spelling}' is not a place", "Use local, or local[N] for N task slots")


def place_gap(spelling: str) -> Gap | None:
    """Why trials at a place that is known by name cannot be run, or None."""
    found = re.fullmatch(r"cluster:(\d+)", spelling)
    if found is None or int(found[1]) < 1:
        return None
    workers = "a worker" if found[1] == "1" else f"{found[1]} workers"
    return Gap("not-yet", f"the place {spelling}, an embedded cluster of {workers}, does not exist yet")
