"""From a request to its trials: everything that can be known to be wrong is said before anything starts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from streamgauge.applications import get_application, is_file
from streamgauge.engines import get_engine
from streamgauge.engines.execution import ExecutableEngine
from streamgauge.lab.checkpoint_folder import location_gap
from streamgauge.lab.fault_planning import canonical, check_faults, needs_twin, without_faults
from streamgauge.lab.request import (
    DEFAULT_MEASURED_S,
    DEFAULT_PRELOADED_EVENTS,
    DEFAULT_WARMUP_S,
    Plan,
    PlannedTrial,
    RunRequest,
)
from streamgauge.load import parse_load
from streamgauge.log.configuration import read_configuration
from streamgauge.log.result_store import open_store
from streamgauge.measure.thresholds import parse_threshold
from streamgauge.model import Application, Gap, Load, Trial, UserError, unknown
from streamgauge.places import parse_place
from streamgauge.store import RunStore
from streamgauge.store.calibrations import CALIBRATION
from streamgauge.streams.reference import check_key_skew, parse_key_skew

DEFAULT_PARTITIONS = 2


def plan(request: RunRequest) -> list[Trial]:
    """The trials of a request, in order: engine by engine, so that trials of one engine share a warm JVM."""
    return [each.trial for each in plan_trials(request)]


def plan_run(request: RunRequest) -> Plan:
    """The whole plan of a request."""
    return Plan(
        trials=tuple(plan_trials(request)),
        kafka=request.kafka,
        kafka_config=request.kafka_config,
        out=request.out,
        keep=request.keep,
        command=request.command,
        verbose=request.verbose,
    )


def plan_trials(request: RunRequest) -> list[PlannedTrial]:
    """The trials of a request with their warm-up, time-out, thresholds and gaps."""
    if not request.applications:
        raise UserError("no application was named", "Name one: streamgauge list applications shows them")
    applications = {name: resolved(name, request.stop_after) for name in request.applications}
    engines = {name: get_engine(name) for name in request.engines}
    load = parse_load(request.load)
    _check_numbers(request)
    for text in request.thresholds:
        parse_threshold(text)
    _check_data(request.data, applications.values())
    events, warmup_events = _counts(request, load)
    partitions = _partitions(request)
    parameters = _shared_out(
        request.parameters, {n: a.parameters for n, a in applications.items()}, "parameter of any named application"
    )
    settings = _settings_per_engine(_located(request.settings, request.out), engines)
    faults = canonical(request.faults)
    trials = [
        Trial(
            application=applications[name].name,
            file=str(Path(name).absolute()) if is_file(name) else None,
            engine=engine,
            load=load.spelling,
            seed=request.seed,
            events=events,
            warmup_events=warmup_events,
            place=request.place,
            repeat=repeat,
            partitions=partitions,
            stop_after=request.stop_after,
            data=_data_of(applications[name], request.data),
            malformed=request.malformed,
            key_skew=None if request.key_skew is None else f"{parse_key_skew(request.key_skew):g}",
            dead_letters=request.dead_letters or request.malformed > 0,
            sink=request.sink,
            parameters=parameters[name],
            settings=settings[engine],
            faults=faults,
            no_restart=request.no_restart,
            failure_timeout_s=request.failure_timeout_s,
        )
        for engine in engines
        for name in applications
        for repeat in range(1, request.repeat + 1)
    ]
    for trial in trials[:1]:
        published = publishing_load(load.spelling, warmup_s(request, load))
        check_faults(trial, published, warmup_s(request, load), own_broker=request.kafka is None)
    return [
        PlannedTrial(
            trial=trial,
            warmup_s=warmup_s(request, load),
            settling_s=0.0 if request.warmup_s == 0 else request.settling_s,
            timeout_s=request.timeout_s,
            thresholds=request.thresholds if trial.faults == faults else (),
            gap=_checked_gap(trial, engines[trial.engine]),
        )
        for trial in _with_twins(trials)
    ]


def _with_twins(trials: list[Trial]) -> list[Trial]:
    """Before trials that are broken at half of their time, the same ones unbroken, where nothing else tells it."""
    twins = [without_faults(trial) for trial in trials if needs_twin(trial)]
    return [*twins, *trials]


def resolved(name: str, stop_after: str | None) -> Application:
    """The application of a name or path, cut after a stage where that is asked."""
    application = get_application(name)
    return application.stopped_after(stop_after) if stop_after else application


def chosen_application(trial: Trial) -> Application:
    """The application of a trial with the variants that the user chose."""
    chosen = {k.removeprefix("variant."): v for k, v in trial.settings.items() if k.startswith("variant.")}
    return resolved(trial.found_at, trial.stop_after).with_variants(chosen)


def warmup_s(request: RunRequest, load: Load) -> float:
    """Seconds of warm-up at the trial's own load; none where a discarded pass stands in for it."""
    if load.job_starts_at_s is None or load.job_starts_at_s > 0:
        return 0.0
    return DEFAULT_WARMUP_S if request.warmup_s is None else request.warmup_s


