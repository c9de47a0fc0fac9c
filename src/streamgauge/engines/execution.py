"""What the job process and the conductor ask of an engine; an engine implements it in its own package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from streamgauge.model import Application, Engine, Gap, Place
from streamgauge.model.job import Job

if TYPE_CHECKING:
    from streamgauge.load.specification import PublisherResult, PublisherSpec
    from streamgauge.provision.engine_environment import EngineEnvironment

Offsets = dict[str, dict[int, int]]
"""Topic → partition → the offset that the next read starts with."""


class RunningJob(Protocol):
    """A started job; what an engine has nothing to say of is empty."""

    starting_ms: int
    """The wall clock when its first query was told to start, planned and compiled."""

    def start(self) -> None:
        """Start it and return when it runs; raise EngineError with the engine's own words when it is refused."""
        ...

    def reads(self) -> dict[str, list[str]]:
        """Query → the topics it reads."""
        ...

    def committed(self) -> dict[str, Offsets]:
        """Query → the offsets that it has committed of each topic it reads."""
        ...

    def new_progress(self) -> list[dict[str, Any]]:
        """Engine progress that was not reported before."""
        return []

    def new_decisions(self) -> list[dict[str, Any]]:
        """What the engine decided by itself and did not tell before: `words`, and all that it decided from."""
        return []

    def keeps(self) -> dict[str, str]:
        """Part → file that it writes while it runs: what it saw, decided and did by itself (`paradigms.keeping`)."""
        return {}

    def left_behind(self) -> dict[str, Any]:
        """What is known of a stopped job beside its outputs, for the record."""
        return {}

    def failure(self) -> str | None:
        """The reason why the job has ended by itself, or None."""
        ...

    def stop(self) -> None:
        """Stop the job."""
        ...


class JobSession(Protocol):
    """What stays warm between jobs in one job process."""

    @property
    def facts(self) -> dict[str, Any]:
        """Version and process ids, for the run's record."""
        ...

    def slots(self) -> int | None:
        """Task slots of the executors that the engine has now; None where it cannot tell."""
        ...

    def start(self, job: Job) -> RunningJob:
        """Start a job; raise EngineError with the engine's own words when it is refused.

        The session finds the application of the job itself: a process in an environment of its own may not be able to
        import it, and is told in the job file what it must know (`ExecutableEngine.described`).
        """
        ...

    def characterize(self, job: Job) -> Iterator[dict[str, Any]]:
        """Samples of every cut of the application over its input topics, as `measure.characterisation` reads them."""
        ...

    def publish(self, shares: Sequence[PublisherSpec]) -> list[PublisherResult]:
        """Publish the shares of an input from where the session computes."""
        ...

    def forget(self, location: str) -> None:
        """Remove what jobs have left at a location of checkpoints that only this session reaches."""
        ...

    def close(self) -> None:
        """End the session and its processes."""
        ...


class ExecutableEngine(Engine, Protocol):
    """An engine that can be run."""

    @property
    def warming(self) -> Mapping[str, str]:
        """Settings for a discarded pass, in which what is rare in a trial, such as a checkpoint, must happen too."""
        ...

    @property
    def holds_slots(self) -> bool:
        """Whether its tasks stay and take events as they come, instead of taking what is there batch by batch."""
        ...

    def knows(self, setting: str) -> bool:
        """Whether this engine has a setting of that name."""
        ...

    def resolve(self, given: Mapping[str, str]) -> dict[str, str]:
        """All engine settings with the user's over the defaults; an unknown one is an error."""
        ...

    def tuning(self, application: str, given: Mapping[str, str]) -> dict[str, str]:
        """Everything that is set for this application, for the report."""
        ...

    def session_settings(self, given: Mapping[str, str]) -> dict[str, str]:
        """What is fixed for the life of a job process; trials share one only if it is equal."""
        ...

    def cut(self, application: Application, given: Mapping[str, str]) -> Application:
        """The application with the cuts that it is run with."""
        ...

    def variants(self, application: Application, given: Mapping[str, str]) -> dict[str, str]:
        """Stage → the variant that runs, for the stages that have a choice."""
        ...

    def stateful_stages(self, application: Application, given: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """Query → its stages whose parallelism can be set."""
        ...

    def sink_gap(self) -> Gap | None:
        """Why this engine cannot write results to a store beside the log, or None."""
        ...

    def dead_letters_gap(self) -> Gap | None:
        """Why this engine cannot keep malformed events, or None."""
        ...

    def place_gap(self, place: Place) -> Gap | None:
        """Why this engine cannot run at a place, as this machine is now, or None."""
        ...

    @property
    def environment(self) -> EngineEnvironment | None:
        """The environment of its own that it runs in, or None: it runs in this one."""
        ...

    def described(self, application: Application, parameters: Mapping[str, str]) -> dict[str, Any]:
        """What a job file says of the application, as JSON values, to a process that cannot import it."""
        ...

    def slots_needed(self, application: Application, partitions: int, given: Mapping[str, str]) -> int:
        """Task slots that must be free before the start."""
        ...

    def job_command(self, session_file: str) -> list[str]:
        """The command that starts a job process."""
        ...

    def open(self, session: Mapping[str, Any]) -> JobSession:
        """Open a session in this process, as the session file says."""
        ...
