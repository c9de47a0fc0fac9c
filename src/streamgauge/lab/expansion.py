"""From a suite and a scale to its trials: the product of every matrix's axes, laid out so that warm processes last."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamgauge.engines import get_engine
from streamgauge.lab.fault_planning import stretched
from streamgauge.lab.planning import plan_trials
from streamgauge.lab.request import DEFAULT_ENGINES, QUICK_SETTLING_S, THOROUGH_SETTLING_S, PlannedTrial, RunRequest
from streamgauge.lab.suite import QUICK, Matrix, Scale, Suite
from streamgauge.lab.suite_keys import AXES, TABLES
from streamgauge.load import parse_load
from streamgauge.load.scaling import longer
from streamgauge.model import UserError

DEFAULT_LOAD = RunRequest.load
SHORTEST_S = 1.0
"""A measured time that a factor makes shorter than this has nothing to tell."""


def expand(
    suite: Suite,
    scale: Scale,
    engines: Sequence[str] = (),
    kafka_config: Path | None = None,
    kafka: str | None = None,
    seeds: int | None = None,
) -> list[PlannedTrial]:
    """The trials of a suite in order, each once; only those of the engines that are named, where any are.

    Where the suite says nothing of partitions, the configuration of the log may. A log that is given has no broker
    that a fault may hit. `seeds` takes the place of several seeds by as many from 1 on.
    """
    for name in engines:
        get_engine(name)
    if seeds is not None and seeds < 1:
        raise UserError("--seeds must be at least 1")
    found: dict[str, PlannedTrial] = {}
    for matrix in (each for each in suite.matrices if scale.sizes in each.scales):
        for values in _combinations(_with_seeds(matrix.at(scale.sizes), seeds)):
            if not engines or values["engines"] in engines:
                for planned in _planned(
                    suite, matrix, scale, values, RunRequest((), kafka=kafka, kafka_config=kafka_config)
                ):
                    _add(found, planned)
    if not found:
        raise UserError(f"the suite '{suite.name}' has no trial on {', '.join(engines)}", "Leave --engine out")
    return _by_process(list(found.values()))


def _with_seeds(values: Mapping[str, Any], seeds: int | None) -> Mapping[str, Any]:
    """One seed alone is no choice of trials, and stays."""
    several = len(values.get("seeds", ())) > 1
    return {**values, "seeds": tuple(range(1, seeds + 1))} if seeds is not None and several else values


def _combinations(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the axes, with the values that are not axes."""
    rest = {key: value for key, value in values.items() if key not in AXES and key != "cases"}
    for case in values.get("cases", ({},)):
        axes: dict[str, tuple[Any, ...]] = {"engines": DEFAULT_ENGINES, "loads": (DEFAULT_LOAD,)}
        axes |= {key: values[key] for key in AXES if key in values}
        for axis, value in case.items():
            axes[axis] = tuple({**each, **value} for each in axes.get(axis, ({},))) if axis in TABLES else (value,)
        names = [axis for axis in AXES if axis in axes]
        yield from (
            rest | dict(zip(names, chosen, strict=True))
            for chosen in _sized(names, itertools.product(*(axes[name] for name in names)))
        )


def _sized(names: list[str], product: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Each combination once: `for` is nothing to a preloaded load, nor `events` to another beside `for`."""
    seen = set()
    for chosen in product:
        found = dict(zip(names, chosen, strict=True))
        if parse_load(found["loads"]).job_starts_at_s is None:
            found["for"] = None
        elif found.get("for") is not None:
            found["events"] = None
        kept = tuple(found.get(name) for name in names)
        key = repr(kept)
        if key not in seen:
            seen.add(key)
            yield kept


def _planned(
    suite: Suite, matrix: Matrix, scale: Scale, values: Mapping[str, Any], log: RunRequest
) -> list[PlannedTrial]:
    try:
        request = replace(_request(scale, values), kafka=log.kafka, kafka_config=log.kafka_config)
        planned = plan_trials(request)
    except UserError as error:
        raise UserError(f"{suite.shown}: matrix '{matrix.name}': {error.cause}", error.way_out) from None
    return [replace(each, matrices=(matrix.name,)) for each in planned]


def _request(scale: Scale, values: Mapping[str, Any]) -> RunRequest:
    events, for_s, warmup_s = values.get("events"), values.get("for"), values.get("warmup")
    faults, timeout_s = values.get("faults", ()), values.get("failure-timeout")
    return RunRequest(
        applications=(values["applications"],),
        engines=(values["engines"],),
        load=longer(parse_load(values["loads"]), scale.factor).spelling,
        events=None if events is None else max(1, round(events * scale.factor)),
        for_s=None if for_s is None else max(SHORTEST_S, for_s * scale.factor),
        warmup_s=None if warmup_s is None else warmup_s * scale.factor,
        settling_s=values.get("settling", QUICK_SETTLING_S if scale == QUICK else THOROUGH_SETTLING_S),
        seed=values.get("seeds", RunRequest.seed),
        repeat=values.get("repeats", RunRequest.repeat),
        partitions=values.get("partitions"),
        place=values.get("places", RunRequest.place),
        key_skew=values.get("key-skew"),
        parameters=values.get("parameters", {}),
        settings=values.get("settings", {}),
        stop_after=values.get("stop-after"),
        faults=tuple(stretched(fault, scale.factor) for fault in faults),
        no_restart=bool(faults) and values.get("no-restart", False),
        failure_timeout_s=timeout_s * scale.factor if faults and timeout_s is not None else None,
        timeout_s=values.get("timeout", RunRequest.timeout_s),
        thresholds=values.get("thresholds", ()),
    )


def _add(found: dict[str, PlannedTrial], planned: PlannedTrial) -> None:
    """A trial that several matrices ask for is conducted once, for all of them, under all their thresholds."""
    key = repr(planned.trial)
    known = found.get(key)
    if known is None:
        found[key] = planned
        return
    found[key] = replace(
        known,
        matrices=tuple(dict.fromkeys([*known.matrices, *planned.matrices])),
        thresholds=tuple(dict.fromkeys([*known.thresholds, *planned.thresholds])),
        timeout_s=max(known.timeout_s, planned.timeout_s),
    )


def _by_process(planned: list[PlannedTrial]) -> list[PlannedTrial]:
    """Trials that can share a warm process next to each other, else in the order of the suite."""
    keys = [process_key(each) for each in planned]
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    return [planned[place] for place in sorted(range(len(planned)), key=lambda place: (first[keys[place]], place))]


def process_key(planned: PlannedTrial) -> tuple[Any, ...]:
    """Trials with equal keys share a job process."""
    trial = planned.trial
    session = get_engine(trial.engine).session_settings(trial.settings)
    # A process that is broken on purpose is nobody else's.
    broken = repr(trial) if trial.faults else ""
    return trial.engine, trial.place, tuple(sorted(session.items())), broken