def publishing_load(spelling: str, warmup: float) -> Load:
    """The load as it is published: the warm-up at its first rate, then the load itself."""
    return parse_load(f"warmed:{warmup:g}s:{spelling}") if warmup > 0 else parse_load(spelling)


def _counts(request: RunRequest, load: Load) -> tuple[int, int]:
    if load.job_starts_at_s is None:
        if request.for_s is not None:
            raise UserError("a preloaded trial has no duration", "Give --events N instead of --for")
        return request.events or DEFAULT_PRELOADED_EVENTS, 0
    warm = warmup_s(request, load)
    published = publishing_load(request.load, warm)
    before = math.floor(published.events_by(warm))
    if request.events:
        return before + request.events, before
    seconds = (request.for_s or DEFAULT_MEASURED_S) + load.job_starts_at_s
    total = math.floor(published.events_by(warm + seconds))
    if total <= before:
        raise UserError(f"no event is due in {seconds:g} s of {load.spelling}", "Give a longer --for or a higher rate")
    return total, before


def _partitions(request: RunRequest) -> int:
    configured = read_configuration(request.kafka_config).partitions if request.kafka_config else None
    return request.partitions or configured or DEFAULT_PARTITIONS


def _check_numbers(request: RunRequest) -> None:
    if request.events is not None and request.for_s is not None:
        raise UserError("--events and --for contradict each other", "Give one of them")
    for name, value in (("--events", request.events), ("--for", request.for_s), ("--repeat", request.repeat)):
        if value is not None and value <= 0:
            raise UserError(f"{name} must be more than 0", "An empty trial has nothing to measure")
    if request.partitions is not None and request.partitions < 1:
        raise UserError("--partitions must be at least 1")
    if request.failure_timeout_s is not None and request.failure_timeout_s <= 0:
        raise UserError("--failure-timeout must be more than 0", "Write it like 60s")
    if request.faults == () and (request.no_restart or request.failure_timeout_s is not None):
        name = "--no-restart" if request.no_restart else "--failure-timeout"
        raise UserError(f"{name} needs --fault", "Without a fault nothing is to be restarted or to fail")
    if not 0 <= request.malformed < 1:
        raise UserError(f"--malformed is a share below 1, not {request.malformed:g}", "Write it like 1% or 0.01")
    for path in request.data.values():
        if not Path(path).is_file():
            raise UserError(f"there is no file {path}", "Give --data the path of a recorded data set")
    if request.keep and not request.kafka and not request.sink:
        raise UserError(
            "--keep needs --kafka or --sink", "The embedded broker ends with the run, and its topics with it"
        )
    parse_place(request.place)
    if request.sink is not None:
        open_store(request.sink)


def slots_needed(trial: Trial, application: Application, engine: ExecutableEngine) -> int:
    """Task slots that must be free before a trial's job starts, its dead letters included."""
    partitions = trial.partitions * len(application.inputs)
    needed = engine.slots_needed(application, partitions, trial.settings)
    return needed + (partitions if trial.dead_letters else 0)


