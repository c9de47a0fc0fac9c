"""One trial, from empty topics to the moment when its outputs are complete."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamgauge.engines import get_engine
from streamgauge.lab.environment import Laboratory
from streamgauge.lab.inputs import PreparedInput, input_events
from streamgauge.lab.job_process import JobHandle, JobProcess
from streamgauge.lab.planning import publishing_load, resolved
from streamgauge.lab.publishers import TrialPublishers
from streamgauge.lab.request import PlannedTrial
from streamgauge.lab.results import results_of
from streamgauge.lab.stored_tables import table_path, write_tables
from streamgauge.load import parse_load
from streamgauge.load.specification import PublisherResult
from streamgauge.model import Application, EngineError, Load
from streamgauge.model.job import DEAD_LETTERS, InputTopic, Job
from streamgauge.places import parse_place
from streamgauge.watch.sampler import Sampler

POLL_S = 0.1
SILENCE_S = 1.0
"""Outputs must not have grown for this long, after all input was committed, before a trial ends."""
COLD_PASS_S = 8.0
"""A process that has run nothing yet runs the job at the trial's own load for this long, its outputs thrown away."""
COLD_PASS_MOST_EVENTS = 200_000

Phase = Callable[[str, float, float], None]


@dataclass
class Conducted:
    """What a trial left in the log, and what was seen on the way."""

    application: Application
    load: Load
    inputs: dict[str, InputTopic]
    outputs: dict[str, str]
    tables: dict[str, Path] = field(default_factory=dict)
    """Stored table → the file that holds its rows."""
    dead_letters: str | None = None
    publishers: dict[str, PublisherResult] = field(default_factory=dict)
    reused_inputs: list[str] = field(default_factory=list)
    """Inputs that an earlier trial of the run had published."""
    lateness_paths: list[Path] = field(default_factory=list)
    resources: Any = None
    watching_cpu_s: float = 0.0
    progress: list[dict[str, Any]] = field(default_factory=list)
    job_started_ms: int = 0
    ended_in_time: bool = True
    output_still_growing: bool = False
    discarded_pass: bool = False
    jobs_before: int = 0
    engine_facts: dict[str, Any] = field(default_factory=dict)
    end: dict[str, Any] = field(default_factory=dict)
    scheduler: dict[str, Any] = field(default_factory=dict)
    """What an engine that decides by itself did."""
    left_tables: dict[str, Path] = field(default_factory=dict)
    """What it saw and why it decided so: table → file."""


