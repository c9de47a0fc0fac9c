"""A background thread that acts at a steady interval until it is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Cadence:
    """Calls `act` at once and then every `interval_s`; a beat that comes late is not made up for."""

    def __init__(self, act: Callable[[], None], interval_s: float, name: str) -> None:
        if interval_s <= 0:
            raise ValueError(f"an interval must be above 0 s, not {interval_s}")
        self._act = act
        self._interval_s = interval_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.failure: Exception | None = None
        """What ended the thread early; None while all is well."""

    def start(self) -> None:
        """Begin; a cadence is started once."""
        self._thread.start()

    def stop(self, patience_s: float = 5.0) -> None:
        """Ask for the end and wait for the beat under way, at most `patience_s`; harmless when repeated."""
        self._ended.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(patience_s)

    def _run(self) -> None:
        due_s = time.monotonic()
        try:
            while not self._ended.wait(max(0.0, due_s - time.monotonic())):
                self._act()
                due_s = max(due_s + self._interval_s, time.monotonic())
        except Exception as failure:
            self.failure = failure
