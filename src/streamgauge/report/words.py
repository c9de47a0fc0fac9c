"""Figures and runs in words: one spelling for the console, the page and the one-sentence answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from streamgauge.measure.validity import Record, correct, measured, ranked
from streamgauge.model.trial import Trial, differences
from streamgauge.model.units import size

if TYPE_CHECKING:
    from streamgauge.measure.figures import Unit

Named = TypeVar("Named")

YES = "✓"
NO = "✗"
NOTHING = "–"
FIGURE_WORDS = {
    "events_per_s": "Throughput",
    "mb_per_s": "Throughput in MB/s",
    "mean": "Mean latency",
    "p50": "Median latency",
    "output.p50": "Median latency of outputs",
    "output.p99": "99th percentile of the latency of outputs",
    "time_to_first_output": "Time to the first output",
    "catch_up": "Time to catch up",
    "burst_events_per_s": "Throughput of the burst",
    "peak_events_per_s": "Largest throughput of a second",
    "inflated_mean": "How long latency stays inflated",
    "burst_p50": "Median latency in a burst's worst second",
    "outputs_per_s": "Outputs per second",
    "scheduling_delay": "Scheduling delay",
    "cpu": "CPU",
    "cpu_spread": "Spread of the CPU over time",
    "cpu_s_per_million": "CPU time per million events",
    "rss_bytes_max": "Largest memory",
    "heap_used_bytes_max": "Largest heap",
    "rx_bytes_per_s": "Network in",
    "tx_bytes_per_s": "Network out",
    "gc_ms": "Garbage collection",
    "gc_count": "Garbage collections",
    "p99": "99th percentile of latency",
    "p5_events_per_s": "5th percentile of throughput",
    "output.p99.999": "99.999th percentile of the latency of outputs",
    "rss_bytes_mean": "Mean memory",
    "heap_used_bytes_min": "Least heap",
    "heap_used_bytes_mean": "Mean heap",
    "inflated_max": "The longest that it stays inflated",
    "duplicated": "Repeated outputs",
    "durability": "Durability index",
    "reprocessed": "Outputs that were repeated",
    "memory_rise": "Rise of the memory",
    "largest_partition": "Share of the largest partition",
}
"""What a suite's page calls the figures that suites show; all others go by their name."""


def milliseconds(value: float | None) -> str:
    """A latency: whole milliseconds below a second, seconds above it."""
    if value is None:
        return NOTHING
    if value < 10 and value != round(value):
        return f"{value:.1f} ms"
    if value < 1000:
        return f"{value:.0f} ms"
    return f"{value / 1000:.1f} s" if value < 100_000 else f"{value / 1000:,.0f} s"


def count(value: float | None) -> str:
    """A number of things, thousands separated."""
    return NOTHING if value is None else f"{value:,.0f}"


def per_second(value: float | None) -> str:
    """A rate of events."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}/s" if value >= 10 else f"{value:.2g}/s"


def cores(value: float | None) -> str:
    """CPU in cores."""
    return NOTHING if value is None else f"{value:.2f} cores"


def in_unit(value: float | None, unit: Unit) -> str:
    """A figure with its unit, as short as its size allows."""
    if value is None:
        return NOTHING
    if unit == "mb_per_s":
        return f"{value:.3g} MB/s"
    return {
        "ms": milliseconds,
        "s": lambda v: milliseconds(v * 1000),
        "per_s": per_second,
        "%": lambda v: f"{v:.0f} %",
        "bytes": size,
        "bytes_per_s": lambda v: f"{size(v)}/s",
        "count": count,
    }[unit](value)


def figure_words(name: str) -> str:
    """A figure's name as a heading."""
    return FIGURE_WORDS.get(name, name.replace("_", " "))


def percent(value: float | None) -> str:
    """A change: with its sign, and a decimal where that still says something."""
    if value is None:
        return NOTHING
    if math.isinf(value):
        return "without limit"
    digits = 1 if abs(value) < 100 else 0
    # Adding 0 turns what rounds to -0 into 0.
    return f"{round(value, digits) + 0:+,.{digits}f} %"


def mark(value: bool | None) -> str:
    """✓, ✗, or a dash where there is nothing to say."""
    return NOTHING if value is None else (YES if value else NO)


def rate_of(record: Record) -> float | None:
    """Events per second that the trial reached."""
    return (record.get("throughput") or {}).get("events_per_s")


def verdict_words(verdict: Mapping[str, Any] | None) -> str:
    """A verdict in a few words: 'right', or what differed."""
    if verdict is None:
        return NOTHING
    kinds = ("lost", "wrong", "unexpected", "duplicated", "out_of_order")
    found = [f"{count(verdict[k])} {k.replace('_', ' ')}" for k in kinds if verdict.get(k)]
    if verdict["correct"]:
        allowed = [f"{', '.join(found)}, allowed"] if found else []
        rejected = [f"{count(verdict['rejected'])} rejected"] if verdict.get("rejected") else []
        return f"right ({'; '.join([*allowed, *rejected])})" if allowed or rejected else "right"
    return ", ".join(found) or "wrong"


