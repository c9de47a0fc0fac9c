"""What each operator of an application is and costs (BO17), and the instances that follow from it (BO18)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from streamgauge.lab.conduct import Conductor
from streamgauge.lab.conducted import Conducted
from streamgauge.lab.environment import Laboratory
from streamgauge.lab.planning import plan
from streamgauge.lab.request import DEFAULT_TIMEOUT_S, PlannedTrial, RunRequest
from streamgauge.lab.space import needed_bytes
from streamgauge.measure.characterisation import batch_table, configurations, operators, overhead_ms, remarks
from streamgauge.measure.published_instances import SOURCE, published_instances
from streamgauge.model import Trial, UserError
from streamgauge.provision.java import find_java
from streamgauge.provision.machine import describe_machine
from streamgauge.provision.work import check_space, work_root
from streamgauge.store.records import SCHEMA
from streamgauge.store.run_store import RunStore

ENGINE = "spark-microbatch"
"""Its batches tell rows and times; a real-time batch tells nothing until it ends."""
DEFAULT_EVENTS = 100_000
DEFAULT_BATCHES = 20
LEAST_BATCHES = 3


@dataclass(frozen=True)
class CharacterizeRequest:
    """Which application, and over how many events and batches its operators are measured."""

    application: str
    events: int = DEFAULT_EVENTS
    batches: int = DEFAULT_BATCHES
    seed: int = 1
    partitions: int | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    kafka: str | None = None
    kafka_config: Path | None = None
    out: Path = Path("runs")
    timeout_s: float = DEFAULT_TIMEOUT_S
    command: str = ""


class Steps(Protocol):
    """Hears how far a characterisation is."""

    def step(self, what: str, done: float, total: float) -> None:
        """`done` of `total` is behind; `what` is being done."""
        ...

    def note(self, text: str) -> None:
        """Something a person should know, in one line."""
        ...


@dataclass(frozen=True)
class Characterised:
    """Where a characterisation is stored, and what it says."""

    run: str
    path: Path
    document: dict[str, Any]


def characterize(request: CharacterizeRequest, listener: Steps) -> Characterised:
    """Measure every operator of an application and store it as a run of its own."""
    asked = _run_request(request)
    (trial,) = plan(asked)
    check_space(work_root(), needed_bytes([trial]))
    find_java()
    writer = RunStore(request.out).create(command=request.command, machine=describe_machine(), trials=0)
    status = "failed"
    try:
        with Laboratory(writer.id, listener.note, request.kafka, request.kafka_config) as lab:
            writer.describe(log=lab.describe_log())
            conductor = CutConductor(lab, PlannedTrial(trial, timeout_s=request.timeout_s), listener)
            samples = conductor.samples()
            writer.describe(versions={"spark": conductor.engine_version})
            document = characterisation(trial, request.batches, conductor.application.papers, samples)
            writer.add_characterisation(document, batch_table(samples))
        status = "complete"
    except KeyboardInterrupt:
        status = "interrupted"
        raise
    finally:
        writer.finish(status)
        if status != "complete":
            writer.discard()
    return Characterised(writer.id, writer.folder, document)


class CutConductor(Conductor):
    """Publishes an application's input and lets the job process run its cuts over it."""

    def __init__(self, lab: Laboratory, planned: PlannedTrial, listener: Steps) -> None:
        super().__init__(lab, planned, 1, listener.step)
        self._listener = listener
        self.engine_version = ""

    def samples(self) -> list[dict[str, Any]]:
        """The samples of every cut, in the order in which they were taken."""
        done = self._prepared()
        try:
            for name, where in done.inputs.items():
                self.publishers.start(name, where.topic, self.load)
            self.wait_until_published("publishing")
            self.publishers.collect()
            return self._run_cuts(done)
        finally:
            self.publishers.stop()
            self.checkpoints.remove()
            if not self.lab.broker:
                self.clean_up()

    def _run_cuts(self, done: Conducted) -> list[dict[str, Any]]:
        self._listener.step(f"starting {self.trial.engine}", 0, 0)
        process = self._process(done)
        self.engine_version = str(process.facts.get("version", ""))
        handle = process.characterize(self._job("cuts", done.inputs, done.outputs))
        while not handle.stopped:
            self.look(process, handle)
            steps = [each for each in handle.samples if each["what"] == "step"]
            if steps:
                self._listener.step(steps[-1]["name"], steps[-1]["done"], steps[-1]["steps"])
        return handle.samples


def characterisation(trial: Trial, batches: int, papers: tuple[str, ...], samples: list[Any]) -> dict[str, Any]:
    """The document of a characterisation, from its samples."""
    found = operators(samples)
    published = published_instances(papers)
    return {
        "schema": SCHEMA,
        "application": trial.application,
        "file": trial.file,
        "engine": trial.engine,
        "events": trial.events,
        "batches": batches,
        "seed": trial.seed,
        "partitions": trial.partitions,
        "parameters": dict(trial.parameters),
        "settings": dict(trial.settings),
        "overhead_ms": overhead_ms(samples),
        "operators": found,
        "configurations": configurations(found),
        "published": published
        and {"source": SOURCE, "application": published.application, "instances": dict(published.instances)},
        "remarks": remarks(found),
    }


def _run_request(request: CharacterizeRequest) -> RunRequest:
    if request.batches < LEAST_BATCHES:
        raise UserError(f"--batches must be at least {LEAST_BATCHES}", "Times are quantiles over batches")
    if request.events < request.batches:
        raise UserError("--events must not be less than --batches", "Every batch needs an event")
    limits = {
        "max-offsets-per-trigger": str(math.ceil(request.events / request.batches)),
        "spark.sql.streaming.numRecentProgressUpdates": str(2 * request.batches + 100),
    }
    return RunRequest(
        applications=(request.application,),
        engines=(ENGINE,),
        load="preloaded",
        events=request.events,
        seed=request.seed,
        partitions=request.partitions,
        parameters=request.parameters,
        settings={**request.settings, **limits},
        data=request.data,
        kafka=request.kafka,
        kafka_config=request.kafka_config,
        out=request.out,
        timeout_s=request.timeout_s,
        command=request.command,
    )
