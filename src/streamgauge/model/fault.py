"""A fault: what goes wrong, to what, and when; what was planned of it, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

TARGETS: Mapping[str, str] = {
    "driver": "the job's own process with its JVM",
    "executor": "a process that runs tasks for the job",
    "worker": "a node: a worker with its executors",
    "master": "the master of an embedded cluster",
    "broker": "the embedded broker of the log",
    "publisher": "the process that publishes the events",
}
"""What a fault can hit, each started by this run."""

CLUSTER = frozenset({"master", "worker", "executor"})
"""Targets that are parts of an embedded cluster."""

RANDOM = "random"
"""In place of a verb: verb and target are drawn for every instant."""

Lasting = Literal["transient", "permanent"]
State = Literal["running", "stopped", "gone"]
Half = Literal["half"]


@dataclass(frozen=True)
class Fault:
    """A fault as it is spelled: `kill 2 workers at 30s for 10s`, or `kill worker every 20s up to 3 after 15s`."""

    verb: str
    target: str
    at: float | Half | None = None
    """Seconds since the first measured event, or half of the trial; None where it comes `every` so often."""
    every_s: float | None = None
    up_to: int | None = None
    """The most instants of `every`; None is until the end."""
    after_s: float | None = None
    """The first instant of `every`; None is one interval after the start."""
    for_s: float | None = None
    """How long the target stays away; None is as long as nobody else brings it back."""
    count: int = 1
    """How many processes of the target are hit in the same instant."""
    busiest: bool = False
    """Whether those that have worked most are hit; else they are chosen at random."""


@dataclass(frozen=True)
class PlannedFault:
    """One instant of a fault on one process; times are seconds since the first measured event."""

    fault: str
    """The spelling that it comes from."""
    verb: str
    target: str
    at_s: float
    until_s: float | None
    """When the target is brought back; None where the injector does not."""
    order: tuple[int, ...]
    """Numbers of the target's processes in the order in which they are tried: the seeded choice."""
    lasting: Lasting
    busiest: bool = False
    """Whether the one that has worked most since the first measured event comes first."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {**asdict(self), "order": list(self.order)}


@dataclass(frozen=True)
class InjectedFault:
    """What became of a planned fault; instants are of the wall clock, which the embedded broker shares."""

    fault: str
    verb: str
    target: str
    number: int | None
    """Which of the target's processes was hit: of worker 2 it is 2; None where none was."""
    pid: int | None
    lasting: Lasting
    planned_at_ms: int
    at_ms: int | None
    """When it was injected; None where it was not."""
    effect: str | None
    """What was seen of the process afterwards: gone, stopped, running."""
    planned_until_ms: int | None = None
    until_ms: int | None = None
    """When the target was back: continued, or started again."""
    back_effect: str | None = None
    problem: str | None = None
    """Why it could not be injected, or not be undone, in words."""

    @property
    def done(self) -> bool:
        """Whether the fault had its effect, and its end too where it has one."""
        return self.problem is None and self.at_ms is not None

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> InjectedFault:
        """What `as_dict` gave."""
        return InjectedFault(**values)


class Victim(Protocol):
    """A process that a fault may hit, as a verb sees it."""

    def send(self, number: int) -> None:
        """Send a signal to the process, and to its group where it leads one."""
        ...

    def state(self) -> State:
        """What the process does now."""
        ...

    def start_again(self) -> None:
        """Let the owner start it again."""
        ...


class Strike(Protocol):
    """What a verb does to a victim."""

    def __call__(self, victim: Victim, /) -> None: ...


@dataclass(frozen=True)
class FaultVerb:
    """A kind of fault: what it does, what must be seen of the process then, and how it is undone."""

    name: str
    about: str
    strike: Strike
    effect: State
    targets: tuple[str, ...] = tuple(TARGETS)
    bring_back: Strike | None = None
    """What ends the fault after `for`; without it the verb takes no `for`."""
    always_back: bool = False
    """Whether the target is brought back without `for` too, at once."""
    of_stopped: bool = False
    """Whether it is done to suspended processes, and to no other."""
    at_random: Mapping[str, tuple[float, float] | None] | None = None
    """Targets that a random fault may hit, each with the shortest and longest time away."""
    papers: tuple[str, ...] = ()
