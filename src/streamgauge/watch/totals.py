"""Many counters that only grow, seen as one total."""

from __future__ import annotations

from collections.abc import Hashable, Mapping


class GrowingTotal:
    """The growth of a changing set of counters: monotone, and a counter that vanishes keeps what it had."""

    def __init__(self) -> None:
        self.total: int | float = 0
        # Never forgotten: a counter that is missed in one reading must not count from zero when it is back.
        self._last: dict[Hashable, int | float] = {}

    def settle(self, readings: Mapping[Hashable, int | float]) -> None:
        """Take counters as they stand now as their zero."""
        self._last.update(readings)

    def grow(self, readings: Mapping[Hashable, int | float]) -> int | float:
        """Add what each counter grew by since its last reading (a new one: all of it) and return the total."""
        for key, value in readings.items():
            self.total += max(0, value - self._last.get(key, 0))
            self._last[key] = value
        return self.total
