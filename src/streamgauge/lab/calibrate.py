"""A calibration from real trials: both paradigms of an application, pinned in turn, in one warm job process.

PD is the drain rate of the data stream, PO and the fixed times are a line through the times of micro-batches of
different sizes, t_dt is the median latency at a low rate, λ of a stage the outputs of the pipeline that ends there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from streamgauge.engines import get_engine
from streamgauge.engines.spark.adaptive_engine import PINNED, AdaptiveEngine, is_chain
from streamgauge.engines.spark.observing import batch_seen
from streamgauge.lab.environment import Laboratory
from streamgauge.lab.planning import plan_trials, resolved
from streamgauge.lab.request import DEFAULT_TIMEOUT_S, Listener, Plan, PlannedTrial, RunRequest
from streamgauge.lab.run import check_before, conduct_trial, laboratory_of
from streamgauge.load import parse_load
from streamgauge.load.spelling import rate_text
from streamgauge.model import Application, EngineError, Trial, UserError
from streamgauge.model.units import parse_duration_s
from streamgauge.paradigms.calibration import Calibration, MeasuredPoint, SegmentCalibration
from streamgauge.paradigms.equations import ASSUMED_K, SegmentFigures, assumed_figures
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.smoothing import BatchSeen, BatchTimes
from streamgauge.provision.machine import describe_machine
from streamgauge.store.run_store import RunStore, RunWriter

ENGINE = "spark-adaptive"
SHARES = (0.5, 0.9)
"""Of PD: rates at which both paradigms are measured beside the low one, to hold a prediction against."""
BATCHES = 12
"""Micro-batches that the events of the drain are read in."""
LONGEST_PAUSE_S = 2.0
STAGE_EVENTS = 20_000
WORDS = {Paradigm.DATA_STREAM: "data", Paradigm.OPERATION_STREAM: "operation"}


@dataclass(frozen=True)
class CalibrateRequest:
    """Which application, and how much of it is run."""

    application: str
    rate_per_s: float = 500.0
    """The low rate, over all inputs together."""
    for_s: float = 15.0
    events: int = 300_000
    """Events of a drain, of each input."""
    seed: int = 1
    partitions: int | None = None
    place: str = RunRequest.place
    parameters: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    kafka: str | None = None
    kafka_config: Path | None = None
    out: Path = Path("runs")
    timeout_s: float = DEFAULT_TIMEOUT_S
    command: str = ""


@dataclass(frozen=True)
class Ran:
    """A trial of a calibration: the paradigm that it was pinned to, its record, and the progress of its batches."""

    paradigm: Paradigm
    record: Mapping[str, Any]
    progress: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Calibrated:
    """Where a calibration is stored, and what it says."""

    run: str
    path: Path
    calibration: Calibration


def calibrate(request: CalibrateRequest, listener: Listener) -> Calibrated:
    """Measure both paradigms of an application and store it, with its trials, as one run."""
    application = resolved(request.application, None)
    _check(application, request)
    calibrating = _Calibrating(request, application, listener)
    plan = Plan((), request.kafka, request.kafka_config, request.out, command=request.command)
    check_before(Plan((calibrating.drain(Paradigm.DATA_STREAM),), request.kafka, request.kafka_config, request.out))
    writer = RunStore(request.out).create(command=request.command, machine=describe_machine(), trials=0)
    listener.planned(writer.id, [])
    with laboratory_of(plan, writer, listener) as lab:
        found = calibrating.measure(lab, writer)
        writer.add_calibration(found.as_dict())
        writer.describe(trials=calibrating.number)
    return Calibrated(writer.id, writer.folder, found)


def _check(application: Application, request: CalibrateRequest) -> None:
    engine = get_engine(ENGINE)
    assert isinstance(engine, AdaptiveEngine)
    _, segments = engine.plan(application, {**request.settings, "cuts": "none"})
    for segment in segments:
        if segment.pinned is not None:
            raise UserError(
                f"'{application.name}' stays in the {segment.pinned.value}, so there is nothing to choose: "
                f"{segment.reason}",
                "Calibrate an application that both paradigms can run",
            )
    if request.for_s <= 0 or request.events < BATCHES or request.rate_per_s <= 0:
        raise UserError("a calibration needs events, a rate and a time above 0", f"Give at least {BATCHES} events")


class _Calibrating:
    """The trials of one calibration, one after another."""

    def __init__(self, request: CalibrateRequest, application: Application, listener: Listener) -> None:
        self._request, self._application, self._listener = request, application, listener
        self.number = 0

    def drain(self, paradigm: Paradigm, stop_after: str | None = None, events: int | None = None) -> PlannedTrial:
        """A preloaded trial; that of micro-batches in bounded ones, so that there are several to fit a line through."""
        settings = {}
        if paradigm is Paradigm.OPERATION_STREAM:
            settings = {"max-offsets-per-trigger": str(math.ceil(self._request.events / BATCHES))}
        return self._planned(paradigm, "preloaded", stop_after, settings, events=events or self._request.events)

    def paced(self, paradigm: Paradigm, rate_per_s: float) -> PlannedTrial:
        """A trial at a constant rate over all inputs together."""
        load = f"constant:{rate_text(rate_per_s / len(self._application.inputs))}"
        return self._planned(paradigm, load, None, {}, for_s=self._request.for_s)

    def measure(self, lab: Laboratory, writer: RunWriter) -> Calibration:
        """Run what is needed; the later rates follow from the speed that was found first."""
        data, operation = Paradigm.DATA_STREAM, Paradigm.OPERATION_STREAM
        low = self._request.rate_per_s
        ran = [self._run(lab, writer, p, self.paced(p, low)) for p in (data, operation)]
        drained = {p: self._run(lab, writer, p, self.drain(p)) for p in (data, operation)}
        speed = _rate(drained[data].record)
        for paradigm in (data, operation):
            ran += [self._run(lab, writer, paradigm, self.paced(paradigm, round(speed * s))) for s in SHARES]
        stages = {}
        for name in _checkable(self._application):
            last = name == self._application.stages[-1].name
            planned = self.drain(data, None if last else name, min(STAGE_EVENTS, self._request.events))
            stages[name] = self._run(lab, writer, data, planned)
        return calibration_of(self._application, ran, drained, stages, self._conditions())

    def _planned(
        self, paradigm: Paradigm, load: str, stop_after: str | None, settings: Mapping[str, str], **size: Any
    ) -> PlannedTrial:
        kept = resolved(self._request.application, stop_after).stages
        pins = {f"{PINNED}{stage.name}": WORDS[paradigm] for stage in kept}
        (planned,) = plan_trials(
            RunRequest(
                applications=(self._request.application,),
                engines=(ENGINE,),
                load=load,
                seed=self._request.seed,
                partitions=self._request.partitions,
                place=self._request.place,
                parameters=self._request.parameters,
                settings={**self._request.settings, "cuts": "none", "standby": "off", **pins, **settings},
                stop_after=stop_after,
                kafka_config=self._request.kafka_config,
                out=self._request.out,
                timeout_s=self._request.timeout_s,
                **size,
            )
        )
        return planned

    def _run(self, lab: Laboratory, writer: RunWriter, paradigm: Paradigm, planned: PlannedTrial) -> Ran:
        self.number += 1
        planned = replace(planned, trial=replace(planned.trial, repeat=self.number))
        record = conduct_trial(lab, planned, self.number, self._listener, writer, False)
        self._listener.finished(self.number, planned.trial, record)
        if record["status"] != "done":
            error = record["error"] or record["gap"] or {}
            raise EngineError(f"{_title(planned.trial)} failed: {error.get('cause', error.get('reason', '?'))}")
        if not record["verdict"]["correct"]:
            raise EngineError(f"{_title(planned.trial)} gave a wrong answer, so it is no calibration")
        file = writer.folder / "trials" / f"{self.number:03d}" / "progress.jsonl"
        return Ran(paradigm, record, [json.loads(line) for line in file.read_text().splitlines()])

    def _conditions(self) -> dict[str, Any]:
        request = self._request
        return {
            "engine": ENGINE,
            "settings": dict(request.settings),
            "parameters": dict(request.parameters),
            "partitions": request.partitions,
            "place": request.place,
            "events": request.events,
            "batch_duration_s": parse_duration_s(get_engine(ENGINE).resolve(request.settings)["batch-duration"]),
        }


def calibration_of(
    application: Application,
    paced: Sequence[Ran],
    drained: Mapping[Paradigm, Ran],
    stages: Mapping[str, Ran],
    conditions: Mapping[str, Any],
) -> Calibration:
    """A calibration from the trials that were run for it; of `paced` the first of each paradigm is at the low rate."""
    speed = _rate(drained[Paradigm.DATA_STREAM].record)
    low = next(each for each in paced if each.paradigm is Paradigm.DATA_STREAM).record["latency_ms"]
    assumed = assumed_figures()
    known = SegmentFigures(
        data_per_s=speed,
        operation_per_s=speed / ASSUMED_K,
        schedule_s=assumed.schedule_s,
        operation_transfer_s=assumed.operation_transfer_s,
        data_transfer_s=max(low["p50"], 1.0) / 1000,
    )
    times = BatchTimes(known)
    # The last batches count most: those of the low rate tell the fixed time, the large ones of the drain the speed.
    operation = [r for r in reversed(paced) if r.paradigm is Paradigm.OPERATION_STREAM]
    operation.append(drained[Paradigm.OPERATION_STREAM])
    for batch in (batch for each in operation for batch in _batches(each)):
        times.look(batch)
    if not times.measured:
        raise EngineError("the micro-batches told no times, so nothing can be calibrated", "Give more --events")
    segment = SegmentCalibration(
        name=application.stages[-1].name,
        magnifications=_magnifications(application, stages),
        figures=times.fitted(known),
        pause_s=min(LONGEST_PAUSE_S, max(0.0, ((low.get("max") or low["p50"]) - low["p50"]) / 1000)),
        pause_every_s=float(conditions.get("batch_duration_s") or 10.0),
    )
    return Calibration(
        application.name, (segment,), tuple(_point(each, len(application.inputs)) for each in paced), conditions
    )


def _magnifications(application: Application, stages: Mapping[str, Ran]) -> dict[str, float]:
    """Stage → λ; a stage whose rows cannot be seen counts as 1, and the next that can with both."""
    found: dict[str, float] = {}
    before = 1.0
    for stage in application.stages:
        ran = stages.get(stage.name)
        if ran is None:
            found[stage.name] = 1.0
            continue
        outputs, events = ran.record["end"]["output_records"], ran.record["log"]["events"]
        after = outputs / events if events else before
        found[stage.name] = after / before if before > 0 else 1.0
        before = after
    return found


def _batches(ran: Ran) -> list[BatchSeen]:
    # The first batches of a query load and compile.
    return [batch_seen(each) for each in ran.progress if int(each.get("batchId", 0)) > 0]


def _point(ran: Ran, inputs: int) -> MeasuredPoint:
    record, latency = ran.record, ran.record["latency_ms"]
    rate_per_s = parse_load(record["load"]).rate_per_s(0.0) * inputs
    for_s = record["measured_events"] / rate_per_s
    return MeasuredPoint(ran.paradigm, rate_per_s, for_s, float(latency["p50"]), latency.get("p99"))


def _rate(record: Mapping[str, Any]) -> float:
    rate = (record["throughput"] or {}).get("events_per_s")
    if not rate:
        raise EngineError("a drain told no rate", "Give more --events")
    return float(rate)


def _checkable(application: Application) -> list[str]:
    """Stages whose rows can be counted by ending the pipeline there; none of a graph with branches."""
    if not is_chain(application):
        return []
    outputs = {output.stage for output in application.outputs}
    return [stage.name for stage in application.stages if stage.name in outputs]


def _title(trial: Trial) -> str:
    return f"{trial.title}{f' up to {trial.stop_after}' if trial.stop_after else ''}"
