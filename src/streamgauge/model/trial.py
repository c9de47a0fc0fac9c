"""A trial: one application × engine × place × load × faults × seed, from empty topics to verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from streamgauge.model.units import duration


def without_password(url: str) -> str:
    """A URL as it may be stored and shown."""
    scheme, mark, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{mark}{place.rpartition('@')[2]}{slash}{path}"


@dataclass(frozen=True)
class Trial:
    """Everything that decides a trial, as a value that prints, compares and is stored."""

    application: str
    engine: str
    load: str
    seed: int
    events: int
    """How many events are published in all, warm-up included."""
    warmup_events: int
    """How many of them come first and are left out of the figures."""
    file: str | None = None
    """The user's file that defines the application, when it is not one of ours."""
    place: str = "local"
    repeat: int = 1
    partitions: int = 2
    stop_after: str | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    """Input or stored table → the recorded file that stands in for what would be generated."""
    malformed: float = 0.0
    """Share of the events that are spoiled on purpose."""
    dead_letters: bool = False
    """Whether malformed events are sent to a topic of their own; otherwise they are dropped."""
    sink: str | None = None
    """The store that results are written to instead of the log."""
    key_skew: str | None = None
    """The exponent of Zipf's law over the keys of generated events, '0' for even ones; None: as the stream has them."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    """What goes wrong, each fault in its one spelling."""
    no_restart: bool = False
    """Whether a job that died stays down."""
    failure_timeout_s: float | None = None
    """A node that is away for longer has failed for good; None is the place's own."""

    def as_dict(self) -> dict[str, Any]:
        """The trial as plain JSON values, without the user and password of its sink."""
        sink = None if self.sink is None else without_password(self.sink)
        return {**asdict(self), "sink": sink, "faults": list(self.faults)}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Trial:
        """The trial that `as_dict` gave; a sink comes back as it was stored, without its password."""
        return Trial(**{**values, "faults": tuple(values.get("faults", ()))})

    @property
    def found_at(self) -> str:
        """By what another process finds the application: the path of the user's file, or its name."""
        return self.file or self.application

    @property
    def title(self) -> str:
        """A short line that names the trial on a console."""
        parts = [self.application, self.engine, self.load]
        if self.repeat > 1:
            parts.append(f"repeat {self.repeat}")
        return " · ".join(parts)


def differences(trials: Sequence[Trial]) -> list[str]:
    """Of each trial what tells it apart from the others beside application, engine, load and repeat; may be empty."""
    told: list[list[str]] = [[] for _ in trials]
    for say in _FACETS:
        texts = [say(trial) for trial in trials]
        if len(set(texts)) > 1:
            for words, text in zip(told, texts, strict=True):
                words += [text] if text else []
    return [", ".join(words) for words in told]


def _pairs(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(values.items()))


def _size(trial: Trial) -> str:
    """A paced trial's size follows from its time; only a preloaded one is known by its events."""
    return f"{trial.events - trial.warmup_events:,} events" if trial.load.startswith("preloaded") else ""


_FACETS: tuple[Callable[[Trial], str], ...] = (
    lambda trial: f"up to {trial.stop_after}" if trial.stop_after else "",
    _size,
    lambda trial: f"{trial.partitions} partitions" if trial.partitions > 1 else "1 partition",
    lambda trial: "" if trial.key_skew is None else f"key skew {trial.key_skew}",
    lambda trial: trial.place,
    lambda trial: _pairs(trial.settings),
    lambda trial: _pairs(trial.parameters),
    lambda trial: "; ".join(trial.faults) or "no fault",
    lambda trial: "not restarted" if trial.no_restart else "",
    lambda trial: f"failure time-out {duration(trial.failure_timeout_s)}" if trial.failure_timeout_s else "",
    lambda trial: f"seed {trial.seed}",
)
