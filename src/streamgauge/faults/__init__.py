"""Faults: one file per verb; their spelling, their timeline, and the injector that acts on this run's own processes."""

from __future__ import annotations

import sys
from functools import cache

from streamgauge.model.fault import FaultVerb
from streamgauge.model.registry import discover


@cache
def fault_verbs() -> dict[str, FaultVerb]:
    """Every verb by its name."""
    return discover(sys.modules[__name__], "FAULT")
