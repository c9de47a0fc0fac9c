"""A job that is brought back when it dies: it stands for the process and the handle of the one that runs now."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamgauge.engines.recovery_needs import fingerprint, lacking
from streamgauge.engines.supervisor import NO_RESTART, NoSlotsError, Notice, Policy, Supervisor
from streamgauge.lab.job_process import JobHandle, JobProcess
from streamgauge.log.cluster import Cluster
from streamgauge.model import EngineError, StreamgaugeError

NO_SLOTS = "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT"
START_S = 120.0
_LOOK_S = 0.05


class SupervisedJob:
    """What a conductor asks of a process and of a handle, answered by the job that runs at the moment."""

    def __init__(
        self,
        process: JobProcess,
        handle: JobHandle,
        cluster: Cluster,
        start_process: Callable[[], JobProcess],
        restarts: bool,
        slots_needed: int = 1,
    ) -> None:
        self.process, self._handle, self._cluster, self._start_process = process, handle, cluster, start_process
        self.started = handle.started
        self._earlier: list[JobHandle] = []
        self._program = fingerprint(handle.job)
        self._slots_needed = slots_needed
        self._given = True
        """Whether the process has the job: one that was started for it gets it when there are slots."""
        self._supervisor = Supervisor(
            self, Policy() if restarts else NO_RESTART, time.monotonic, lambda: time.time_ns() // 1_000_000
        )

    @property
    def down(self) -> bool:
        """Whether the job is down and stays so."""
        return self._supervisor.state == "down"

    @property
    def restarts(self) -> int:
        """How often it was started again."""
        return self._supervisor.restarts

    @property
    def notices(self) -> list[Notice]:
        """What the supervisor saw and did."""
        return self._supervisor.notices

    def hear(self) -> None:
        """Look after the job."""
        self._supervisor.look()

    def raise_failure(self) -> None:
        """A job that died is brought back, so its death is no failure of the trial."""

    def consumed(self, end_offsets: Callable[[str], dict[int, int]]) -> bool:
        """Whether the job that runs has committed all that its topics hold."""
        return self._supervisor.state == "running" and self._handle.consumed(end_offsets)

    def stop_job(self) -> None:
        """Stop the job, where one runs."""
        if self._runs_somewhere():
            self.process.stop_job()

    @property
    def stopped(self) -> bool:
        """Whether no job runs any more."""
        if not self._runs_somewhere():
            return True
        self._handle.hear()
        return self._handle.stopped

    def _runs_somewhere(self) -> bool:
        return self._given and self.process.alive() and self._handle.failure is None

    @property
    def failure(self) -> dict[str, Any] | None:
        """A job that is down has failed for good."""
        return self._handle.failure if self.down else None

    @property
    def attempts(self) -> list[JobHandle]:
        """Every job that was started, in order."""
        return [*self._earlier, self._handle]

    @property
    def progress(self) -> list[dict[str, Any]]:
        """Engine progress of all jobs."""
        return [each for attempt in self.attempts for each in attempt.progress]

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """What all jobs decided by themselves."""
        return [each for attempt in self.attempts for each in attempt.decisions]

    def last_words(self) -> str:
        """What the process of the job that ran last wrote."""
        return self.process.last_words()

    def alive(self) -> bool:
        """Supervised: whether its process and all its queries run."""
        self._handle.hear()
        return self._runs_somewhere()

    def cause(self) -> str:
        """Supervised: why it is not alive."""
        if self._handle.failure is not None:
            return str(self._handle.failure["cause"])
        return f"the job process died: {self.process.last_words()}"

    def slots_free(self) -> bool:
        """Supervised: whether the process has as many slots as the job needs; of one that died nobody can tell.

        All of them are free: the process has stopped every query of the job before it says that one has ended.
        """
        return not self.process.alive() or self.process.slots() >= self._slots_needed

    def lacking(self) -> list[str]:
        """Supervised: what a restart would need and does not have."""
        try:
            topics = {topic for each in self._handle.committed.values() for topic in each}
            first = {topic: self._cluster.start_offsets(topic) for topic in topics}
        except StreamgaugeError:
            # A log that does not answer now may answer when the job asks it.
            return []
        return lacking(self._program, fingerprint(self._handle.job), self._handle.committed, first)

    def restart(self) -> None:
        """Supervised: the same job from its checkpoint, in its process, or in a new one where that died."""
        if not self.process.alive():
            self._given = False
            self.process = self._start_process()
        if not self.slots_free():
            slots = self.process.slots()
            raise NoSlotsError(f"the job needs {self._slots_needed} task slots and there are {slots:.0f}")
        self._earlier.append(self._handle)
        path = Path(self._handle.job.status_path)
        # Of every attempt its own: what an earlier one said would be heard again.
        again = path.with_name(f"{path.name.split('.')[0]}.{len(self._earlier)}.jsonl")
        self._handle = handle = self.process.run(replace(self._handle.job, status_path=str(again)))
        self._given = True
        deadline = time.monotonic() + START_S
        while handle.started is None:
            time.sleep(_LOOK_S)
            handle.hear()
            if handle.failure is not None:
                cause = str(handle.failure["cause"])
                raise (NoSlotsError if NO_SLOTS in cause else EngineError)(cause)
            if not self.process.alive() or time.monotonic() > deadline:
                raise EngineError(f"the job did not start again: {self.process.last_words()}")
