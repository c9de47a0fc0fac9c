"""Which charts a run gets: stored tables to lines, lines to figures, one section per application and load."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamgauge.measure.repeats import Group
from streamgauge.measure.validity import Record, measured
from streamgauge.report import charts, series
from streamgauge.report.charts import Bar, Reach, Stack, Trace
from streamgauge.report.fault_words import faults_of
from streamgauge.report.faults import fault_marks
from streamgauge.report.findings import COMPONENT_WORDS, taken_apart
from streamgauge.report.words import preloaded, rate_of


@dataclass(frozen=True)
class DrawnTrial:
    """A trial's record with the stored tables that its charts are drawn from."""

    record: Record
    tables: Mapping[str, Any] = field(default_factory=dict)
    decisions: str = ""
    """The lines of its scheduler's decisions, where it had one."""

    @property
    def start_ms(self) -> float:
        """The instant of second 0 of its tables: the record's word, or the first sample."""
        known = self.record.get("started_at_ms")
        if known is not None:
            return float(known)
        at = self.tables["resources"].column("at_ms").to_pylist()
        return float(min(at, default=0))


@dataclass(frozen=True)
class Figure:
    """A chart with its heading and one sentence on how to read it."""

    heading: str
    caption: str
    figure: dict[str, Any]
    broad: bool = False
    """Whether it takes the whole width of the page."""


@dataclass(frozen=True)
class Section:
    """The trials of one application under one load: what is compared with each other."""

    title: str
    trials: tuple[DrawnTrial, ...]


def sections(trials: Sequence[DrawnTrial]) -> list[Section]:
    """The measured trials gathered by application, cut, faults and load; a load that all share is not repeated."""
    gathered: dict[str, list[DrawnTrial]] = {}
    several = len({t.record["load"] for t in trials}) > 1
    for trial in trials:
        if measured(trial.record):
            load = f" · {trial.record['load']}" if several else ""
            gathered.setdefault(_name(trial.record) + load, []).append(trial)
    return [Section(title, tuple(found)) for title, found in gathered.items()]


def _name(record: Record) -> str:
    cut = (record.get("trial") or {}).get("stop_after")
    broken = f" · {faults_of(record)}" if faults_of(record) else ""
    return f"{record['application']}{f' up to {cut}' if cut else ''}{broken}"


def section_figures(section: Section, colours: dict[str, str]) -> list[Figure]:
    """The five charts of a section; a chart without data is left out."""
    found = [
        timeline("latency", section, colours),
        Figure(
            "Latency by percentile",
            "How long the given share of events waited at most. Lower is better; every further nine has the same room.",
            charts.distribution_chart(list(_percentile_traces(section)), colours),
        ),
        *(timeline(name, section, colours) for name in ("throughput", "cpu", "memory")),
    ]
    return [each for each in found if each.figure["data"]]


def timeline(name: str, section: Section, colours: dict[str, str]) -> Figure:
    """One thing over the time of a section's trials: latency, throughput, input-output, availability, cpu or memory.

    Faults are lines in it.
    """
    heading, caption, traces, chart = _TIMELINES[name]
    marks = [mark for trial in section.trials for mark in fault_marks(trial.record)]
    return Figure(heading, caption, charts.with_marks(chart(list(traces(section)), colours), marks, colours))


def overview(groups: Sequence[Group], colours: dict[str, str], floor_ms: float | None) -> list[Figure]:
    """One chart that shows the whole run: latency of paced trials, drain rate of preloaded ones."""
    named = [(label, g) for label, g in zip(_labels(groups), groups, strict=True) if g.ranked]
    paced = [(label, g) for label, g in named if not preloaded(g.first)]
    drained = [(label, g) for label, g in named if preloaded(g.first)]
    found = []
    if paced:
        floor = " The dotted line is the floor: the broker's own round trip, at its median." if floor_ms else ""
        caption = f"Event latency: median (dot), p95 and p99 (rings), largest (tick), on a logarithmic axis.{floor}"
        figure = charts.overview_chart([_reach(label, g) for label, g in paced], colours, floor_ms)
        found.append(Figure("Latency at a glance", caption, figure))
    if drained:
        caption = "Events per second from a log that was filled before the job started. Longer is better."
        figure = charts.rate_chart([_bar(label, g) for label, g in drained], colours)
        found.append(Figure("Drain rate at a glance", caption, figure))
    return found


def component_figures(records: Sequence[Record]) -> list[Figure]:
    """Mean event latency of each trial, component by component; nothing where no trial has them."""
    known = taken_apart(records)
    if not known:
        return []
    stacks = [
        Stack(label, {words: record["components"][f"{name}_ms"] for name, words in COMPONENT_WORDS.items()})
        for label, record in zip(_labels([Group((r,)) for r in known]), known, strict=True)
    ]
    caption = (
        "Mean event latency of each trial, by what the time was spent on, in the order in which an event meets it."
    )
    return [Figure("What latency is made of", caption, charts.stack_chart(stacks))]


