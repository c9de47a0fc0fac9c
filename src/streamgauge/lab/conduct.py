"""One trial, from empty topics to the moment when its outputs are complete."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from streamgauge.engines import get_engine
from streamgauge.lab.checkpoint_folder import CheckpointFolder
from streamgauge.lab.cold_start import discard_passes, discard_time
from streamgauge.lab.conducted import Conducted
from streamgauge.lab.environment import Laboratory
from streamgauge.lab.fault_drill import FaultDrill
from streamgauge.lab.inputs import PreparedInput, input_events
from streamgauge.lab.job_process import JobHandle, JobProcess
from streamgauge.lab.left_by import commits_of, left_by
from streamgauge.lab.planning import publishing_load, resolved, slots_needed
from streamgauge.lab.publishers import TrialPublishers
from streamgauge.lab.request import PlannedTrial
from streamgauge.lab.results import guarantee_of, results_of
from streamgauge.lab.stored_tables import table_path, write_tables
from streamgauge.lab.trial_topics import TrialTopics
from streamgauge.model import EngineError
from streamgauge.model.job import DEAD_LETTERS, InputTopic, Job
from streamgauge.places import parse_place
from streamgauge.watch.sampler import Sampler

POLL_S = 0.1
SILENCE_S = 1.0
"""Outputs must not have grown for this long, after all input was committed, before a trial ends."""
WORKERS_S = 30.0
"""How long the executors of a cluster are waited for."""

Phase = Callable[[str, float, float], None]


class Conductor:
    """Conducts one trial in a laboratory."""

    def __init__(
        self, lab: Laboratory, planned: PlannedTrial, number: int, phase: Phase, drained_s: float | None = None
    ) -> None:
        self.lab, self.planned, self.phase = lab, planned, phase
        self.trial, self.warmup_s = planned.trial, planned.warmup_s
        self.prefix = f"streamgauge-{lab.run}-{number:03d}"
        self.folder = lab.folder / f"trial-{number:03d}"
        self.folder.mkdir()
        self.engine = get_engine(self.trial.engine)
        self.guarantee = guarantee_of(self.engine, self.trial.sink)
        self.application = self.engine.cut(resolved(self.trial.found_at, self.trial.stop_after), self.trial.settings)
        self.load = publishing_load(self.trial.load, self.warmup_s)
        self.deadline = time.monotonic() + planned.timeout_s + self._schedule_s()
        self.results = results_of(lab.cluster, self.trial.sink)
        self.topics = TrialTopics(lab.cluster, self.results, self.prefix, self.trial.partitions)
        self.sampler = Sampler()
        self.done: Conducted | None = None
        self.measured: Any = None
        """The measured job's handle once it runs, or what stands for it: who watches looks at it."""
        self.events = input_events(self.trial, self.application)
        self.drill = FaultDrill(lab, self.trial, self.load, self.warmup_s, self.sampler, drained_s)
        self.publishers = TrialPublishers(
            lab, self.trial, self.events, self.folder, self.sampler, self.warmup_s, self.drill.longest_away_s
        )
        # Last of all: what is made outside the run's folder is removed only by whoever has a whole conductor.
        location = self.engine.resolve(self.trial.settings).get("checkpoint-location", "")
        self.checkpoints = CheckpointFolder(location, self.folder, self.prefix, lab.guard)

    def _schedule_s(self) -> float:
        """How long publishing takes by the schedule, which the time-out does not count."""
        return float(self.load.due_s([self.trial.events - 1])[0]) + self.planned.settling_s

    def conduct(self) -> Conducted:
        """Publish, run, wait for the end; topics stay until `clean_up`."""
        self.phase("preparing", 0, 0)
        done = self.done = self._prepared()
        if self.trial.dead_letters:
            done.dead_letters = self.topics.make(DEAD_LETTERS)
        if self.lab.broker is not None:
            self.sampler.add("broker", self.lab.broker.pid)
        self.sampler.start()
        try:
            if self.load.job_starts_at_s is None:
                self._conduct_preloaded(done)
            else:
                self._conduct_paced(done)
        finally:
            done.endured = self.drill.close()
            self.publishers.stop()
            if self.checkpoints.elsewhere is not None:
                self.lab.forget(self.checkpoints.elsewhere)
            if self.drill.active:
                self.lab.end_processes()
            if done.endured.broke_the_cluster:
                self.lab.end_workers()
            if self.drill.breaks_the_log:
                self.lab.prepared.distrust()
            done.resources = self.sampler.stop()
            done.watching_cpu_s = self.sampler.own_cost_s + self.lab.live.taken_cost_s()
        return done

    def _prepared(self) -> Conducted:
        tables = write_tables(self.application, self.trial.data, self.folder)
        return Conducted(self.application, self.load, self.make_inputs(), self.make_topics("out"), tables)

    def clean_up(self) -> None:
        """Delete the trial's topics, and its results where they lie elsewhere."""
        self.topics.clean_up(killed=self.drill.active)

    def _conduct_preloaded(self, done: Conducted) -> None:
        process = self._process(done) if self.publishes_at_place else None
        self._prepare(done, process)
        process = process or self._process(done)
        if self._is_cold(process):
            done.discarded_s = discard_passes(self, process, done.inputs)
        process, handle = self._run_measured(process, done)
        done.job_started_ms = _starting_ms(handle)
        self.drill.begin_at(done.job_started_ms * 1_000_000)
        self._wait_for_end(process, handle, done, lambda: self.phase("measuring", 0, 0))

    @property
    def publishes_at_place(self) -> bool:
        """Whether the place has workers that can write its input, a share each (QI2)."""
        return parse_place(self.trial.place).nodes > 1

    def _prepare(self, done: Conducted, process: JobProcess | None) -> None:
        """Publish the inputs that no earlier trial has left in the log, and leave them to the trials after."""
        for name, where in done.inputs.items():
            found = self.lab.prepared.get(self.events[name])
            if found is not None and found.topic == where.topic:
                done.publishers[name] = found.result
                done.reused_inputs.append(name)
            elif process is not None:
                self.publishers.start_at_place(name, where.topic, self.load, process)
                self.wait_until_published("preparing", process)
            else:
                self.publishers.start(name, where.topic, self.load)
        self.wait_until_published("preparing", process)
        self._note_published(done)
        if self.lab.prepared.enabled and not self.drill.breaks_the_log:
            for name, where in done.inputs.items():
                if self.topics.hand_on(where.topic):
                    self.lab.prepared.keep(self.events[name], PreparedInput(where.topic, done.publishers[name]))

    def wait_until_published(self, phase: str, process: JobProcess | None = None) -> None:
        """Return when the publishers have ended; `process` is where they publish, if it is not one of their own."""
        while not self.publishers.all_ended():
            self.look(process, None)
            self._show_published(phase)

    def _note_published(self, done: Conducted) -> None:
        done.lateness_paths = self.publishers.lateness_paths()
        done.publishers.update(self.publishers.collect())

    def _show_published(self, phase: str) -> None:
        self.phase(phase, self.publishers.published(), self.trial.events * len(self.application.inputs))

    def _conduct_paced(self, done: Conducted) -> None:
        process = self._process(done)
        starts_at_s = self.load.job_starts_at_s or 0.0
        if self._is_cold(process):
            done.discarded_s = discard_time(self, process)
        handle: Any = None
        if starts_at_s == 0:
            process, handle = self._run_measured(process, done)
        for name, where in done.inputs.items():
            self.publishers.start(name, where.topic, self.load)
        self.drill.publishers_started(self.publishers)
        while self.drill.publishing(self.publishers):
            self.drill.begin(self.publishers)
            self.look(process, handle)
            elapsed_s = self.publishers.elapsed_s()
            if handle is None and elapsed_s >= starts_at_s:
                process, handle = self._run_measured(process, done)
            self._show_published("warming up" if elapsed_s < self.warmup_s else "measuring")
        if handle is None:
            process, handle = self._run_measured(process, done)
        self._note_published(done)
        done.job_started_ms = _starting_ms(handle)
        self._wait_for_end(process, handle, done, lambda: self.phase("draining", 0, 0))

    def _run_measured(self, process: JobProcess, done: Conducted) -> tuple[Any, Any]:
        """Start the measured job; where faults are planned, what stands for it is brought back when it dies."""
        handle = self.run_job(process, "measured", done.inputs, done.outputs, dead_letters=done.dead_letters)
        self.measured = handle
        if not self.drill.active:
            return process, handle
        self.measured = job = self.drill.supervise(process, handle)
        return job, job

    def _process(self, done: Conducted) -> JobProcess:
        if self.drill.active:
            self.lab.end_processes()
        process = self.drill.job_process()
        done.jobs_before = process.jobs
        done.engine_facts = {k: v for k, v in process.facts.items() if k == "version"}
        if not parse_place(self.trial.place).foreign:
            for pid in (process.pid, *self.lab.worker_pids()):
                self.sampler.add("job", pid)
        self._await_workers(process)
        return process

    def _await_workers(self, process: JobProcess) -> None:
        """In a cluster, return when every worker has its executor: a job does not begin with a part of the place.

        With settings that leave slots unused it begins after a while with as many as it needs; a cluster that is there
        is never waited for beyond those.
        """
        place = parse_place(self.trial.place)
        if process.jobs > 0 or not (place.embedded or place.foreign):
            return
        needed = slots_needed(self.trial, self.application, self.engine)
        wanted = needed if place.slots is None else place.slots + place.spare_slots
        deadline = time.monotonic() + WORKERS_S
        while process.slots() < wanted:
            self.look(process, None)
            if time.monotonic() > deadline:
                if process.slots() >= needed:
                    return
                more = "Use fewer workers: each has an executor of its own, which needs memory"
                raise EngineError(
                    f"{place.spelling} had {process.slots():.0f} of {needed} task slots after {WORKERS_S:.0f} s",
                    more if place.embedded else "Free some of its cores, or use fewer --partitions",
                )

    def _is_cold(self, process: JobProcess) -> bool:
        """Whether the process must be warmed for the trial; after it, it need not be."""
        cold = process.warmth.is_cold_for(self.trial)
        process.warmth.add(self.trial)
        return cold and self.planned.settling_s > 0

    def run_job(self, process: JobProcess, *where: Any, **more: Any) -> JobHandle:
        """Start a job and return when it runs."""
        handle = process.run(self._job(*where, **more))
        while handle.started is None:
            self.look(process, handle)
        return handle

    def _job(
        self,
        name: str,
        inputs: dict[str, InputTopic],
        outputs: dict[str, str],
        settings: Mapping[str, str] | None = None,
        dead_letters: str | None = None,
    ) -> Job:
        between = {cut: self.topics.make(f"{name}-between-{cut}") for cut in self.application.cuts}
        options = self.lab.cluster.spark_options()
        return Job(
            application=self.trial.found_at,
            engine=self.trial.engine,
            inputs=inputs,
            outputs=outputs,
            between=between,
            bootstrap=options.pop("kafka.bootstrap.servers"),
            kafka_options=options,
            checkpoint=self.checkpoints.of(name),
            status_path=str(self.folder / f"status-{name}.jsonl"),
            parameters=self.trial.parameters,
            settings={**self.trial.settings, **(settings or {})},
            stop_after=self.trial.stop_after,
            tables={table: str(table_path(self.folder, table)) for table in self.application.tables},
            dead_letters=dead_letters,
            sink=self.trial.sink,
            described=self.engine.described(self.application, self.trial.parameters),
        )

    def _wait_for_end(self, process: JobProcess, handle: JobHandle, done: Conducted, show: Callable[[], None]) -> None:
        """The end (BO21): all input committed and the output silent for a stated time.

        The input has its final length by now, so until all is committed the log is not asked for anything.
        """
        while self.drill.broker_hit:
            self.look(process, handle)
        lengths = {where.topic: self.lab.cluster.end_offsets(where.topic) for where in done.inputs.values()}
        ends: dict[str, dict[int, int]] = {}
        silent_since: float | None = None
        try:
            while silent_since is None or time.monotonic() - silent_since < SILENCE_S:
                self.look(process, handle)
                show()
                if self.drill.went_down:
                    done.ended_in_time, ends = False, self._output_ends(done)
                    break
                if self.drill.broker_hit:
                    continue
                if silent_since is not None or handle.consumed(
                    lambda topic: lengths.get(topic) or self.lab.cluster.end_offsets(topic)
                ):
                    now = self._output_ends(done)
                    if silent_since is None or now != ends:
                        ends, silent_since = now, time.monotonic()
        except _TrialTimeoutError:
            ends = self._output_ends(done)
            if not any(sum(e.values()) for e in ends.values()):
                raise
            done.ended_in_time = done.output_still_growing = silent_since is not None
        self.stop_job(process, handle)
        done.progress, done.commits = handle.progress, commits_of(handle.attempts, done.inputs)
        done.scheduler, done.left_tables = left_by(handle.attempts, self.folder)
        done.end = {
            "rule": f"all input committed and the output silent for {SILENCE_S:g} s",
            "reached": done.ended_in_time and not done.output_still_growing,
            "silence_s": SILENCE_S,
            "output_records": sum(sum(e.values()) for e in ends.values()),
        }

    def _output_ends(self, done: Conducted) -> dict[str, dict[int, int]]:
        ends = {place: self.results.ends(place) for place in done.outputs.values()}
        letters = done.dead_letters
        return {**ends, letters: self.lab.cluster.end_offsets(letters)} if letters else ends

    def stop_job(self, process: JobProcess, handle: JobHandle) -> None:
        """End a job and return when it has ended."""
        process.stop_job()
        deadline = time.monotonic() + 60
        while not handle.stopped and handle.failure is None:
            handle.hear()
            if not process.alive() or time.monotonic() > deadline:
                raise EngineError(f"{self.trial.engine} did not stop: {process.last_words()}")
            time.sleep(POLL_S / 2)

    def look(self, process: Any, handle: Any) -> None:
        """Wait a moment; raise when something has died or the time is up."""
        time.sleep(POLL_S)
        if not self.drill.broker_away:
            self.lab.check_log()
        if handle is not None:
            known = len(handle.decisions)
            handle.hear()
            self._show_decisions(handle.decisions[known:])
            handle.raise_failure()
        if process is not None and process is not self.drill.job and not process.alive():
            raise EngineError(
                f"the job process of {self.trial.engine} died: {process.last_words()}",
                "Other trials go on; see the engine's own documentation for the cause",
            )
        if not self.drill.breaks("publisher"):
            self.publishers.raise_failure()
        if time.monotonic() > self.deadline:
            raise _TrialTimeoutError(
                f"the trial did not end within {self.planned.timeout_s:.0f} s beyond its schedule",
                "Give a longer --timeout, fewer events or a lower rate",
            )

    def _show_decisions(self, decisions: list[dict[str, Any]]) -> None:
        if self.lab.verbose:
            for decision in decisions:
                self.lab.note(f"{self.trial.title}: {decision['words']}")

    def make_inputs(self, label: str = "") -> dict[str, InputTopic]:
        """A topic for each input, or the one that an earlier trial has filled; with a label always new ones."""
        inputs: dict[str, InputTopic] = {}
        for position, name in enumerate(self.application.inputs):
            found = self.lab.prepared.get(self.events[name]) if not label and self._may_be_prepared else None
            topic = found.topic if found is not None else self.topics.make(f"{label}in-{name}")
            inputs[name] = InputTopic(topic, position * self.trial.partitions)
        return inputs

    @property
    def _may_be_prepared(self) -> bool:
        """Whether an earlier trial's topic will do: not where the log itself is to be broken."""
        return self.load.job_starts_at_s is None and not self.drill.breaks_the_log

    def make_topics(self, label: str) -> dict[str, str]:
        """A place for each output."""
        return {o.stage: self.topics.make_place(f"{label}-{o.stage}") for o in self.application.leaf_outputs()}


def _starting_ms(handle: Any) -> int:
    return int(handle.started["starting_ms"])


class _TrialTimeoutError(EngineError):
    """The time of one trial is up."""
