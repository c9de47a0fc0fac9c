"""The search on real trials: every probe is a stored trial at a constant rate, all in one warm job process."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from streamgauge.engines import get_engine
from streamgauge.lab.environment import Laboratory
from streamgauge.lab.planning import plan_trials, resolved
from streamgauge.lab.request import THOROUGH_SETTLING_S, Listener, Plan, PlannedTrial, RunRequest
from streamgauge.lab.run import check_before, conduct_trial, discard_trial, laboratory_of, log_is_gone
from streamgauge.lab.search import SearchRange, SearchResult, rounded, search
from streamgauge.load.spelling import rate_text
from streamgauge.measure.sustainability import OSPBENCH, Objective, ProbeOutcome, judge_probe, parse_slo, probe_series
from streamgauge.model import EngineError, LogError, Trial, UserError
from streamgauge.model.errors import EXIT_OK, EXIT_THRESHOLD, EXIT_WRONG_ANSWER
from streamgauge.model.units import parse_duration_s
from streamgauge.provision.machine import describe_machine
from streamgauge.store.run_store import RunStore, RunWriter
from streamgauge.store.stored_run import StoredRun

LEAST_PROBE_S = 30.0
"""Over less, a slope is hardly told from the way that batches come and go."""
DEFAULT_WARMUP_S = 5.0
WARMING_EVENTS = 50_000
"""Drained again and again before the first probe: at a low rate a process would stay cold for many probes."""
WARMING_TIMEOUT_S = 600.0
FIRST_SHARE = 0.5
"""Of what the warm process drains: a rate below the edge, from which few doublings lead to it."""
DEFAULT_TIMEOUT_S = 60.0
"""An engine that has fallen so far behind does not hold the rate; more need not be waited for."""


@dataclass(frozen=True)
class SearchRequest:
    """Whose sustainable rate is looked for, by which objective, and where."""

    application: str
    engine: str
    slo: str = OSPBENCH
    gates_cpu: bool = False
    where: SearchRange = field(default_factory=SearchRange)
    finds_start: bool = False
    """Whether the first rate is a share of what the warm process drains of a full log, where that is known."""
    for_s: float = LEAST_PROBE_S
    warmup_s: float = DEFAULT_WARMUP_S
    seed: int = 1
    partitions: int | None = None
    place: str = RunRequest.place
    parameters: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    stop_after: str | None = None
    kafka: str | None = None
    kafka_config: Path | None = None
    out: Path = RunRequest.out
    timeout_s: float = DEFAULT_TIMEOUT_S
    command: str = ""


class ProbeListener(Listener, Protocol):
    """Hears also what each probe says."""

    def probed(self, number: int, outcome: ProbeOutcome) -> None:
        """Probe `number` (from 1) has been judged."""
        ...


@dataclass(frozen=True)
class SearchOutcome:
    """Where a search is stored, what it found, and the exit code it deserves."""

    run: str
    path: Path
    result: SearchResult
    records: tuple[dict[str, Any], ...]
    exit_code: int


def conduct_search(request: SearchRequest, listener: ProbeListener) -> SearchOutcome:
    """Search on real trials and store them, each probe as a trial, as one run."""
    slo = parse_slo(request.slo, request.gates_cpu)
    first = planned_probe(request, request.where.start_per_s, 1)
    if first.gap is not None:
        raise UserError(f"{request.engine} cannot run {request.application}: {first.gap.reason}")
    plan = Plan((), request.kafka, request.kafka_config, request.out, command=request.command)
    check_before(Plan((first,), request.kafka, request.kafka_config, request.out))
    writer = RunStore(request.out).create(
        command=request.command, machine=describe_machine(), trials=0, search=described(request, slo)
    )
    listener.planned(writer.id, [])
    with laboratory_of(plan, writer, listener) as lab:
        prober = _Prober(request, slo, lab, writer, listener)
        if request.warmup_s > 0:
            request = begun_from(request, prober.warm_up(first.trial))
        result = search(prober.probe, request.where)
        writer.describe(trials=len(prober.records), search={**described(request, slo), **result.as_dict()})
    return SearchOutcome(writer.id, writer.folder, result, tuple(prober.records), exit_code(result))


def begun_from(request: SearchRequest, drained_per_s: float | None) -> SearchRequest:
    """The request with the first rate that a drain at this one suggests, where it leaves that open."""
    if not request.finds_start or not drained_per_s:
        return request
    where = request.where
    start_per_s = min(max(rounded(FIRST_SHARE * drained_per_s), where.least_per_s), where.most_per_s)
    return replace(request, where=replace(where, start_per_s=start_per_s))


def planned_probe(request: SearchRequest, rate_per_s: float, repeat: int) -> PlannedTrial:
    """The trial that probes a rate of events over all inputs together."""
    inputs = len(resolved(request.application, request.stop_after).inputs)
    paced = {"load": f"constant:{rate_text(rate_per_s / inputs)}", "for_s": request.for_s}
    planned = _planned(request, **paced, warmup_s=request.warmup_s, timeout_s=request.timeout_s)
    return replace(planned, trial=replace(planned.trial, repeat=repeat))


def planned_warming(request: SearchRequest) -> PlannedTrial:
    """The drain of a full log that leaves the process warm."""
    return _planned(request, load="preloaded", events=WARMING_EVENTS, timeout_s=WARMING_TIMEOUT_S)


def _planned(request: SearchRequest, **load: Any) -> PlannedTrial:
    (planned,) = plan_trials(
        RunRequest(
            applications=(request.application,),
            engines=(request.engine,),
            settling_s=THOROUGH_SETTLING_S,
            seed=request.seed,
            partitions=request.partitions,
            place=request.place,
            parameters=request.parameters,
            settings=request.settings,
            stop_after=request.stop_after,
            kafka_config=request.kafka_config,
            **load,
        )
    )
    return planned


def described(request: SearchRequest, slo: Objective) -> dict[str, Any]:
    """What is stored of the wish beside what was found."""
    where = request.where
    return {
        "application": request.application,
        "engine": request.engine,
        "slo": slo.text,
        "gates_cpu": slo.gates_cpu,
        "start_per_s": where.start_per_s,
        "most_per_s": where.most_per_s,
        "tolerance": where.tolerance,
        "repeats": where.repeats,
        "probe_s": request.for_s,
    }


def exit_code(result: SearchResult) -> int:
    """A wrong answer at a rate that was finished in time comes first; then whether any rate held."""
    if any("the answer is wrong" in probe.reasons for probe in result.probes):
        return EXIT_WRONG_ANSWER
    return EXIT_OK if result.rate_per_s is not None else EXIT_THRESHOLD


class _Prober:
    """Probes rates with trials of one laboratory."""

    def __init__(
        self, request: SearchRequest, slo: Objective, lab: Laboratory, writer: RunWriter, listener: ProbeListener
    ) -> None:
        self._request, self._slo, self._lab, self._writer, self._listener = request, slo, lab, writer, listener
        self.records: list[dict[str, Any]] = []
        self._times: dict[float, int] = {}

    def warm_up(self, first: Trial) -> float | None:
        """Let the process that all probes share become warm, as a part of the first; events per second that it drains.

        Rather too few, as so small a log takes hardly longer than its start.
        """
        self._listener.note(f"warming up: a log of {WARMING_EVENTS:,} events is drained until it gets no faster")
        planned = planned_warming(self._request)
        took_s = discard_trial(self._lab, planned, lambda *_: self._listener.phase(1, first, "warming up", 0, 0))
        inputs = len(resolved(self._request.application, self._request.stop_after).inputs)
        return WARMING_EVENTS * inputs / took_s if took_s else None

    def probe(self, rate_per_s: float) -> ProbeOutcome:
        """Conduct one trial at that rate, store it, and judge it."""
        self._times[rate_per_s] = self._times.get(rate_per_s, 0) + 1
        planned = planned_probe(self._request, rate_per_s, self._times[rate_per_s])
        number = len(self.records) + 1
        record = conduct_trial(self._lab, planned, number, self._listener, self._writer, keep=False)
        self.records.append(record)
        self._listener.finished(number, planned.trial, record)
        self._raise_what_ends_the_search(record)
        series = None
        if record["status"] == "done":
            stored = StoredRun.open(self._writer.folder)
            interval_s = batch_interval_s(planned, stored.folder / "trials" / f"{number:03d}" / "progress.jsonl")
            tables = (stored.table(number, "latency"), stored.table(number, "throughput"))
            series = probe_series(*tables, rate_per_s, interval_s)
        outcome = judge_probe(rate_per_s, record, series, self._slo)
        self._listener.probed(number, outcome)
        return outcome

    def _raise_what_ends_the_search(self, record: Mapping[str, Any]) -> None:
        if log_is_gone(self._lab):
            raise LogError("the broker is gone", "The probes so far are stored; search again")
        error = record.get("error") or {}
        if record["status"] == "failed" and error.get("kind") not in (EngineError.__name__, LogError.__name__):
            raise UserError(str(error.get("cause")), str(error.get("way_out") or ""))


def batch_interval_s(planned: PlannedTrial, progress: Path) -> float:
    """The time from batch to batch, where an engine has a trigger: what is asked for, or what batches took."""
    values = get_engine(planned.trial.engine).resolve(planned.trial.settings)
    if "trigger" not in values:
        return 0.0
    took_ms = [json.loads(line).get("durationMs", {}).get("triggerExecution", 0) for line in _lines(progress)]
    busy_s = statistics.median(took_ms) / 1000 if took_ms else 0.0
    return max(parse_duration_s(values["trigger"]), busy_s)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
