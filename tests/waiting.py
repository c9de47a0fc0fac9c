"""Waiting for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable


def becomes(true: Callable[[], bool], within_s: float = 15.0) -> bool:
    """Whether it is so before the time is up."""
    deadline = time.monotonic() + within_s
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
