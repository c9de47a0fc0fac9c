"""The faults of one trial while it is conducted: who may be hit, from when on, and who brings back what died."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from streamgauge.engines import get_engine
from streamgauge.engines.supervisor import Notice
from streamgauge.faults.injector import Injector
from streamgauge.faults.registry import Registry
from streamgauge.lab.environment import Laboratory
from streamgauge.lab.fault_planning import failure_timeout_of, laid_out
from streamgauge.lab.job_process import JobHandle, JobProcess
from streamgauge.lab.planning import chosen_application, slots_needed
from streamgauge.lab.publishers import TrialPublishers
from streamgauge.lab.supervised_job import SupervisedJob
from streamgauge.model import EngineError, Load, Trial
from streamgauge.model.fault import CLUSTER, InjectedFault, PlannedFault
from streamgauge.watch.sampler import Sampler

BACK_S = 120.0
LOOK_S = 0.05
BROKER_START_S = 30.0
"""What a broker may take to answer again after its process was started, on a busy machine."""


@dataclass(frozen=True)
class Endured:
    """What was done to a trial, and what the supervisor saw and did."""

    injected: tuple[InjectedFault, ...] = ()
    notices: tuple[Notice, ...] = ()
    restarts: int = 0
    went_down: bool = False

    @property
    def missed(self) -> list[str]:
        """What could not be injected or undone, in words."""
        return [f"{each.fault}: {each.problem}" for each in self.injected if each.problem is not None]

    @property
    def hit(self) -> set[str]:
        """The targets that were hit."""
        return {each.target for each in self.injected if each.at_ms is not None}

    @property
    def broke_the_cluster(self) -> bool:
        """Whether the embedded cluster is no longer as it was started, so that no other trial may have it."""
        return bool(self.hit & CLUSTER)


@dataclass
class FaultDrill:
    """The faults of one trial; of a trial without any it does nothing."""

    lab: Laboratory
    trial: Trial
    load: Load
    warmup_s: float
    sampler: Sampler
    drained_s: float | None = None
    """How long the same preloaded trial took without its faults."""
    registry: Registry = field(default_factory=Registry)
    job: SupervisedJob | None = None

    def __post_init__(self) -> None:
        self.planned: tuple[PlannedFault, ...] = ()
        if self.trial.faults:
            own = self.lab.broker is not None
            self.planned = laid_out(self.trial, self.load, self.warmup_s, own_broker=own, drained_s=self.drained_s)
        self.injector = Injector(self.planned, self.registry)
        broker = self.lab.broker
        if self.planned and broker is not None:
            self.registry.register("broker", broker.pid)
            self.registry.restarted_by("broker", lambda number: self._watched("broker", broker.start_again()))

    @property
    def active(self) -> bool:
        """Whether anything is to go wrong."""
        return bool(self.planned)

    @property
    def longest_away_s(self) -> float:
        """The longest time that broker or publisher may be away by the plan."""
        return max(map(_away_s, self.planned), default=0.0)

    def supervise(self, process: JobProcess, handle: JobHandle) -> SupervisedJob:
        """Look after the measured job from now on."""
        self._driver(process)
        self._take_in_cluster()
        self.job = SupervisedJob(
            process, handle, self.lab.cluster, self._new_process, not self.trial.no_restart, self._slots_needed()
        )
        return self.job

    def job_process(self) -> JobProcess:
        """A job process of the trial, the laboratory's warm one or a new one."""
        trial = self.trial
        return self.lab.job_process(trial.engine, trial.place, trial.settings, failure_timeout_of(trial))

    def _new_process(self) -> JobProcess:
        return self._driver(self.job_process())

    def _slots_needed(self) -> int:
        """Slots that a restart waits for; tasks that come and go make do with what there is."""
        engine = get_engine(self.trial.engine)
        if not engine.holds_slots:
            return 1
        return slots_needed(self.trial, chosen_application(self.trial), engine)

    def _take_in_cluster(self) -> None:
        """Master and workers as they are now; executors come and go, and are looked for below their workers."""
        workers = self.lab.workers
        if workers is None:
            return
        for role, pid in workers.pids().items():
            name, _, number = role.partition("-")
            self.registry.register(name, pid, int(number or 1))
        self.registry.restarted_by("master", lambda number: workers.start_master())
        self.registry.restarted_by("worker", lambda number: self._watched("job", workers.start_worker(number)))
        self.registry.looked_up_by("executor", workers.executors)

    def _driver(self, process: JobProcess) -> JobProcess:
        self.registry.register("driver", process.pid)
        self.registry.restarted_by("driver", self._await_driver)
        self._watched("job", process.pid)
        return process

    def _await_driver(self, number: int) -> int:
        """The supervisor brings a driver back: here is only waited for it."""
        assert self.job is not None
        deadline = time.monotonic() + BACK_S
        while time.monotonic() < deadline and not self.job.down:
            if self.job.process.alive():
                return self.job.process.pid
            time.sleep(LOOK_S)
        raise EngineError("the supervisor did not bring the driver back")

    def publishers_started(self, publishers: TrialPublishers) -> None:
        """Take in the publishers of the measured events; one that dies is started again where it stopped."""
        if not self.planned:
            return
        for number, process in enumerate(publishers.processes(), 1):
            self.registry.register("publisher", process.pid, number)
        self.registry.restarted_by("publisher", publishers.start_again)

    def breaks(self, target: str) -> bool:
        """Whether a fault on that target is planned."""
        return any(each.target == target for each in self.planned)

    @property
    def went_down(self) -> bool:
        """Whether the job is down and stays so."""
        return self.job is not None and self.job.down

    @property
    def breaks_the_log(self) -> bool:
        """Whether what lies in the log may suffer, so that it is no other trial's to read."""
        return self.breaks("broker") or self.breaks("publisher")

    def publishing(self, publishers: TrialPublishers) -> bool:
        """Whether events are still being published, or will be again; a publisher that was killed is brought back."""
        if self._returning("publisher"):
            return True
        if self.breaks("publisher"):
            hit = {each.pid for each in self.injector.injected() if each.target == "publisher"}
            for number, publisher in enumerate(publishers.processes(), 1):
                ended = publisher.poll()
                if ended is not None and ended < 0:
                    if publisher.pid in hit:
                        self.registry.register("publisher", publishers.start_again(number), number)
                    # The signal may be there before the injector's note of it.
                    return True
        return not publishers.all_ended()

    def begin(self, publishers: TrialPublishers) -> None:
        """Count the instants of the faults from the first measured event, as soon as its time is known."""
        if self.planned and not self.injector.started:
            starts = [publisher.start_at_epoch_ns for publisher in publishers.processes()]
            known = [start for start in starts if start is not None]
            if known and len(known) == len(starts):
                self.begin_at(max(known) + round(self.warmup_s * 1e9))

    def begin_at(self, epoch_ns: int) -> None:
        """Count the instants of the faults from that one."""
        if self.planned and not self.injector.started:
            self.injector.start(epoch_ns)

    @property
    def broker_away(self) -> bool:
        """Whether the broker may be away by a fault that has not been undone: then its silence is no failure."""
        return self._returning("broker", pending=True)

    @property
    def broker_hit(self) -> bool:
        """Whether a fault has hit the broker and is not undone."""
        return self._returning("broker")

    def _returning(self, target: str, *, pending: bool = False) -> bool:
        """Whether a process of the target was hit and is not back; with `pending` also while that may happen now."""
        mine = [each for each in self.injector.injected() if each.target == target and each.at_ms is not None]
        planned = sum(each.target == target for each in self.planned)
        hit = any(each.planned_until_ms is not None and each.until_ms is None and not each.problem for each in mine)
        return hit or (pending and self.injector.started and len(mine) < planned and not self._missed(target))

    def _missed(self, target: str) -> bool:
        return any(each.target == target and each.problem for each in self.injector.injected())

    def _watched(self, component: str, pid: int) -> int:
        self.sampler.add(component, pid)
        return pid

    def close(self) -> Endured:
        """Undo what is not undone, and say what there was."""
        injected = self.injector.close()
        if self.job is None:
            return Endured(injected)
        return Endured(injected, tuple(self.job.notices), self.job.restarts, self.job.down)


def _away_s(planned: PlannedFault) -> float:
    if planned.target not in ("broker", "publisher"):
        return 0.0
    starting_s = BROKER_START_S if planned.target == "broker" and planned.verb in ("kill", "restart") else 0.0
    return starting_s + (0.0 if planned.until_s is None else planned.until_s - planned.at_s)
