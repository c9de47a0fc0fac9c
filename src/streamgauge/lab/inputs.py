"""A trial's inputs: which events each holds, who publishes them, and topics that later trials can read again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from streamgauge.load import parse_load
from streamgauge.load.specification import PublisherResult
from streamgauge.model import Application, LogError, Trial
from streamgauge.model.cores import available_cores
from streamgauge.streams.malformed import Spoiling
from streamgauge.streams.reference import StreamReference

SHARED_FROM = 1_000_000
"""Fewer events are published before a second publisher has started."""


@dataclass(frozen=True)
class InputEvents:
    """What an input topic holds: equal for topics with the same records."""

    reference: StreamReference
    seed: int
    events: int
    partitions: int
    malformed: float
    required: tuple[str, ...]
    """What a defect is aimed at, where events are spoiled."""

    @property
    def spoiling(self) -> Spoiling | None:
        """How the events are spoiled, or None."""
        return Spoiling(self.seed, self.malformed, self.required) if self.malformed > 0 else None

    @property
    def shares(self) -> int:
        """Publishers that write the input together when it is written flat out."""
        return min(available_cores(), self.partitions) if self.events >= SHARED_FROM else 1


def input_events(trial: Trial, application: Application) -> dict[str, InputEvents]:
    """Input → what its topic holds."""
    return {
        name: InputEvents(
            reference=_reference(trial, application, name),
            seed=trial.seed,
            events=trial.events,
            partitions=trial.partitions,
            malformed=trial.malformed,
            required=application.required_of(name) if trial.malformed else (),
        )
        for name in application.inputs
    }


def preloaded_inputs(trial: Trial, application: Application) -> dict[str, InputEvents]:
    """Input → what its topic holds, of a trial whose inputs may lie in the log before it begins; else none."""
    return input_events(trial, application) if parse_load(trial.load).job_starts_at_s is None else {}


def _reference(trial: Trial, application: Application, name: str) -> StreamReference:
    """Where another process finds the stream: by its name, or in the user's file."""
    data = trial.data.get(name)
    if trial.file:
        return StreamReference(None, trial.file, name, data, trial.key_skew)
    return StreamReference(application.inputs[name].name, None, None, data, trial.key_skew)


@dataclass(frozen=True)
class PreparedInput:
    """A topic that holds all events of an input, and how they were published."""

    topic: str
    result: PublisherResult


@dataclass
class PreparedInputs:
    """Topics of preloaded inputs that stay in the log for the trials after (QI2: written once, and reused)."""

    delete_topics: Callable[[list[str]], None]
    enabled: bool = True
    _found: dict[InputEvents, PreparedInput] = field(default_factory=dict)
    _doubtful: list[str] = field(default_factory=list)
    """Topics that nobody may read any more and that are still to be deleted."""

    def get(self, events: InputEvents) -> PreparedInput | None:
        """The topic with these events, if there is one."""
        return self._found.get(events)

    def keep(self, events: InputEvents, prepared: PreparedInput) -> None:
        """From now on the topic is this collection's to delete."""
        self._found[events] = prepared

    def keep_only(self, wanted: Collection[InputEvents]) -> None:
        """Delete the topics that no later trial wants; a log that is gone took them along."""
        gone = [each for each in self._found if each not in wanted]
        with contextlib.suppress(LogError):
            self.delete_topics([*self._doubtful, *(self._found.pop(each).topic for each in gone)])
        self._doubtful.clear()

    def distrust(self) -> None:
        """The log was broken on purpose: what lies in it is published anew for the trials after."""
        self._doubtful += [each.topic for each in self._found.values()]
        self._found.clear()


def wanted_later(trials: list[Mapping[str, InputEvents]]) -> list[set[InputEvents]]:
    """For each trial, what the trials after it read."""
    later: list[set[InputEvents]] = [set()]
    for inputs in reversed(trials[1:]):
        later.append(later[-1] | set(inputs.values()))
    return later[::-1]
