"""What is said of an engine before it runs: what it guarantees, what it can be told, what it cannot do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from streamgauge.model.application import Application


@dataclass(frozen=True)
class Gap:
    """What an engine cannot do, why, and whether that will change."""

    kind: Literal["never", "not-yet", "not-here"]
    reason: str


@dataclass(frozen=True)
class Guarantee:
    """What an engine promises of values and of outputs."""

    values: Literal["exactly-once", "at-least-once", "at-most-once"] = "exactly-once"
    outputs: Literal["exactly-once", "at-least-once", "at-most-once"] = "at-least-once"


@dataclass(frozen=True)
class Setting:
    """One engine setting with its default: the tuning that the report prints."""

    default: str
    about: str


class Engine(Protocol):
    """How an application is executed."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    @property
    def guarantee(self) -> Guarantee: ...

    @property
    def settings(self) -> Mapping[str, Setting]: ...

    def gap(self, application: Application) -> Gap | None:
        """Why this engine cannot run the application, or None."""
        ...


@dataclass(frozen=True)
class Place:
    """Where a job is executed: a master with its cores and task slots."""

    spelling: str
    cores: int
    """Cores given to the job; CPU is reported as a share of them."""
    nodes: int
    slots: int | None
    """How many tasks a job may run at one time; may exceed the cores. None: known when it has started."""
    master: str
    """The address of the master; of an embedded cluster it is known when that has started."""
    embedded: bool = False
    """Whether the place is a cluster of `nodes` workers that the laboratory starts and ends."""
    spare_slots: int = 0
    """Slots beyond those, one worker's: a job that has lost a worker finds them free."""
    runs: str = ""
    """Whose cluster it is, `spark` or `flink`; empty: a job of any engine brings what it needs."""
    foreign: bool = False
    """Whether it is a cluster that is there: its processes are not the run's, so none is watched or broken."""
