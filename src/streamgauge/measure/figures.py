"""The figures of a trial: one name for each, where its record holds it, in which unit, and which way is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from streamgauge.measure.quantiles import PERCENTILES
from streamgauge.model.errors import unknown

Unit = Literal["ms", "s", "per_s", "mb_per_s", "%", "bytes", "bytes_per_s", "count"]
Better = Literal["less", "more"]

COMPONENTS = ("outside", "batch_wait", "scheduling", "processing", "transmission")
"""What event latency is made of, in the order in which an event meets it."""


@dataclass(frozen=True)
class Figure:
    """One figure of a trial record; `better` is None where neither less nor more of it is a gain."""

    name: str
    path: tuple[str, ...]
    unit: Unit
    better: Better | None = "less"
    words: tuple[str, str] = ("faster", "slower")
    """What is said where it got better, and where it got worse."""
    resolution: float = 0.0
    """The step in which the figure is taken, in its unit: two values closer than this cannot be told apart."""
    counted: tuple[str, str] | None = None
    """Kind and statistic in the table of latency counts, where the figure can be taken again from its seconds."""

    def value(self, record: Mapping[str, Any]) -> float | None:
        """The figure in its unit; None where the trial does not have it."""
        found = _at(record, self.path)
        return None if found is None else float(found) * (100 if self.unit == "%" else 1)

    def why_missing(self, record: Mapping[str, Any]) -> str:
        """Why a trial does not have the figure."""
        sample = _at(record, self.path[:-1])
        if isinstance(sample, Mapping) and sample.get("n"):
            return f"a sample of {sample['n']} does not carry {self.path[-1]}"
        return "the trial has no such figure"


def _at(record: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = record
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _latencies() -> list[Figure]:
    kinds: dict[str, tuple[tuple[str, ...], str | None]] = {
        "": (("latency_ms",), "event"),
        "event.": (("latency_ms",), "event"),
        "output.": (("output_latency_ms",), "output"),
        "due.": (("due_latency_ms",), "due"),
        "lateness.": (("publisher", "lateness_ms"), None),
    }
    found = []
    for prefix, (path, kind) in kinds.items():
        for name in ("mean", *PERCENTILES, "max"):
            # A resample never exceeds the maximum that was seen, so its own maximum says nothing of how that varies.
            counted = (kind, name) if kind is not None and name != "max" else None
            step = 0.0 if name == "mean" else 1.0
            found.append(Figure(prefix + name, (*path, name), "ms", resolution=step, counted=counted))
    return found


def _throughputs() -> list[Figure]:
    names: dict[str, Unit] = {
        "events_per_s": "per_s",
        "p5_events_per_s": "per_s",
        "events_per_s_per_node": "per_s",
        "mb_per_s": "mb_per_s",
        "mb_per_s_per_node": "mb_per_s",
        "outputs_per_s": "per_s",
    }
    steps = {"p5_events_per_s": 1.0}
    return [
        *(Figure(n, ("throughput", n), unit, "more", resolution=steps.get(n, 0.0)) for n, unit in names.items()),
        *(
            Figure(name, ("throughput", f"{name}_s"), "s", resolution=0.001)
            for name in ("time_to_first_output", "drain")
        ),
    ]


def _bursts() -> list[Figure]:
    return [
        Figure("catch_up", ("bursts", "catch_up_s"), "s", resolution=1.0),
        *(
            Figure(n, ("bursts", n), "per_s", "more", resolution=1.0)
            for n in ("burst_events_per_s", "peak_events_per_s")
        ),
        *(Figure(n, ("bursts", f"{n}_s"), "s", resolution=1.0) for n in ("inflated_mean", "inflated_max")),
        Figure("burst_p50", ("bursts", "peak_p50_ms"), "ms", resolution=1.0),
        *(Figure(n, ("bursts", f"{n}_s"), "s", resolution=1.0) for n in ("settled_mean", "settled_max")),
        Figure("seconds_p50", ("seconds", "mean_p50_ms"), "ms"),
        Figure("largest_partition", ("log", "largest_partition_share"), "%", better=None),
        Figure("scheduling_delay", ("scheduling", "delay_mean_ms"), "ms", resolution=1.0),
    ]


def _resources() -> list[Figure]:
    names: dict[str, Unit] = {
        **dict.fromkeys(("rss_bytes_mean", "rss_bytes_max"), "bytes"),
        **dict.fromkeys(("heap_used_bytes_min", "heap_used_bytes_mean", "heap_used_bytes_max"), "bytes"),
        **dict.fromkeys(("rx_bytes_per_s", "tx_bytes_per_s"), "bytes_per_s"),
        "gc_ms": "ms",
        "gc_count": "count",
    }
    words = ("less", "more")
    steps = {"gc_ms": 1.0, "gc_count": 1.0}
    job = ("resources", "job")
    return [
        Figure("cpu", (*job, "cpu_share"), "%", words=words),
        Figure("cpu_spread", (*job, "cpu_spread"), "%", words=words),
        Figure("cpu_s_per_million", (*job, "cpu_s_per_million"), "s", words=words),
        *(Figure(n, (*job, n), unit, words=words, resolution=steps.get(n, 0.0)) for n, unit in names.items()),
    ]


def _components() -> list[Figure]:
    names = {"outside_wait": "outside", **{n: n for n in COMPONENTS if n != "outside"}}
    return [Figure(name, ("components", f"{stored}_ms"), "ms") for name, stored in names.items()]


def _durability() -> list[Figure]:
    return [
        Figure("durability", ("durability", "index"), "%", "more", words=("more", "less")),
        Figure("reprocessed", ("durability", "reprocessed"), "count", better=None),
        Figure("memory_rise", ("durability", "memory_rise_bytes"), "bytes", better=None),
    ]


def _recoveries() -> list[Figure]:
    times = ("detect", "output_gap", "longest_wait", "latency_back", "p99_back", "drained")
    # Latency is taken of whole seconds, the backlog of tenths.
    steps = {"latency_back": 1.0, "p99_back": 1.0, "drained": 0.1}
    return [
        *(Figure(n, ("recovery", f"{n}_s"), "s", resolution=steps.get(n, 0.001)) for n in times),
        Figure("catch_up_per_s", ("recovery", "catch_up_per_s"), "per_s", "more", resolution=1.0),
        Figure("events_reprocessed", ("recovery", "events_reprocessed"), "count", words=("fewer", "more")),
        Figure("lost_share", ("recovery", "lost_share"), "%", words=("less", "more")),
    ]


def _scheduler() -> list[Figure]:
    return [
        Figure("switches", ("scheduler", "switches"), "count", better=None),
        Figure("switch_gap", ("scheduler", "longest_gap_s"), "s"),
    ]


def _verdicts() -> list[Figure]:
    names = ("lost", "wrong", "unexpected", "duplicated", "out_of_order", "late", "rejected")
    return [Figure(name, ("verdict", name), "count", better=None) for name in names]


_PERFORMANCE = (_latencies, _components, _throughputs, _bursts, _resources)
_FAMILIES = (*_PERFORMANCE, _durability, _recoveries, _scheduler, _verdicts)
FIGURES = {each.name: each for family in _FAMILIES for each in family()}
"""Every figure by its name, as thresholds, comparisons and histories spell it."""


def get_figure(name: str, kind: str = "figure") -> Figure:
    """The figure of that name; an unknown name is answered with the nearest."""
    if name not in FIGURES:
        raise unknown(kind, name, list(FIGURES))
    return FIGURES[name]
