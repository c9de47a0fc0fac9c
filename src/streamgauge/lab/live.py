"""What a run tells while it runs: its trials, their phases, a sample every half second, and what happens in them.

A thread of its own looks and writes; nothing of it lies in the way of the data. What costs a few lines and no more is
always told, so that a page may be opened at any time; the log is asked, and the tail of the outputs read, only while
somebody watches.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from streamgauge.lab.trial_look import TrialLook
from streamgauge.measure.validity import correct, measured, ranked, why_not_measured
from streamgauge.model import Trial
from streamgauge.model.trial import differences
from streamgauge.store.live import LiveWriter
from streamgauge.watch.cadence import Cadence

if TYPE_CHECKING:
    from streamgauge.lab.conduct import Conductor

EVERY_S = 0.5


class LiveRun:
    """Tells a run's folder what happens, or nobody; what goes wrong in that costs lines, never the run."""

    def __init__(self, writer: LiveWriter | None = None, every_s: float = EVERY_S) -> None:
        self._writer = writer
        self._cadence = Cadence(self.beat, every_s, "live")
        self._lock = threading.Lock()
        self._trial: tuple[int, Conductor] | None = None
        self._phase: tuple[str, float, float] = ("preparing", 0.0, 0.0)
        self._look: tuple[int, TrialLook] | None = None
        self._cost_s = 0.0

    def __enter__(self) -> LiveRun:
        self._cadence.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cadence.stop()

    def planned(self, run: str, trials: Sequence[Trial]) -> None:
        """The run has begun; of a search nobody knows its trials yet."""
        described = [_described(n, t, d) for n, (t, d) in enumerate(zip(trials, differences(trials), strict=True), 1)]
        self._say("plan", run=run, pid=os.getpid(), trials=described)

    def note(self, text: str) -> None:
        """Something a person should know, in one line."""
        self._say("event", trial=None, kind="note", text=text)

    def begin(self, number: int, trial: Trial, conductor: Conductor) -> None:
        """Look at this trial from now on."""
        self._say("trial", **_described(number, trial, ""))
        with self._lock:
            self._phase = ("preparing", 0.0, 0.0)
            self._trial = (number, conductor)

    def phase(self, number: int, phase: str, done: float, total: float) -> None:
        """The trial is in a phase, `done` of `total`; a new phase is a line of its own."""
        with self._lock:
            new, self._phase = phase != self._phase[0], (phase, done, total)
        if new:
            self._say("event", trial=number, kind="phase", text=phase)

    def finished(self, number: int, record: dict[str, Any]) -> None:
        """The trial is stored; nobody looks at it any more."""
        with self._lock:
            self._trial = None
        words, good = outcome(record)
        self._say("outcome", trial=number, text=words, good=good)

    def beat(self) -> None:
        """Look once and tell what was seen."""
        began_s = time.thread_time()
        with self._lock:
            trial, phase = self._trial, self._phase
        if self._writer is None:
            return
        try:
            self._writer.beat()
            look = self._looking_at(trial)
            if trial is not None and look is not None:
                for what, facts in look.happened():
                    self._say(what, trial=trial[0], **facts)
                sample = look.sample(time.monotonic(), *phase, watched=self._writer.watched())
                self._say("sample", trial=trial[0], **sample)
        except Exception:
            # A trial that is being torn down, a log that went away: there is another beat.
            pass
        finally:
            self._cost_s += time.thread_time() - began_s

    def taken_cost_s(self) -> float:
        """CPU seconds that telling and looking have used since the last call, for the trial's record."""
        taken, self._cost_s = self._cost_s, 0.0
        return taken

    def close(self, status: str) -> None:
        """The run has ended, and its record stands: take the file away."""
        self._cadence.stop()
        self._looking_at(None)
        if self._writer is not None:
            self._writer.close(status)

    def _say(self, what: str, **facts: Any) -> None:
        if self._writer is not None:
            self._writer.say(what, **facts)

    def _looking_at(self, trial: tuple[int, Conductor] | None) -> TrialLook | None:
        number = None if trial is None else trial[0]
        if self._look is not None and self._look[0] != number:
            before, self._look = self._look[1], None
            before.close()
        if trial is not None and self._look is None:
            self._look = trial[0], TrialLook(trial[1])
        return None if self._look is None else self._look[1]


def outcome(record: dict[str, Any]) -> tuple[str, bool | None]:
    """A finished trial in a word, and whether that is well; None where nothing was measured for a stated reason."""
    if not measured(record):
        return why_not_measured(record) or "no figures", None if record["status"] == "gap" else False
    if correct(record) is False:
        return "wrong answer", False
    return ("right and valid", True) if ranked(record) else ("not valid", False)


def _described(number: int, trial: Trial, details: str) -> dict[str, Any]:
    return {
        "trial": number,
        "title": trial.title,
        "application": trial.application,
        "engine": trial.engine,
        "load": trial.load,
        "details": details,
        "faults": list(trial.faults),
    }
