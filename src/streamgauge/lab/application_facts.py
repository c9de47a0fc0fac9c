"""Everything that can be said of an application without running it, as plain values: for lists and for its page."""

from __future__ import annotations

import inspect
from typing import Any

from streamgauge.engines import all_engines
from streamgauge.model import Application, LatestPerKey
from streamgauge.model.application import Output, Stage


def application_facts(application: Application) -> dict[str, Any]:
    """The application's papers, inputs, stages, outputs, parameters, deviations, and the engines that run it."""
    gaps = {name: engine.gap(application) for name, engine in all_engines().items()}
    leaves = application.leaves()
    return {
        "name": application.name,
        "question": application.question,
        "papers": list(application.papers),
        "inputs": {name: stream.name for name, stream in application.inputs.items()},
        "tables": {name: table.name for name, table in application.tables.items()},
        "streams": sorted({stream.name for stream in application.inputs.values()}),
        "stages": [stage.name for stage in application.stages],
        "graph": [_stage(stage) for stage in application.stages],
        "cuts": list(application.cuts),
        "outputs": [_output(output, output.stage in leaves) for output in application.outputs],
        "stop_after": [output.stage for output in application.outputs],
        "order": application.order,
        "required": {name: list(application.required_of(name)) for name in application.inputs},
        "parameters": {k: {"default": p.default, "about": p.about} for k, p in application.parameters.items()},
        "engines": [name for name, gap in gaps.items() if gap is None],
        "variants": {n: e.variants(application, {}) for n, e in all_engines().items() if gaps[n] is None},
        "gaps": {n: {"kind": gap.kind, "reason": gap.reason} for n, gap in gaps.items() if gap is not None},
        "deviations": list(application.deviations),
    }


def _stage(stage: Stage) -> dict[str, Any]:
    return {
        "name": stage.name,
        "about": inspect.cleandoc(stage.function.__doc__ or ""),
        "reads": list(stage.reads),
        "parameters": list(stage.parameters),
        "uses": sorted(stage.uses),
        "emits": stage.emits.value,
        "key": list(stage.key),
        "variants": {
            name: {"uses": sorted(variant.uses), "about": inspect.cleandoc(variant.function.__doc__ or "")}
            for name, variant in stage.variants.items()
        },
    }


def _output(output: Output, is_leaf: bool) -> dict[str, Any]:
    matching = output.matching
    by_key = isinstance(matching, LatestPerKey)
    return {
        "stage": output.stage,
        "leaf": is_leaf,
        "emits": "latest per key" if by_key else "per event",
        "key": list(matching.key) if isinstance(matching, LatestPerKey) else [],
        "values": dict(matching.values) if isinstance(matching, LatestPerKey) else list(matching.values),
    }
