"""Shows on stderr what the laboratory is doing: bars on a terminal, a line per step elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from streamgauge.measure.validity import correct, measured, why_not_measured
from streamgauge.model import Trial
from streamgauge.model.trial import differences
from streamgauge.report.words import mark, milliseconds, per_second, preloaded, rate_of

_LINES_BESIDE = 3
"""Of a terminal: for notes and the prompt."""


class ProgressShown(Protocol):
    """A listener of the laboratory that is opened and closed."""

    def planned(self, run: str, trials: list[Trial]) -> None: ...
    def phase(self, number: int, trial: Trial, phase: str, done: float, total: float) -> None: ...
    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None: ...
    def note(self, text: str) -> None: ...
    def __enter__(self) -> ProgressShown: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def progress() -> ProgressShown:
    """Bars where stderr is a terminal, plain lines where it is not."""
    return Bars() if sys.stderr.isatty() else Lines()


def outcome_words(record: dict[str, Any]) -> str:
    """A finished trial in a few words, with its mark."""
    if not measured(record):
        return why_not_measured(record) or "no figures"
    if preloaded(record):
        figure = per_second(rate_of(record))
    else:
        figure = f"p50 {milliseconds(record['latency_ms'].get('p50'))}"
    good = correct(record) is not False and bool(record.get("valid"))
    words = "" if good else (" wrong answer" if correct(record) is False else " not valid")
    return f"{mark(good)} {figure}{words}"


def _begun(run: str, trials: list[Trial]) -> str:
    if not trials:
        return f"run {run}"
    return f"run {run}: {len(trials)} trial{'' if len(trials) == 1 else 's'}"


class _Titles:
    """Names trials on a console, with what tells them apart in their run."""

    def __init__(self) -> None:
        self.count = 0
        self._told: list[str] = []

    def plan(self, trials: list[Trial]) -> None:
        """Learn which trials are coming."""
        self.count = len(trials)
        self._told = differences(trials)

    def title(self, number: int, trial: Trial) -> str:
        """'3/8 wordcount · spark-microbatch · preloaded · 4 partitions'; without the 8 where nobody knows it yet."""
        told = self._told[number - 1] if number <= len(self._told) else ""
        place = f"{number}/{self.count}" if self.count else str(number)
        return f"{place} {trial.title}" + (f" · {told}" if told else "")


class Bars:
    """One bar per trial, with its phase."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(finished_text=" "),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[phase]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            # What libraries print must stay where it is: stdout is kept clean elsewhere.
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._tasks: dict[int, TaskID] = {}
        self._titles = _Titles()

    def planned(self, run: str, trials: list[Trial]) -> None:
        """Say how much is coming."""
        self._titles.plan(trials)
        self._progress.console.print(escape(_begun(run, trials)), highlight=False)

    def phase(self, number: int, trial: Trial, phase: str, done: float, total: float) -> None:
        """Move the trial's bar."""
        self._progress.update(self._task(number, trial), phase=escape(phase), completed=done, total=total or None)

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Fill the trial's bar and show its outcome; where bars would not fit the screen, as a line above them."""
        task = self._task(number, trial)
        if 0 < self._titles.count <= self._progress.console.height - _LINES_BESIDE:
            self._progress.update(task, phase=escape(outcome_words(record)), completed=1, total=1)
            self._progress.stop_task(task)
            return
        self._progress.remove_task(task)
        if self._titles.count:
            self.note(f"{self._titles.title(number, trial)}: {outcome_words(record)}")

    def note(self, text: str) -> None:
        """Print a line above the bars."""
        self._progress.console.print(escape(text), highlight=False)

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def _task(self, number: int, trial: Trial) -> TaskID:
        if number not in self._tasks:
            title = escape(self._titles.title(number, trial))
            self._tasks[number] = self._progress.add_task(title, total=None, phase="")
        return self._tasks[number]


class Lines:
    """A line for every new phase and every finished trial; of a search, whose probes are lines of their own, none."""

    def __init__(self) -> None:
        self._titles = _Titles()
        self._last: tuple[int, str] = (0, "")

    def planned(self, run: str, trials: list[Trial]) -> None:
        """Say how much is coming."""
        self._titles.plan(trials)
        self.note(_begun(run, trials))

    def phase(self, number: int, trial: Trial, phase: str, done: float, total: float) -> None:
        """Say a phase once."""
        if self._titles.count and self._last != (number, phase):
            self._last = number, phase
            self.note(f"{self._titles.title(number, trial)}: {phase}")

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Say the outcome."""
        if self._titles.count:
            self.note(f"{self._titles.title(number, trial)}: {outcome_words(record)}")

    def note(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None
