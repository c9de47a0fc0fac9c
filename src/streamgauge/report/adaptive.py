"""What a scheduler decided, drawn from a stored trial: the paradigm of every segment, the queues, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc

from streamgauge.model.errors import StoreError
from streamgauge.paradigms.calibration import Calibration, SegmentCalibration
from streamgauge.paradigms.decisions import Decision, from_lines
from streamgauge.paradigms.ticks import TICKS
from streamgauge.report import charts, series
from streamgauge.report.charts import Trace
from streamgauge.report.drawing import DrawnTrial, Figure
from streamgauge.report.faults import fault_marks
from streamgauge.report.markup import Column, Markup, element, joined, table
from streamgauge.report.paradigm_charts import Band, Signpost, paradigm_chart, queue_chart
from streamgauge.report.series import TIMELINE_POINTS, Line
from streamgauge.report.words import NOTHING, count, milliseconds, per_second

SWITCHING = "switching"
AWAY_S = 3.0
"""Where nothing was seen for longer, nobody looked: the driver was away."""
_HOW = (
    "V: what arrives per second. L: records that wait. K = PD ÷ PO; C = T ÷ 2 + t_s + t_ot − t_dt; "
    "L_switch = K·(V·T) + C·PD, and L_up and L_down lie δ above and below it. "
    "Costs are expected latency × time until all is as before."
)


def has_scheduler(trial: DrawnTrial) -> bool:
    """Whether a scheduler decided in the trial, and what it saw can be read."""
    return TICKS in trial.tables and trial.tables[TICKS].num_rows > 0


def decisions_of(trial: DrawnTrial) -> tuple[list[Decision], str]:
    """The trial's decisions up to where they can be read, and in words what cannot."""
    found: list[Decision] = []
    try:
        for each in from_lines(trial.decisions):
            found.append(each)
    except StoreError as error:
        return found, str(error)
    return found, ""


def figures(trial: DrawnTrial, colours: dict[str, str]) -> list[Figure]:
    """The band under the latency, and the queue of every segment against its L_up and L_down."""
    ticks, start_ms = trial.tables[TICKS], trial.start_ms
    made = [each for each in decisions_of(trial)[0] if each.action == "switch"]
    marks = [Signpost(round(each.at_s - start_ms / 1000, 3), each.words) for each in made]
    faults = fault_marks(trial.record)
    segments = list(dict.fromkeys(ticks.column("segment").to_pylist()))
    bands = [band for segment in segments for band in _bands(_of(ticks, segment), segment, start_ms)]
    found = [
        Figure(
            "Latency and paradigm over time",
            "Event latency per second, logarithmic. The band below is the paradigm of every segment, "
            "and a dotted line the moment at which a switch was decided.",
            charts.with_marks(paradigm_chart(_latency(trial), colours, bands, marks), faults, colours),
        )
    ]
    for segment in segments:
        mine = [mark for mark, each in zip(marks, made, strict=True) if segment in each.switched]
        lines = _queue_lines(_of(ticks, segment), start_ms)
        name = f" of {segment}" if len(segments) > 1 else ""
        caption = "Records that wait, against the lengths at which a switch is considered; logarithmic."
        chart = charts.with_marks(queue_chart(lines, mine), faults, colours)
        found.append(Figure(f"Queue{name}", caption, chart))
    return found


def decisions_section(trial: DrawnTrial) -> Markup:
    """Every decision with its inputs."""
    decisions, damage = decisions_of(trial)
    if damage:
        return element("p", damage, class_="bad")
    if not decisions:
        return element("p", "Nothing was decided: every segment stayed in the data stream.", class_="soft")
    columns = [
        Column("at", "number title"),
        Column("segment"),
        Column("decision", "full"),
        *(Column(name, "number") for name in ("V", "L", "L_down", "L_up", "K", "C", "PD", "PO")),
        Column("costs", "number"),
        Column("λ"),
        Column("range"),
        Column("why", "full"),
    ]
    rows = [("", _cells(each, trial.start_ms / 1000)) for each in decisions]
    return joined([element("h3", "Decisions"), element("p", _HOW, class_="soft"), table(columns, rows, cards=True)])


def decision_words(decision: Decision) -> str:
    """What was decided, in a few words."""
    if decision.action != "switch":
        return f"stay in {decision.paradigm.value}"
    how = f", {decision.how.value}" if decision.how else ""
    bound = f", ≤ {count(decision.max_records_per_batch)} a batch" if decision.max_records_per_batch else ""
    return f"to {decision.to.value}{how}{bound}"


