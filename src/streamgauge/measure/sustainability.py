"""Whether a rate can be sustained (OS5): from the series and figures of one probe to holds, breaks, or says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from streamgauge.measure.quantiles import quantile_by_second
from streamgauge.measure.thresholds import Threshold, check, parse_threshold
from streamgauge.measure.trend import Trend, trend_of
from streamgauge.model.errors import EngineError, UserError

OSPBENCH = "p50<10s,drain<10s,cpu<80%"
LEAST_RISE = 0.1
"""A rise that matters is at least this share of the level, however significant it is."""
SLOT_S = 1.0
"""The series have a point per second, so nothing shorter than that is seen."""
REPORTED = "cpu"
"""Where publisher and broker share the job's machine its share of the cores is said, and decides nothing."""

Says = Literal["holds", "breaks", "nothing"]


@dataclass(frozen=True)
class Objective:
    """What a rate must keep to be sustainable, beside latency and queue that do not rise."""

    text: str
    thresholds: tuple[Threshold, ...]
    gates_cpu: bool = False

    def decides(self, threshold: Threshold) -> bool:
        """Whether breaking it breaks the probe."""
        return self.gates_cpu or threshold.figure != REPORTED


@dataclass(frozen=True)
class Series:
    """Median event latency and length of the input queue, a point per second of the measured load."""

    latency: Trend
    queue: Trend
    interval_s: float
    """The time between the ends of two batches, where the engine has such; at least a second."""
    rate_per_s: float


@dataclass(frozen=True)
class ProbeOutcome:
    """What one probe says of a rate."""

    rate_per_s: float
    says: Says
    reasons: tuple[str, ...] = ()
    """Why it breaks, or why it says nothing of the engine."""
    remarks: tuple[str, ...] = ()
    """What is said and decides nothing."""
    figures: Mapping[str, float | None] | None = None

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "rate_per_s": self.rate_per_s,
            "says": self.says,
            "reasons": list(self.reasons),
            "remarks": list(self.remarks),
            "figures": dict(self.figures or {}),
        }


def parse_slo(text: str, gates_cpu: bool = False) -> Objective:
    """'p50<10s,drain<10s,cpu<80%' or 'p99<100ms': thresholds with commas between them."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UserError(f"'{text}' is not an objective", f"Write thresholds with commas between them, like {OSPBENCH}")
    thresholds = tuple(parse_threshold(part) for part in parts)
    named = [each.figure for each in thresholds]
    for figure in named:
        if named.count(figure) > 1:
            raise UserError(f"the objective '{text}' has two thresholds on {figure}", "Keep one of them")
    return Objective(",".join(each.text for each in thresholds), thresholds, gates_cpu)


def probe_series(latency: pa.Table, throughput: pa.Table, rate_per_s: float, interval_s: float) -> Series:
    """The series of a probe from the stored tables of its trial; only whole seconds of the load count."""
    seconds = throughput["second"].to_numpy()
    arrived = throughput["in_events"].to_numpy()
    queue = np.cumsum(arrived - throughput["consumed_events"].to_numpy())
    filled = np.flatnonzero(arrived > 0)
    whole = int(filled[-1]) if len(filled) else 0
    at, medians = median_by_second(latency)
    inside = (at >= 0) & (at < whole)
    return Series(
        latency=trend_of(at[inside], medians[inside]),
        # At the end all is consumed, so lengths are counted back from there: what waited at the start is among them.
        queue=trend_of(seconds[:whole], queue[:whole] - (queue[-1] if len(queue) else 0)),
        interval_s=max(interval_s, SLOT_S),
        rate_per_s=rate_per_s,
    )


def median_by_second(counts: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Seconds, and the median event latency of the events appended in each, from counts per millisecond and second."""
    seconds, medians, _ = quantile_by_second(counts)
    return seconds, medians


def rising(series: Series) -> list[str]:
    """Why latency or queue counts as rising: beyond chance, and by more than 10 % of its level and than an interval."""
    found = []
    latency, queue = series.latency, series.queue
    if latency.significant and latency.rise > max(LEAST_RISE * latency.level, series.interval_s * 1000):
        found.append(f"median latency rises by {latency.rise:,.0f} ms over the probe")
    if queue.significant and queue.rise > max(LEAST_RISE * queue.level, series.interval_s * series.rate_per_s):
        found.append(f"the input queue grows by {queue.rise:,.0f} events over the probe")
    return found


def judge_probe(rate_per_s: float, record: Mapping[str, Any], series: Series | None, slo: Objective) -> ProbeOutcome:
    """What the record of a trial at that rate says of the rate; `series` is None where the trial has no figures."""
    figures = _figures(record, series)
    if record["status"] != "done" or series is None:
        error = record.get("error") or {}
        of_the_engine = error.get("kind") == EngineError.__name__
        why = (str(error.get("cause", "it has no figures")),)
        return ProbeOutcome(rate_per_s, "breaks" if of_the_engine else "nothing", why, (), figures)
    nothing = _says_nothing(record)
    if nothing:
        return ProbeOutcome(rate_per_s, "nothing", tuple(nothing), (), figures)
    ended = bool((record.get("end") or {}).get("reached", True))
    broken = [] if ended else ["the input was not consumed in the time allowed"]
    verdict = record.get("verdict") or {}
    if ended and not verdict.get("correct", True):
        broken.append("the answer is wrong")
    broken += rising(series)
    remarks: list[str] = []
    for threshold in slo.thresholds:
        outcome = check(threshold, record)
        words = outcome.text.partition(" ")[2]
        if not outcome.ok:
            (broken if slo.decides(threshold) else remarks).append(words)
    return ProbeOutcome(rate_per_s, "breaks" if broken else "holds", tuple(broken), tuple(remarks), figures)


def _says_nothing(record: Mapping[str, Any]) -> list[str]:
    """Where the load itself was not what it should have been, nothing follows for the engine."""
    publisher = record.get("publisher") or {}
    found = []
    if not publisher.get("kept_up", True):
        found.append(f"the publisher fell behind: {publisher.get('kept_up_reason') or 'no reason was told'}")
    found += [reason for reason in record.get("invalid_reasons") or [] if "are in the log" in reason]
    return found


def _figures(record: Mapping[str, Any], series: Series | None) -> dict[str, float | None]:
    latency, throughput = record.get("latency_ms") or {}, record.get("throughput") or {}
    job = (record.get("resources") or {}).get("job") or {}
    return {
        "p50_ms": latency.get("p50"),
        "p99_ms": latency.get("p99"),
        "latency_rise_ms": series.latency.rise if series else None,
        "latency_p_value": series.latency.p_value if series else None,
        "queue_rise": series.queue.rise if series else None,
        "queue_p_value": series.queue.p_value if series else None,
        "drain_s": throughput.get("drain_s"),
        "cpu_share": job.get("cpu_share"),
        "events_per_s": throughput.get("events_per_s"),
    }