class Conductor:
    """Conducts one trial in a laboratory."""

    def __init__(self, lab: Laboratory, planned: PlannedTrial, number: int, phase: Phase) -> None:
        self.lab, self.planned, self.phase = lab, planned, phase
        self.trial, self.warmup_s = planned.trial, planned.warmup_s
        self.prefix = f"streamgauge-{lab.run}-{number:03d}"
        self.folder = lab.folder / f"trial-{number:03d}"
        self.folder.mkdir()
        self.engine = get_engine(self.trial.engine)
        self.application = self.engine.cut(resolved(self.trial.found_at, self.trial.stop_after), self.trial.settings)
        self.load = publishing_load(self.trial.load, self.warmup_s)
        self.deadline = time.monotonic() + planned.timeout_s + self._schedule_s()
        self.topics: list[str] = []
        self.results = results_of(lab.cluster, self.trial.sink)
        self._places: list[str] = []
        self.sampler = Sampler()
        self.events = input_events(self.trial, self.application)
        self.publishers = TrialPublishers(lab, self.trial, self.events, self.folder, self.sampler, self.warmup_s)

    def _schedule_s(self) -> float:
        """How long publishing takes by the schedule, which the time-out does not count."""
        return float(self.load.due_s([self.trial.events - 1])[0]) + (COLD_PASS_S if self.warmup_s else 0.0)

    def conduct(self) -> Conducted:
        """Publish, run, wait for the end; topics stay until `clean_up`."""
        self.phase("preparing", 0, 0)
        done = self._prepared()
        if self.trial.dead_letters:
            done.dead_letters = self._make_topic(DEAD_LETTERS)
        if self.lab.broker is not None:
            self.sampler.add("broker", self.lab.broker.pid)
        self.sampler.start()
        try:
            if self.load.job_starts_at_s is None:
                self._conduct_preloaded(done)
            else:
                self._conduct_paced(done)
        finally:
            self.publishers.stop()
            done.resources = self.sampler.stop()
            done.watching_cpu_s = self.sampler.own_cost_s
        return done

    def _prepared(self) -> Conducted:
        tables = write_tables(self.application, self.trial.data, self.folder)
        return Conducted(self.application, self.load, self._make_inputs(), self._make_topics("out"), tables)

    def clean_up(self) -> None:
        """Delete the trial's topics, and its results where they lie elsewhere."""
        self.lab.cluster.delete_topics(self.topics)
        self.results.drop(self._places)
        self.topics.clear()
        self._places.clear()

    def _conduct_preloaded(self, done: Conducted) -> None:
        process = self._process(done) if self.publishes_at_place else None
        self._prepare(done, process)
        process = process or self._process(done)
        if self._is_cold(process):
            self._discarded_pass(process, done.inputs)
            done.discarded_pass = True
        handle = self._run_job(process, "measured", done.inputs, done.outputs, dead_letters=done.dead_letters)
        self._note_start(done, handle)
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
        if self.lab.prepared.enabled:
            for name, where in done.inputs.items():
                if where.topic in self.topics:
                    self.topics.remove(where.topic)
                    self.lab.prepared.keep(self.events[name], PreparedInput(where.topic, done.publishers[name]))

    def wait_until_published(self, phase: str, process: JobProcess | None = None) -> None:
        """Return when the publishers have ended; `process` is where they publish, if it is not one of their own."""
        while not self.publishers.all_ended():
            self._look(process, None)
            self._show_published(phase)

    def _note_published(self, done: Conducted) -> None:
        done.lateness_paths = self.publishers.lateness_paths()
        done.publishers.update(self.publishers.collect())

    def _show_published(self, phase: str) -> None:
        self.phase(phase, self.publishers.published(), self.trial.events * len(self.application.inputs))

    def _conduct_paced(self, done: Conducted) -> None:
        process = self._process(done)
        starts_at_s = self.load.job_starts_at_s or 0.0
        if process.jobs == 0 and self.planned.discards:
            self._discarded_time(process)
            done.discarded_pass = True
        handle: JobHandle | None = None
        if starts_at_s == 0:
            handle = self._run_job(process, "measured", done.inputs, done.outputs, dead_letters=done.dead_letters)
        for name, where in done.inputs.items():
            self.publishers.start(name, where.topic, self.load)
        while not self.publishers.all_ended():
            self._look(process, handle)
            elapsed_s = self.publishers.elapsed_s()
            if handle is None and elapsed_s >= starts_at_s:
                handle = self._run_job(process, "measured", done.inputs, done.outputs, dead_letters=done.dead_letters)
            self._show_published("warming up" if elapsed_s < self.warmup_s else "measuring")
        if handle is None:
            handle = self._run_job(process, "measured", done.inputs, done.outputs, dead_letters=done.dead_letters)
        self._note_published(done)
        self._note_start(done, handle)
        self._wait_for_end(process, handle, done, lambda: self.phase("draining", 0, 0))

    def _note_start(self, done: Conducted, handle: JobHandle) -> None:
        assert handle.started is not None
        done.job_started_ms = handle.started["starting_ms"]

    def _process(self, done: Conducted) -> JobProcess:
        process = self.lab.job_process(self.trial.engine, self.trial.place, self.trial.settings)
        done.jobs_before = process.jobs
        done.engine_facts = {k: v for k, v in process.facts.items() if k == "version"}
        for pid in (process.pid, *self.lab.worker_pids()):
            self.sampler.add("job", pid)
        return process

    def _is_cold(self, process: JobProcess) -> bool:
        if not self.planned.discards:
            return False
        what = (self.trial.found_at, self.trial.stop_after or "", *sorted(map(str, self.trial.parameters.items())))
        if what in process.warm:
            return False
        process.warm.add(what)
        return True

    def _discarded_pass(self, process: JobProcess, inputs: dict[str, InputTopic]) -> None:
        """The same job over the same input, its outputs thrown away, so that the JVM is warm."""
        outputs = self._make_topics("warm")
        handle = self._run_job(process, "warm", inputs, outputs)
        while not handle.consumed(self.lab.cluster.end_offsets):
            self._look(process, handle)
            self.phase("warming up", 0, 0)
        self._stop_job(process, handle)
        self._drop(outputs.values())

    def _discarded_time(self, process: JobProcess) -> None:
        """The same job at the same load over other events for a fixed time: what a cold JVM says is not a figure."""
        inputs, outputs = self._make_inputs("cold-"), self._make_topics("cold-out")
        handle = self._run_job(process, "cold", inputs, outputs, self.engine.warming)
        load = parse_load(self.trial.load)
        events = math.ceil(load.events_by(COLD_PASS_S + (load.job_starts_at_s or 0.0)))
        events = min(max(events, 1), COLD_PASS_MOST_EVENTS)
        for name, where in inputs.items():
            self.publishers.start_cold(name, where.topic, load, events)
        while not self.publishers.all_ended():
            self._look(process, handle)
            self.phase("warming up", 0, 0)
        self.publishers.forget()
        self._stop_job(process, handle)
        self._drop([where.topic for where in inputs.values()] + list(outputs.values()))

    def _run_job(self, process: JobProcess, *where: Any, **more: Any) -> JobHandle:
        handle = process.run(self._job(*where, **more))
        while handle.started is None:
            self._look(process, handle)
        return handle

    def _job(
        self,
        name: str,
        inputs: dict[str, InputTopic],
        outputs: dict[str, str],
        settings: Mapping[str, str] | None = None,
        dead_letters: str | None = None,
    ) -> Job:
        between = {cut: self._make_topic(f"{name}-between-{cut}") for cut in self.application.cuts}
        options = self.lab.cluster.spark_options()
        return Job(
            application=self.trial.found_at,
            engine=self.trial.engine,
            inputs=inputs,
            outputs=outputs,
            between=between,
            bootstrap=options.pop("kafka.bootstrap.servers"),
            kafka_options=options,
            checkpoint=str(self.folder / f"checkpoint-{name}"),
            status_path=str(self.folder / f"status-{name}.jsonl"),
            parameters=self.trial.parameters,
            settings={**self.trial.settings, **(settings or {})},
            stop_after=self.trial.stop_after,
            tables={table: str(table_path(self.folder, table)) for table in self.application.tables},
            dead_letters=dead_letters,
            sink=self.trial.sink,
        )

    def _wait_for_end(self, process: JobProcess, handle: JobHandle, done: Conducted, show: Callable[[], None]) -> None:
        """The end (BO21): all input committed and the output silent for a stated time.

        The input has its final length by now, so until all is committed the log is not asked for anything.
        """
        lengths = {where.topic: self.lab.cluster.end_offsets(where.topic) for where in done.inputs.values()}
        ends: dict[str, dict[int, int]] = {}
        silent_since: float | None = None
        try:
            while silent_since is None or time.monotonic() - silent_since < SILENCE_S:
                self._look(process, handle)
                show()
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
        self._stop_job(process, handle)
        done.progress = handle.progress
        done.scheduler = handle.left.get("facts") or {}
        done.left_tables = {name: Path(path) for name, path in (handle.left.get("tables") or {}).items()}
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

    def _stop_job(self, process: JobProcess, handle: JobHandle) -> None:
        process.stop_job()
        deadline = time.monotonic() + 60
        while not handle.stopped and handle.failure is None:
            handle.hear()
            if not process.alive() or time.monotonic() > deadline:
                raise EngineError(f"{self.trial.engine} did not stop: {process.last_words()}")
            time.sleep(POLL_S / 2)

    def _look(self, process: JobProcess | None, handle: JobHandle | None) -> None:
        """Wait a moment; raise when something has died or the time is up."""
        time.sleep(POLL_S)
        self.lab.check_log()
        if handle is not None:
            known = len(handle.decisions)
            handle.hear()
            self._show_decisions(handle.decisions[known:])
            handle.raise_failure()
        if process is not None and not process.alive():
            raise EngineError(
                f"the job process of {self.trial.engine} died: {process.last_words()}",
                "Other trials go on; see the engine's own documentation for the cause",
            )
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

    def _make_inputs(self, label: str = "") -> dict[str, InputTopic]:
        inputs: dict[str, InputTopic] = {}
        for position, name in enumerate(self.application.inputs):
            found = None if label or self.load.job_starts_at_s is not None else self.lab.prepared.get(self.events[name])
            topic = found.topic if found is not None else self._make_topic(f"{label}in-{name}")
            inputs[name] = InputTopic(topic, position * self.trial.partitions)
        return inputs

    def _make_topics(self, label: str) -> dict[str, str]:
        return {o.stage: self._make_place(f"{label}-{o.stage}") for o in self.application.leaf_outputs()}

    def _make_place(self, label: str) -> str:
        name = self._named(label)
        self._places.append(name)
        self.results.make(name, self.trial.partitions)
        return name

    def _make_topic(self, label: str) -> str:
        name = self._named(label)
        self.topics.append(name)
        self.lab.cluster.create_topic(name, self.trial.partitions)
        return name

    def _named(self, label: str) -> str:
        return f"{self.prefix}-{label.replace('_', '-')}"

    def _drop(self, names: Any) -> None:
        gone = set(names)
        self.lab.cluster.delete_topics([t for t in self.topics if t in gone])
        self.results.drop([p for p in self._places if p in gone])
        self.topics = [t for t in self.topics if t not in gone]
        self._places = [p for p in self._places if p not in gone]


class _TrialTimeoutError(EngineError):
    """The time of one trial is up."""
