"""What a scheduler saw, decided and had carried out, on disk while it runs: a driver that is killed leaves it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from streamgauge.paradigms.decisions import Decision
from streamgauge.paradigms.ticks import SCHEMA, Tick, ticks_table

MOST_TICKS = 400_000
"""Of more than these, about eleven hours of one segment, every nth is read."""
TICKS_AT_ONCE = 20
"""So many are written together: two seconds of one segment are lost with a driver."""


@dataclass(frozen=True)
class KeptFiles:
    """The files of one job; where one is None that part is not kept."""

    decisions: Path | None = None
    switches: Path | None = None
    ticks: Path | None = None

    @staticmethod
    def beside(status: Path) -> KeptFiles:
        """Files of a job's own beside its status file."""
        return KeptFiles(*(status.with_name(f"{what}-{status.stem}") for what in ("decisions", "switches", "ticks")))

    def as_dict(self) -> dict[str, str]:
        """Part → file, as plain JSON values."""
        return {name: str(path) for name, path in vars(self).items() if path is not None}

    @staticmethod
    def from_dict(values: Mapping[str, str]) -> KeptFiles:
        """The inverse of `as_dict`."""
        return KeptFiles(**{name: Path(path) for name, path in values.items()})


class Keeper:
    """Takes ticks, decisions and switches from the threads that make them; read by any."""

    def __init__(self, files: KeptFiles) -> None:
        self._decisions, self._switches = _lines(files.decisions), _lines(files.switches)
        self._ticks_file = None if files.ticks is None else files.ticks.open("wb", buffering=0)
        self._stream = None if self._ticks_file is None else pa.ipc.new_stream(self._ticks_file, SCHEMA)
        self._lock = threading.Lock()
        self._ticks: list[Tick] = []
        self._new: list[Decision] = []
        self.decided = 0

    def tick(self, tick: Tick) -> None:
        """Keep what was seen."""
        with self._lock:
            self._ticks.append(tick)
            if len(self._ticks) >= TICKS_AT_ONCE:
                self._write_ticks()

    def decide(self, decision: Decision) -> None:
        """Keep what was decided."""
        with self._lock:
            self._new.append(decision)
            self.decided += 1
            _write_line(self._decisions, decision.as_dict())

    def switch(self, step: Mapping[str, Any]) -> None:
        """Keep a step of a switch: `what` is `began`, when the old query is told to stop, or `done`."""
        with self._lock:
            _write_line(self._switches, step)

    def new_decisions(self) -> list[dict[str, Any]]:
        """Those that were not told before, each with its words."""
        with self._lock:
            found, self._new = self._new, []
        return [{**each.as_dict(), "words": each.words} for each in found]

    def close(self) -> None:
        """Write what is left and close the files."""
        with self._lock:
            self._write_ticks()
            if self._stream is not None:
                self._stream.close()
            for file in (self._decisions, self._switches, self._ticks_file):
                if file is not None:
                    file.close()
            self._decisions = self._switches = self._ticks_file = self._stream = None

    def _write_ticks(self) -> None:
        if self._stream is not None and self._ticks:
            self._stream.write_table(ticks_table(self._ticks))
        self._ticks = []


def _lines(path: Path | None) -> IO[str] | None:
    return None if path is None else path.open("a", buffering=1, encoding="utf-8")


def _write_line(file: IO[str] | None, values: Mapping[str, Any]) -> None:
    if file is not None:
        file.write(json.dumps(values, ensure_ascii=False) + "\n")


@dataclass(frozen=True)
class Kept:
    """What one or several jobs left, in the order in which they ran."""

    ticks: pa.Table
    decisions: str
    """A JSON object to a line."""
    done: list[dict[str, Any]]
    """Switches that were carried out."""
    broken_off: list[dict[str, Any]]
    """Switches in the middle of which a job ended."""

    @property
    def facts(self) -> dict[str, Any]:
        """For a trial's record."""
        return {
            "decisions": self.decisions.count("\n"),
            "switches": len(self.done),
            "longest_gap_s": max((each["gap_s"] for each in self.done), default=None),
            "carried_out": self.done,
            "broken_off": self.broken_off,
        }


def read_kept(files: Iterable[KeptFiles]) -> Kept:
    """What jobs kept; of one that was killed up to where it wrote."""
    ticks: list[pa.RecordBatch] = []
    decisions: list[str] = []
    done: list[dict[str, Any]] = []
    broken_off: list[dict[str, Any]] = []
    for each in files:
        ticks += _read_ticks(each.ticks)
        decisions += _whole_lines(each.decisions)
        open_switches: dict[str, dict[str, Any]] = {}
        for line in _whole_lines(each.switches):
            step = json.loads(line)
            if step.pop("what") == "began":
                open_switches[step["segment"]] = step
            else:
                open_switches.pop(step["segment"], None)
                done.append(step)
        broken_off += open_switches.values()
    table = pa.Table.from_batches(ticks, SCHEMA)
    every = -(-len(table) // MOST_TICKS)
    thinned = table.take(pa.array(range(0, len(table), every))) if every > 1 else table
    return Kept(thinned, "".join(f"{line}\n" for line in decisions), done, broken_off)


def _whole_lines(path: Path | None) -> list[str]:
    if path is None or not path.exists():
        return []
    return path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]


def _read_ticks(path: Path | None) -> list[pa.RecordBatch]:
    found: list[pa.RecordBatch] = []
    if path is None or not path.exists():
        return found
    try:
        with pa.ipc.open_stream(path.read_bytes()) as reader:
            for batch in reader:
                found.append(batch)
    except (pa.ArrowInvalid, OSError):
        # A driver was killed while it wrote: what is whole is read.
        pass
    return found
