"""Waiting for what another thread or process does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_S = 30.0
"""Long: on a machine with other work everything comes late, and nothing that comes is waited for to the end."""

_Found = TypeVar("_Found")


def until(condition: Callable[[], _Found], within_s: float = PATIENCE_S) -> _Found:
    """What the condition gives as soon as it is true; a failure where it does not come to pass."""
    deadline = time.monotonic() + within_s
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)
    return found
