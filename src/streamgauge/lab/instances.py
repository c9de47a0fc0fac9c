"""The computed instances of a stored characterisation as a run's own partitions and parallelism (BO18)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from streamgauge.applications import is_file
from streamgauge.engines import get_engine
from streamgauge.lab.planning import resolved
from streamgauge.lab.request import RunRequest
from streamgauge.model import Application, UserError
from streamgauge.store.run_store import RunStore


def with_instances(request: RunRequest, run: str, multiplier: int) -> tuple[RunRequest, list[str]]:
    """The request with the instances of that run, so many times, and what a person should know, a line each.

    Sources become partitions of the log, stateful stages parallelism. What the request says already stays as it is.
    """
    if multiplier < 1:
        raise UserError("--multiplier must be at least 1")
    application, document = _found(request, run)
    counts = {each["name"]: each["instances"] * multiplier for each in document["operators"]}
    sources = [each["name"] for each in document["operators"] if each["role"] == "source" and not each["reads"]]
    partitions = max(counts[name] for name in sources)
    wanted, notes = _parallelism(request, application, counts)
    settings = {**{f"parallelism.{name}": str(count) for name, count in wanted.items()}, **request.settings}
    taken = replace(request, partitions=request.partitions or partitions, settings=settings)
    return taken, [_summary(run, taken, wanted), *notes, *_without_a_knob(counts, sources, wanted)]


def _found(request: RunRequest, run: str) -> tuple[Application, Mapping[str, Any]]:
    document = RunStore(request.out).open(run).characterisation
    if document is None:
        raise UserError(
            f"the run '{run}' holds no characterisation", "Make one: streamgauge characterize APPLICATION, then name it"
        )
    names = {(resolved(name, None).name if is_file(name) else name) for name in request.applications}
    if names != {document["application"]}:
        raise UserError(
            f"the run '{run}' characterises {document['application']}, not {', '.join(sorted(names))}",
            f"Run {document['application']} alone, or leave --instances out",
        )
    return resolved(request.applications[0], request.stop_after), document


def _parallelism(
    request: RunRequest, application: Application, counts: Mapping[str, int]
) -> tuple[dict[str, int], list[str]]:
    """Stage → instances, for the stages that have a knob on every engine; stages of one query share the largest."""
    wanted: dict[str, int] = {}
    notes: dict[str, None] = {}
    for engine in request.engines:
        for query, stages in get_engine(engine).stateful_stages(application, request.settings).items():
            known = {name: counts[name] for name in stages if name in counts}
            if not known:
                continue
            most = max(known.values())
            if len(set(known.values())) > 1:
                notes[f"{', '.join(known)} run in one query, '{query}', so all get its largest: {most}"] = None
            for name in known:
                wanted[name] = max(most, wanted.get(name, 0))
    settable = [
        {
            name
            for stages in get_engine(engine).stateful_stages(application, request.settings).values()
            for name in stages
        }
        for engine in request.engines
    ]
    return {name: count for name, count in wanted.items() if all(name in each for each in settable)}, list(notes)


def _summary(run: str, request: RunRequest, wanted: Mapping[str, int]) -> str:
    said = [f"{request.partitions} partitions", *(f"{name} × {count}" for name, count in wanted.items())]
    return f"instances of {run}: {', '.join(said)}"


def _without_a_knob(counts: Mapping[str, int], sources: list[str], wanted: Mapping[str, int]) -> list[str]:
    rest = [name for name in counts if name not in sources and name not in wanted]
    if not rest:
        return []
    return [f"{', '.join(rest)}: no instances of their own on Spark, they run in the tasks of what they read"]
