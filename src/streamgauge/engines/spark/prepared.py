"""Queries of a segment that are ready to be started (DO5: prepare), so that a switch need not wait for a plan.

A plan is built in a moment when the machine is idle, and takes a second when a burst has filled it. What is built
stays: a query can be started from it as often as wanted.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from streamgauge.paradigms.paradigm import Paradigm

if TYPE_CHECKING:
    from pyspark.sql.streaming.readwriter import DataStreamWriter

FITS = (0.65, 1.6)
"""A query whose bound is within these multiples of the wanted one serves as well."""
KEPT = 6

_say = logging.getLogger("streamgauge.adaptive")


class Prepared:
    """Builds a segment's queries ahead, one at a time in the background, and hands them out."""

    def __init__(self, make: Callable[[Paradigm, int | None], DataStreamWriter]) -> None:
        self._make = make
        self._built: dict[tuple[Paradigm, int | None], DataStreamWriter] = {}
        self._building = threading.Lock()
        self._thread: threading.Thread | None = None

    def prepare(self, paradigm: Paradigm, bound: int | None) -> None:
        """Have such a query soon; nothing where one is ready or being built."""
        if self._fitting(paradigm, bound) is not None or (self._thread is not None and self._thread.is_alive()):
            return
        self._thread = threading.Thread(target=self._try, args=(paradigm, bound), name="prepare", daemon=True)
        self._thread.start()

    def take(self, paradigm: Paradigm, bound: int | None) -> DataStreamWriter:
        """Such a query: the one that is ready, or one that is built now."""
        ready = self._fitting(paradigm, bound)
        if ready is not None:
            return ready
        with self._building:
            # What the background was building while this waited may do.
            return self._fitting(paradigm, bound) or self._build(paradigm, bound)

    def _fitting(self, paradigm: Paradigm, bound: int | None) -> DataStreamWriter | None:
        for (of, limit), writer in list(self._built.items()):
            if of is not paradigm or (limit is None) != (bound is None):
                continue
            if limit is None or bound is None or FITS[0] * bound <= limit <= FITS[1] * bound:
                return writer
        return None

    def _build(self, paradigm: Paradigm, bound: int | None) -> DataStreamWriter:
        writer = self._make(paradigm, bound)
        while len(self._built) >= KEPT:
            del self._built[next(iter(self._built))]
        self._built[paradigm, bound] = writer
        return writer

    def _try(self, paradigm: Paradigm, bound: int | None) -> None:
        with self._building:
            try:
                if self._fitting(paradigm, bound) is None:
                    self._build(paradigm, bound)
            except Exception:
                # The switch itself will build it, and say why it cannot.
                _say.exception("a query of the %s could not be prepared", paradigm.value)
