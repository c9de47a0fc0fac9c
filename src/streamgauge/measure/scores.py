"""OSPBench's table of scores (OS9): workload × decision factor, relative between the engines that ran."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from streamgauge.measure.figures import get_figure
from streamgauge.measure.validity import Record, measured, ranked
from streamgauge.model.units import parse_rate_per_s

WORKLOADS = {
    "ospbench-latency": "latency",
    "ospbench-sustainable": "sustainable throughput",
    "ospbench-startup-burst": "single burst",
    "ospbench-periodic-bursts": "periodic burst",
    "engines": "side by side",
}
"""Suite → the paper's name of its workload; of our own suite of engines, ours."""
STATELESS = ("ingest", "parse")
"""Stages of OSPBench's pipeline that keep no state."""
CLEARLY = 0.1
"""An engine is better than another where its figure is by more than this share."""
_CUSTOMISED = "customised"


@dataclass(frozen=True)
class Score:
    """One row of the table; an engine without a figure has neither value nor score."""

    workload: str
    factor: str
    figure: str
    values: Mapping[str, float]
    scores: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {k: dict(v) if isinstance(v, Mapping) else v for k, v in asdict(self).items()}


def scores(suite: str, records: Sequence[Record]) -> list[Score]:
    """The rows of a suite's workload; none where it is not one of OSPBench's or fewer than two engines have figures."""
    workload = WORKLOADS.get(suite)
    if workload is None:
        return []
    found = []
    for factor, figure, values in _FACTORS[workload](records):
        if len(values) > 1:
            more = get_figure(figure).better == "more"
            found.append(Score(workload, factor, figure, values, relative(values, more_is_better=more)))
    return found


def relative(values: Mapping[str, float], *, more_is_better: bool) -> dict[str, int]:
    """Of N engines each gets N less the number of engines that are clearly better; so equals share the higher score."""

    def clearly_better(one: float, other: float) -> bool:
        return one > other * (1 + CLEARLY) if more_is_better else one < other * (1 - CLEARLY)

    return {
        name: len(values) - sum(clearly_better(other, value) for other in values.values())
        for name, value in values.items()
    }


_Row = tuple[str, str, dict[str, float]]


def _by_kind_of_stage(figure: str) -> Callable[[Sequence[Record]], list[_Row]]:
    def rows(records: Sequence[Record]) -> list[_Row]:
        kinds = ("stateless stages", "built-in stateful API", "customised stateful API")
        return [(kind, figure, _over_stages([r for r in records if _kind(r) == kind], figure)) for kind in kinds]

    return rows


def _kind(record: Record) -> str:
    stage = (record.get("trial") or {}).get("stop_after")
    if stage in STATELESS:
        return "stateless stages"
    variant = str((record.get("variants") or {}).get(stage, ""))
    return "customised stateful API" if variant.startswith(_CUSTOMISED) else "built-in stateful API"


def _single_burst(records: Sequence[Record]) -> list[_Row]:
    return [
        ("initial output", "time_to_first_output", _over_stages(records, "time_to_first_output")),
        ("processing time", "mean", _over_stages(records, "mean")),
    ]


def _sustainable(records: Sequence[Record]) -> list[_Row]:
    """The highest rate that held, and the median latency at the highest rate that all engines held."""
    held: dict[str, set[float]] = {r["engine"]: set() for r in records if measured(r)}
    for record in records:
        if record["engine"] in held and _held(record):
            held[record["engine"]].add(_rate(record))
    highest = {engine: max(rates) for engine, rates in held.items() if rates}
    common = set.intersection(*held.values()) if held else set()
    at_common = [r for r in records if common and _held(r) and _rate(r) == max(common)]
    return [
        ("unconstrained latency", "events_per_s", highest),
        ("constrained latency", "p50", _over_stages(at_common, "p50")),
    ]


def _held(record: Record) -> bool:
    overloaded = any(str(w).startswith("overloaded") for w in record.get("warnings") or [])
    return ranked(record) and not overloaded and all(t["ok"] for t in record.get("thresholds") or [])


def _rate(record: Record) -> float:
    return parse_rate_per_s(str(record["load"]).partition(":")[2])


def _side_by_side(records: Sequence[Record]) -> list[_Row]:
    """Our suite of engines: an engine with other settings is another engine, and a workload is what all of them ran."""
    named = [{**record, "engine": _with_settings(record)} for record in records]
    steady = [record for record in named if str(record["load"]).startswith("constant")]
    drained = [record for record in named if record["load"] == "preloaded"]
    return [
        ("latency at steady rates", "p50", _over_workloads(steady, "p50")),
        ("tail at steady rates", "p99", _over_workloads(steady, "p99")),
        ("flat-out drain", "events_per_s", _over_workloads(drained, "events_per_s")),
        ("CPU of the drain", "cpu_s_per_million", _over_workloads(drained, "cpu_s_per_million")),
        ("memory of the drain", "rss_bytes_max", _over_workloads(drained, "rss_bytes_max")),
    ]


def _with_settings(record: Record) -> str:
    settings = (record.get("trial") or {}).get("settings") or {}
    told = ", ".join(f"{name}={value}" for name, value in sorted(settings.items()))
    return f"{record['engine']} ({told})" if told else str(record["engine"])


_FACTORS: dict[str, Callable[[Sequence[Record]], list[_Row]]] = {
    "latency": _by_kind_of_stage("p50"),
    "sustainable throughput": _sustainable,
    "single burst": _single_burst,
    "periodic burst": _by_kind_of_stage("p95"),
    "side by side": _side_by_side,
}


def _over_stages(records: Sequence[Record], figure: str) -> dict[str, float]:
    """Engine → geometric mean over the stages that all engines with figures have, of the median of the repeats."""
    return _over(records, figure, ("stop_after",))


def _over_workloads(records: Sequence[Record], figure: str) -> dict[str, float]:
    """The same over applications with their stage and load."""
    return _over(records, figure, ("application", "stop_after", "load"))


def _over(records: Sequence[Record], figure: str, told_apart_by: Sequence[str]) -> dict[str, float]:
    taken: dict[str, dict[str, list[float]]] = {}
    for record in records:
        value = get_figure(figure).value(record) if ranked(record) else None
        if value is not None:
            trial = record.get("trial") or {}
            which = " ".join(str(trial.get(name)) for name in told_apart_by)
            taken.setdefault(record["engine"], {}).setdefault(which, []).append(value)
    if not taken:
        return {}
    common = set.intersection(*(set(stages) for stages in taken.values()))
    step = get_figure(figure).resolution / 2
    return {
        engine: math.exp(statistics.fmean(math.log(max(statistics.median(stages[s]), step)) for s in sorted(common)))
        for engine, stages in taken.items()
        if common
    }
