"""The engine as a value: its settings, its gaps, and how its job process is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge.engines.flink import settings as flink_settings
from streamgauge.engines.flink.description import described
from streamgauge.engines.flink.program import all_programs
from streamgauge.model import Application, Gap, Guarantee, Place, Setting

if TYPE_CHECKING:
    from streamgauge.engines.flink.session import FlinkJobSession
    from streamgauge.provision.engine_environment import EngineEnvironment

_OURS = "streamgauge.applications."


@dataclass(frozen=True)
class FlinkEngine:
    """Apache Flink: programs written for it, in a local mini-cluster or in a cluster that is there."""

    name: str = "flink"
    about: str = "Apache Flink: a record at a time, written in its own SQL; `engines add flink` installs it"
    guarantee: Guarantee = Guarantee()
    settings: Mapping[str, Setting] = field(default_factory=lambda: dict(flink_settings.SETTINGS))
    warming: Mapping[str, str] = field(default_factory=lambda: {"checkpoint-interval": "2s"})
    holds_slots: bool = True

    def gap(self, application: Application) -> Gap | None:
        """Why this engine cannot run the application, or None: there must be a program for each of its outputs."""
        program = all_programs().get(application.name)
        ours = all(stage.function.__module__.startswith(_OURS) for stage in application.stages)
        if program is None or not ours:
            return Gap("not-yet", f"there is no Flink program for '{application.name}'")
        for output in application.leaf_outputs():
            if output.stage not in program.stages:
                return Gap("not-yet", f"the Flink program for '{application.name}' does not end with '{output.stage}'")
        return None

    def place_gap(self, place: Place) -> Gap | None:
        """Why it cannot run at that place, or None: it needs its environment, and no Spark cluster runs it."""
        if place.runs not in ("", "flink"):
            return Gap("not-yet", f"{place.spelling} runs no Flink: use local, or flink://HOST:PORT")
        problem = self.environment.problem()
        return Gap("not-here", f"{problem}: streamgauge engines add flink") if problem else None

    def sink_gap(self) -> Gap | None:
        """Results go to the log alone."""
        return Gap("not-yet", "flink writes to the log alone: its programs have no table of a store")

    def dead_letters_gap(self) -> Gap | None:
        """Malformed events are dropped and not kept."""
        return Gap("not-yet", "flink drops malformed events: its SQL writes no bytes that are no text")

    @property
    def environment(self) -> EngineEnvironment:
        """Where PyFlink lives, whose dependencies clash with Spark's."""
        from streamgauge.engines.flink.environment import ENVIRONMENT

        return ENVIRONMENT

    def knows(self, setting: str) -> bool:
        """Whether this engine has a setting of that name."""
        return flink_settings.known(setting)

    def resolve(self, given: Mapping[str, str]) -> dict[str, str]:
        """All engine settings with the user's over the defaults; an unknown one is an error."""
        return flink_settings.resolved(given)

    def tuning(self, application: str, given: Mapping[str, str]) -> dict[str, str]:
        """Everything that is set for this application, for the report: what its program needs holds over the user's."""
        program = all_programs().get(application)
        return flink_settings.tuning({**given, **(program.settings if program else {})})

    def session_settings(self, given: Mapping[str, str]) -> dict[str, str]:
        """What is fixed for the life of a JVM; all else a job brings along."""
        return {"memory": self.resolve(given)["memory"]}

    def cut(self, application: Application, given: Mapping[str, str]) -> Application:
        """The application as one job: Flink needs no topic between two aggregates."""
        return replace(application, cuts=())

    def described(self, application: Application, parameters: Mapping[str, str]) -> dict[str, Any]:
        """What the job process is told of the application, which it cannot import."""
        return described(application, parameters)

    def variants(self, application: Application, given: Mapping[str, str]) -> dict[str, str]:
        """None: a program is the one way in which a stage is run."""
        return {}

    def stateful_stages(self, application: Application, given: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """None: all operators have the job's parallelism."""
        return {}

    def slots_needed(self, application: Application, partitions: int, given: Mapping[str, str]) -> int:
        """Slots of the job: operators share them."""
        return int(self.resolve(given)["parallelism"])

    def job_command(self, session_file: str) -> list[str]:
        """The command that starts a job process: the Python of Flink's environment, and nothing of this one's."""
        python = self.environment.checked_python()
        return [str(python), "-I", str(Path(__file__).with_name("process.py")), session_file]

    def open(self, session: Mapping[str, Any]) -> FlinkJobSession:
        """Start Flink's JVM, as the session file says; only in a process of `job_command`."""
        from streamgauge.engines.flink.session import FlinkJobSession

        return FlinkJobSession(session)