def _reach(label: str, group: Group) -> Reach:
    means = {p: group.interval(lambda r, p=p: r["latency_ms"].get(p)) for p in ("p50", "p95", "p99")}  # type: ignore[misc]
    largest = [r["latency_ms"]["max"] for r in group.ranked if r["latency_ms"].get("max") is not None]
    p50, p95, p99 = (None if m is None else m.mean for m in means.values())
    return Reach(label, group.first["engine"], p50, p95, p99, max(largest, default=None))


def _bar(label: str, group: Group) -> Bar:
    rate = group.interval(rate_of)
    return Bar(label, group.first["engine"], rate.mean if rate else 0.0, (rate.half if rate else None) or 0.0)


def _labels(groups: Sequence[Group]) -> list[str]:
    several = len({g.first["load"] for g in groups}) > 1
    found: list[str] = []
    for group in groups:
        label = f"{_name(group.first)} · {group.first['engine']}" + (f" · {group.first['load']}" if several else "")
        same = sum(known.partition(" #")[0] == label for known in found)
        found.append(f"{label} #{same + 1}" if same else label)
    return found


def _latency_traces(section: Section) -> Iterable[Trace]:
    for trial, engine, first in _with_table(section, "latency"):
        for name, quantile, dash in (("p50", 0.5, "solid"), ("p99", 0.99, "dot")):
            line = series.latency_over_time(trial.tables["latency"], quantile)
            yield _trace(engine, f"{engine} {name}", line, first, dash)


def _percentile_traces(section: Section) -> Iterable[Trace]:
    for trial, engine, first in _with_table(section, "latency"):
        yield _trace(engine, engine, series.percentile_curve(trial.tables["latency"]), first)


def _throughput_traces(section: Section) -> Iterable[Trace]:
    for trial, engine, first in _with_table(section, "throughput"):
        for column, words, dash in (("consumed_events", "consumed", "solid"), ("in_events", "in", "dot")):
            line = series.events_over_time(trial.tables["throughput"], column)
            yield _trace(engine, f"{engine} {words}", line, first, dash)


def _input_output_traces(section: Section) -> Iterable[Trace]:
    for trial, engine, first in _with_table(section, "throughput"):
        for column, words, dash in (("out_records", "out", "solid"), ("in_events", "in", "dot")):
            line = series.events_over_time(trial.tables["throughput"], column)
            yield _trace(engine, f"{engine} {words}", line, first, dash)


def _availability_traces(section: Section) -> Iterable[Trace]:
    for trial, engine, first in _with_table(section, "throughput"):
        yield _trace(engine, engine, series.availability_over_time(trial.tables["throughput"]), first)


def _cpu_traces(section: Section) -> Iterable[Trace]:
    for trial, engine, first in _with_table(section, "resources"):
        for component, dash in (("job", "solid"), ("broker", "dot"), ("publisher", "dash")):
            line = series.resource_over_time(trial.tables["resources"], component, "cpu_cores", trial.start_ms)
            yield _trace(engine, f"{engine} {component}", line, first, dash)


def _memory_traces(section: Section) -> Iterable[Trace]:
    for trial, engine, first in _with_table(section, "resources"):
        for column, words, dash in (("rss_bytes", "resident", "solid"), ("heap_used_bytes", "heap", "dot")):
            line = series.resource_over_time(trial.tables["resources"], "job", column, trial.start_ms)
            yield _trace(engine, f"{engine} {words}", line, first, dash)


def _with_table(section: Section, name: str) -> Iterable[tuple[DrawnTrial, str, bool]]:
    seen: set[str] = set()
    for trial in section.trials:
        if name in trial.tables:
            engine = trial.record["engine"]
            yield trial, engine, engine not in seen
            seen.add(engine)


def _trace(engine: str, label: str, line: series.Line, first: bool, dash: str = "solid") -> Trace:
    return Trace(engine, label, line, dash, faint=not first, group=label, in_legend=first)


_Timeline = tuple[
    str, str, Callable[[Section], Iterable[Trace]], Callable[[Sequence[Trace], dict[str, str]], dict[str, Any]]
]
_TIMELINES: dict[str, _Timeline] = {
    "latency": (
        "Latency over time",
        "Event latency per second, logarithmic: the median and, where a second holds at least 100 events, p99.",
        _latency_traces,
        charts.latency_chart,
    ),
    "throughput": (
        "Throughput over time",
        "Events that entered the log and events that the job had consumed, per second.",
        _throughput_traces,
        charts.throughput_chart,
    ),
    "input-output": (
        "Input against output",
        "Events that entered the log (dotted) and records that the job wrote (solid), per second.",
        _input_output_traces,
        charts.throughput_chart,
    ),
    "availability": (
        "Availability over time",
        "Slots of five seconds in which input was answered, or none was waiting as the slot began.",
        _availability_traces,
        charts.availability_chart,
    ),
    "cpu": (
        "CPU over time",
        "Cores in use by the job (solid), the broker (dotted) and the publisher (dashed). Before 0 is the warm-up.",
        _cpu_traces,
        charts.cpu_chart,
    ),
    "memory": (
        "Memory over time",
        "The job's resident memory (solid) and its JVM heap in use (dotted).",
        _memory_traces,
        charts.memory_chart,
    ),
}
"""What is drawn over time: heading, caption, the lines and the chart."""