def quality_words(record: Record) -> str:
    """What a right answer is worth against the events' labels: 'precision 0.95, recall 0.80'; empty without labels."""
    return ", ".join(f"{name} {value:.3g}" for name, value in (record.get("quality") or {}).items())


def burst_words(record: Record) -> str:
    """What bursts did to a trial; empty where its load has none."""
    found = record.get("bursts") or {}
    if "waiting_events" in found:
        if found.get("catch_up_s") is None:
            return f"{count(found['waiting_events'])} events lay in the log, and it did not catch up under the load"
        caught, rate = found["catch_up_s"], per_second(found["burst_events_per_s"])
        return f"{count(found['waiting_events'])} events lay in the log; caught up within {caught:g} s, at {rate}"
    if "inflated_mean_s" in found:
        mean, most, bursts = found["inflated_mean_s"], found["inflated_max_s"], found["bursts"]
        seen = "1 burst" if bursts == 1 else f"{bursts} bursts"
        if not most:
            return f"latency is back within a second of every burst ({seen})"
        return f"latency stays inflated for {mean:.1f} s after a burst, {most:g} s at most ({seen})"
    return ""


def answer(records: Sequence[Record]) -> str:
    """The run in one sentence: what each engine did, and whether the answers were right."""
    if not records:
        return "No trial has been stored yet."
    figures = _figures([r for r in records if ranked(r)])
    parts = [p for p in (figures, _answers_words(records), _left_out_words(records)) if p]
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:] + "." if not figures else sentence + "."


def preloaded(record: Record) -> bool:
    """Whether everything was in the log before the job started, so that the figure to look at is the drain rate."""
    return str(record.get("load", "")).partition(":")[0] == "preloaded"


def _figures(records: Sequence[Record]) -> str:
    engines = in_order(r["engine"] for r in records)
    timed = {e: _values(records, e, drained=False) for e in engines}
    drained = {e: _values(records, e, drained=True) for e in engines}
    parts = []
    by_median = sorted((e for e in engines if timed[e]), key=lambda e: min(timed[e]))
    for position, engine in enumerate(by_median):
        spread = _spread(timed[engine], milliseconds)
        parts.append(f"{engine} answered in {spread} at the median" if position == 0 else f"{engine} in {spread}")
    by_rate = sorted((e for e in engines if drained[e]), key=lambda e: -max(drained[e]))
    for position, engine in enumerate(by_rate):
        spread = _spread(drained[engine], lambda v: f"{v:,.0f}")
        parts.append(f"{engine} drained {spread} events/s" if position == 0 else f"{engine} {spread}")
    return ", ".join(parts)


def _values(records: Sequence[Record], engine: str, *, drained: bool) -> list[float]:
    mine = [r for r in records if r["engine"] == engine and preloaded(r) == drained]
    found = [rate_of(r) if drained else r["latency_ms"].get("p50") for r in mine]
    return [float(v) for v in found if v is not None]


def _spread(values: Sequence[float], say: Any) -> str:
    low, high = say(min(values)), say(max(values))
    if low == high:
        return str(low)
    unit = low.rpartition(" ")[2]
    if " " in low and high.endswith(f" {unit}"):
        low = low.rpartition(" ")[0]
    return f"{low} to {high}"


def _answers_words(records: Sequence[Record]) -> str:
    verdicts = [correct(r) for r in records if correct(r) is not None]
    wrong = verdicts.count(False)
    if not verdicts:
        return "no answer was checked"
    if wrong:
        return f"{wrong} of {len(verdicts)} answers {'is' if wrong == 1 else 'are'} wrong"
    return "the answer is right" if len(verdicts) == 1 else f"all {len(verdicts)} answers are right"


def _left_out_words(records: Sequence[Record]) -> str:
    invalid = sum(measured(r) and not r.get("valid") for r in records)
    absent = sum(not measured(r) for r in records)
    parts = []
    if invalid:
        parts.append(f"{invalid} of {len(records)} trials {'is' if invalid == 1 else 'are'} not valid and not ranked")
    if absent:
        parts.append(f"{absent} of {len(records)} could not be run")
    return ", ".join(parts)


def compared(records: Sequence[Record]) -> list[Record]:
    """The records with what is compared next to each other: by application and load, else in the order of the run."""
    subjects = in_order((r["application"], r["load"]) for r in records)
    return sorted(records, key=lambda r: subjects.index((r["application"], r["load"])))


def told_apart(records: Sequence[Record]) -> list[str]:
    """Of each record what tells its trial apart from the others beside application, engine, load and repeat."""
    known = {field.name for field in fields(Trial)}
    trials = [dict(record.get("trial") or {}) for record in records]
    if not all({"application", "engine", "load", "seed", "events", "warmup_events"} <= set(each) for each in trials):
        return [""] * len(records)
    return differences([Trial(**{k: v for k, v in each.items() if k in known}) for each in trials])


def in_order(names: Iterable[Named]) -> list[Named]:
    """Names without repeats, in the order of their first appearance."""
    return list(dict.fromkeys(names))
