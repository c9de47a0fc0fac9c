"""The list of runs as a page shows it: what was run, how its answers and thresholds came out, on which machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamgauge.measure.validity import Record, correct, measured
from streamgauge.model.units import size
from streamgauge.report.words import NOTHING, in_order
from streamgauge.store import ListedRun, Notes

_MOST_NAMES = 4
_UNBROKEN = "\u00a0"


@dataclass(frozen=True)
class Tally:
    """How many of something were well, and how many were not."""

    good: int = 0
    bad: int = 0

    @property
    def rank(self) -> int:
        """A number to sort by: what went wrong first."""
        return -1_000_000 * self.bad + self.good


@dataclass(frozen=True)
class RunRow:
    """A run in a row; where it cannot be read, `problem` says why and the rest is empty."""

    id: str
    problem: str = ""
    when: str = ""
    what: str = ""
    detail: str = ""
    status: str = ""
    stored: int = 0
    planned: int = 0
    answers: Tally = Tally()
    thresholds: Tally = Tally()
    gaps: int = 0
    failed: int = 0
    invalid: int = 0
    machine: str = ""
    notes: Notes = Notes()
    unread: int = 0
    """Trials whose record cannot be read."""

    @property
    def trials(self) -> str:
        """How many trials are stored, and of how many where some are missing."""
        return str(self.stored) if self.stored >= self.planned else f"{self.stored} of {self.planned}"

    @property
    def remarks(self) -> list[str]:
        """What else a reader should know of the trials, in a few words each."""
        counted = ((self.gaps, "gap"), (self.failed, "failed"), (self.invalid, "not valid"), (self.unread, "damaged"))
        return [f"{number} {_plural(number, word)}" for number, word in counted if number]

    @property
    def searched(self) -> str:
        """All that the filter looks at, in small letters."""
        words = [self.id, self.problem, self.when, self.what, self.detail, self.status, self.machine]
        return " ".join([*words, *self.notes.tags, self.notes.note, *self.remarks]).lower().replace(_UNBROKEN, " ")


def _plural(number: int, word: str) -> str:
    return f"{word}s" if word == "gap" and number > 1 else word


def run_row(listed: ListedRun, records: Sequence[Record], unread: int, notes: Notes) -> RunRow:
    """The row of one run, from its facts and the records of its trials."""
    if listed.problem is not None:
        return RunRow(listed.id, problem=listed.problem, notes=notes)
    run = listed.run
    what, detail = _what(run, records)
    return RunRow(
        id=listed.id,
        when=_when(run.get("created_at")),
        what=what,
        detail=detail,
        status=str(run.get("status") or ""),
        stored=len(records),
        planned=_whole(run.get("trials")),
        answers=_tally(correct(record) for record in records),
        thresholds=_tally(each.get("ok") for record in records for each in record.get("thresholds") or []),
        gaps=sum(bool(record.get("gap")) for record in records),
        failed=sum(record.get("status") == "failed" for record in records),
        invalid=sum(measured(record) and not record.get("valid") for record in records),
        machine=_machine(run.get("machine")),
        notes=notes,
        unread=unread,
    )


def _what(run: Mapping[str, Any], records: Sequence[Record]) -> tuple[str, str]:
    """What was run in a few words, and more of it."""
    engines = _few(str(record.get("engine")) for record in records)
    applications = _few(str(record.get("application")) for record in records)
    suite = run.get("suite")
    if isinstance(suite, Mapping) and suite.get("name"):
        return f"suite {suite['name']}", engines
    command = str(run.get("command") or "")
    verb = next((v for v in ("search", "characterize", "calibrate") if command.startswith(f"streamgauge {v}")), "")
    if not records:
        return (f"{verb}: {command.removeprefix(f'streamgauge {verb}').strip()}" if verb else command) or NOTHING, ""
    return f"{verb}: {applications}" if verb else applications, engines


def _few(names: Iterable[str]) -> str:
    found = in_order(names)
    more = len(found) - _MOST_NAMES
    return ", ".join(found[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _tally(results: Iterable[bool | None]) -> Tally:
    known = [each for each in results if each is not None]
    return Tally(good=sum(map(bool, known)), bad=sum(not each for each in known))


def _when(text: Any) -> str:
    return str(text or "").replace("T", " ")[:19].removesuffix("Z")


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _machine(facts: Any) -> str:
    """The machine in a few words: processor, cores and memory."""
    known = facts if isinstance(facts, Mapping) else {}
    memory = known.get("memory_bytes")
    words = [
        str(known.get("cpu") or known.get("processor") or ""),
        f"{known['cores']} cores".replace(" ", _UNBROKEN) if known.get("cores") else "",
        size(memory).replace(" ", _UNBROKEN) if isinstance(memory, int | float) else "",
    ]
    return " · ".join(word for word in words if word)
