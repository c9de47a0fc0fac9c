"""What a scheduler saw and decided, kept while it runs: ticks in memory, decisions also as lines of a file."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from streamgauge.paradigms.decisions import Decision
from streamgauge.paradigms.ticks import Tick, ticks_table

MOST_TICKS = 400_000
"""About three hours of one segment; then every other tick is thrown away."""


class Keeper:
    """Takes ticks and decisions from the scheduler's thread; read by any."""

    def __init__(self, decisions: Path | None = None) -> None:
        self._file = None if decisions is None else decisions.open("a", buffering=1, encoding="utf-8")
        self._lock = threading.Lock()
        self._ticks: list[Tick] = []
        self._new: list[Decision] = []
        self.decided = 0

    def tick(self, tick: Tick) -> None:
        """Keep what was seen."""
        self._ticks.append(tick)
        if len(self._ticks) > MOST_TICKS:
            self._ticks = self._ticks[::2]

    def decide(self, decision: Decision) -> None:
        """Keep what was decided, at once on disk: a driver that is killed leaves its reasons."""
        with self._lock:
            self._new.append(decision)
            self.decided += 1
        if self._file is not None:
            self._file.write(json.dumps(decision.as_dict(), ensure_ascii=False) + "\n")

    def new_decisions(self) -> list[dict[str, Any]]:
        """Those that were not told before, each with its words."""
        with self._lock:
            found, self._new = self._new, []
        return [{**each.as_dict(), "words": each.words} for each in found]

    def write_ticks(self, path: Path) -> None:
        """Write the ticks as a table."""
        import pyarrow.parquet as pq

        pq.write_table(ticks_table(self._ticks), path)

    def close(self) -> None:
        """Close the file of decisions."""
        if self._file is not None:
            self._file.close()