def _checked_gap(trial: Trial, engine: ExecutableEngine) -> Gap | None:
    """Why the engine cannot run the trial, or None; what is wrong with the trial itself is raised."""
    application = chosen_application(trial)
    application.bind(trial.parameters)
    if trial.key_skew is not None:
        for name, stream in application.inputs.items():
            check_key_skew(stream, trial.data.get(name))
    for name in trial.data:
        described = application.inputs.get(name) or application.tables[name]
        if described.recorded is None:
            raise UserError(f"'{described.name}' has no reader for recorded data", "Leave --data out")
    gap = engine.gap(application) or location_gap(engine.resolve(trial.settings).get("checkpoint-location", ""))
    if gap is not None:
        return gap
    place = parse_place(trial.place)
    gap = engine.place_gap(place)
    if gap is not None:
        return gap
    needed = slots_needed(trial, application, engine)
    if place.slots is not None and needed > place.slots:
        spare = f" beside the {place.spare_slots} of the worker that is kept spare" if place.spare_slots else ""
        more = f"cluster:{place.nodes + 1}" if place.embedded else f"'local[{needed}]'"
        raise UserError(
            f"{trial.application} on {trial.engine} needs {needed} task slots"
            f" and {trial.place} has {place.slots}{spare}",
            f"Use --place {more} or fewer --partitions",
        )
    gap = engine.dead_letters_gap() if trial.dead_letters else None
    return gap or (engine.sink_gap() if trial.sink else None)


def _known_data(application: Application) -> list[str]:
    return [*application.inputs, *application.tables]


def _check_data(data: Mapping[str, str], applications: Iterable[Application]) -> None:
    known = sorted({name for application in applications for name in _known_data(application)})
    for name in data:
        if name and name not in known:
            raise unknown("input or stored table", name, known)


def _data_of(application: Application, data: Mapping[str, str]) -> dict[str, str]:
    """The recorded files that an application takes, by input or table, with absolute paths."""
    found = {name: str(Path(data[name]).absolute()) for name in _known_data(application) if name in data}
    if "" in data:
        if len(application.inputs) > 1:
            names = " or ".join(f"--data {name}=FILE" for name in application.inputs)
            raise UserError(
                f"'{application.name}' has {len(application.inputs)} inputs", f"Say which is meant: {names}"
            )
        found[next(iter(application.inputs))] = str(Path(data[""]).absolute())
    return found


def _shared_out(given: Mapping[str, str], known: Mapping[str, Iterable[str]], kind: str) -> dict[str, dict[str, str]]:
    """Each name's share of the given values; a value that nobody knows is an error."""
    everybody = sorted({name for names in known.values() for name in names})
    for name in given:
        if name not in everybody:
            raise unknown(kind, name, everybody)
    return {owner: {k: v for k, v in given.items() if k in set(names)} for owner, names in known.items()}


def _located(given: Mapping[str, str], runs: Path) -> dict[str, str]:
    """The settings, with the calibration that a run's name or a file means as the file itself."""
    if not given.get("calibration"):
        return dict(given)
    file = Path(given["calibration"])
    found = file if file.is_file() else RunStore(runs).open(given["calibration"]).folder / f"{CALIBRATION}.json"
    if not found.is_file():
        raise UserError(
            f"the run '{given['calibration']}' holds no calibration", "streamgauge calibrate APPLICATION makes one"
        )
    return {**given, "calibration": str(found.absolute())}


def _settings_per_engine(
    given: Mapping[str, str], engines: Mapping[str, ExecutableEngine]
) -> dict[str, dict[str, str]]:
    known = {name: [key for key in given if engine.knows(key)] for name, engine in engines.items()}
    for key in given:
        if not any(key in names for names in known.values()):
            next(iter(engines.values())).resolve({key: given[key]})
    found = {name: {key: given[key] for key in keys} for name, keys in known.items()}
    for name, engine in engines.items():
        engine.resolve(found[name])
    return found