def _cells(decision: Decision, start_s: float) -> list[str]:
    costs = (decision.cost_stay, decision.cost_switch)
    priced = " → ".join(NOTHING if each is None else f"{each:.2f}" for each in costs)
    return [
        f"{decision.at_s - start_s:.1f} s",
        decision.segment,
        decision_words(decision),
        per_second(decision.arrival_per_s),
        *(count(each) for each in (decision.queue, decision.l_down, decision.l_up)),
        f"{decision.k:.2f}",
        milliseconds(decision.c_s * 1000),
        per_second(decision.data_per_s),
        per_second(decision.operation_per_s),
        f"{priced} s²",
        ", ".join(f"{each:.3g}" for each in decision.magnifications),
        ", ".join(decision.range),
        decision.reason,
    ]


def _latency(trial: DrawnTrial) -> list[Trace]:
    if "latency" not in trial.tables:
        return []
    engine = trial.record["engine"]
    return [
        Trace(engine, f"{engine} {name}", series.latency_over_time(trial.tables["latency"], quantile), dash)
        for name, quantile, dash in (("p50", 0.5, "solid"), ("p99", 0.99, "dot"))
    ]


def _of(ticks: Any, segment: str) -> Any:
    return ticks.filter(pc.equal(ticks.column("segment"), segment))


def _bands(ticks: Any, segment: str, start_ms: float) -> list[Band]:
    at_s = (np.asarray(ticks.column("at_ms").to_pandas(), dtype=np.float64) - start_ms) / 1000
    kinds = np.where(ticks.column("switching").to_pandas(), SWITCHING, ticks.column("paradigm").to_pandas())
    away = np.diff(at_s) > AWAY_S
    edges = [0, *(np.flatnonzero((kinds[1:] != kinds[:-1]) | away) + 1).tolist()]
    ends = [*(edge - 1 if away[edge - 1] else edge for edge in edges[1:]), at_s.size - 1]
    return [
        Band(segment, round(float(at_s[first]), 2), round(float(at_s[last]), 2), str(kinds[first]))
        for first, last in zip(edges, ends, strict=True)
    ]


def _queue_lines(ticks: Any, start_ms: float) -> list[tuple[str, Line, str, str]]:
    at_s = (np.asarray(ticks.column("at_ms").to_pandas(), dtype=np.float64) - start_ms) / 1000
    drawn = (("L", "queue", 0, "solid"), ("L_up", "l_up", 1, "dash"), ("L_down", "l_down", 2, "dot"))
    return [
        (label, _thinned(at_s, np.asarray(ticks.column(name).to_pandas(), dtype=np.float64)), charts.PALETTE[at], dash)
        for label, name, at, dash in drawn
    ]


def _thinned(at_s: series.Floats, values: series.Floats) -> Line:
    """As many points as a screen shows; the highest of each slot, since a queue is about its peaks."""
    step = max(1, -(-values.size // TIMELINE_POINTS))
    edges = np.arange(0, values.size, step)
    return Line(np.round(at_s[edges], 2), np.maximum.reduceat(values, edges) if step > 1 else values)


def calibration_section(document: Mapping[str, Any]) -> Markup:
    """A stored calibration: the figures of every segment in both paradigms."""
    try:
        found = Calibration.from_dict(document)
    except StoreError as error:
        return element("p", str(error), class_="bad")
    names = ("PD", "PO", "K", "t_s", "t_ot", "t_dt", "λ")
    columns = [Column("segment", "title"), *(Column(name, "number") for name in names), Column("stages", "full")]
    rows = [("", _calibrated(segment)) for segment in found.segments]
    return joined([element("p", _CALIBRATED, class_="soft"), table(columns, rows, cards=True)])


_CALIBRATED = (
    "PD and PO: records per second that the data stream and a micro-batch work off. t_s and t_ot: fixed time of a "
    "micro-batch. t_dt: latency of the data stream when nothing waits. λ: outputs for every record."
)


def _calibrated(segment: SegmentCalibration) -> list[str]:
    each = segment.figures
    return [
        segment.name,
        per_second(each.data_per_s),
        per_second(each.operation_per_s),
        f"{each.k:.2f}",
        *(milliseconds(t * 1000) for t in (each.schedule_s, each.operation_transfer_s, each.data_transfer_s)),
        f"{segment.magnification:.3g}",
        " → ".join(f"{stage} (λ {value:.3g})" for stage, value in segment.magnifications.items()),
    ]
