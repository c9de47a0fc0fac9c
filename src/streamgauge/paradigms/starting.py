"""The start of a first query: what waits until it has got going says nothing of a speed, and little of a burst."""

from __future__ import annotations

STARTING_S = 5.0
"""A first query that has not caught up by then is slow, and not just starting."""
SHOWING_S = 1.0
"""One that has answered for so long has shown what it carries at least."""


class Starting:
    """Follows a first query until it is going: it has caught up, has shown what it carries, or has had its time."""

    def __init__(self) -> None:
        self.going = False
        """Whether what waits may be a burst."""
        self.caught_up = False
        """Whether what waits shows a speed: that of a query whose code is still being compiled would be too low."""
        self.at_least_per_s = 0.0
        """What it has worked off since its first answer."""
        self._began: tuple[float, float] | None = None
        self._shown: tuple[float, float] | None = None

    def look(self, at_s: float, answered: float, clear: bool) -> None:
        """Take the position at that moment; `clear` says that next to nothing waits."""
        if self.caught_up:
            return
        if self._began is None:
            self._began = (at_s, answered)
        began_s, before = self._began
        answers = answered > before
        self.caught_up = (answers and clear) or at_s - began_s >= STARTING_S
        if answers and self._shown is None:
            self._shown = (at_s, answered)
        elif self._shown is not None and at_s - self._shown[0] >= SHOWING_S:
            self.at_least_per_s = (answered - self._shown[1]) / (at_s - self._shown[0])
            self.going = True
        self.going = self.going or self.caught_up
