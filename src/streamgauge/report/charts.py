"""The one drawing code: Plotly figures from lines; colours and axes are the same on every page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamgauge.report.series import Line, Mark

# After Okabe and Ito's set for colour-blind readers, shifted to a contrast of 3:1 on both of the page's backgrounds.
PALETTE = ("#0a7abf", "#d55e00", "#0b9a6f", "#b8609a", "#8c7a00", "#5b6bd6", "#b0603a", "#5f7f86")
KNOWN = ("spark-microbatch", "spark-realtime", "spark-continuous", "spark-adaptive")

SMALLEST_DRAWN_MS = 0.5
"""Latencies are whole milliseconds; a logarithmic axis draws 0 ms here."""

HEIGHT_PX = 320
_MOST_STEPS = 6
NINES = ((1, "0 %"), (2, "50 %"), (10, "90 %"), (100, "99 %"), (1e3, "99.9 %"), (1e4, "99.99 %"), (1e5, "99.999 %"))


@dataclass(frozen=True)
class Trace:
    """A line with what tells it apart: whose it is, what it shows, how it is dashed."""

    engine: str
    label: str
    line: Line
    dash: str = "solid"
    faint: bool = False
    group: str = ""
    in_legend: bool = True


@dataclass(frozen=True)
class Reach:
    """One row of the overview: a trial's or a group's latency from the median to the largest."""

    label: str
    engine: str
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None


@dataclass(frozen=True)
class Bar:
    """One row of a bar chart: a rate with the half-width of its interval."""

    label: str
    engine: str
    events_per_s: float
    half: float = 0.0


@dataclass(frozen=True)
class Stack:
    """One row of a stacked chart: milliseconds by what they were spent on, in order."""

    label: str
    parts: dict[str, float]


def engine_colours(engines: Iterable[str]) -> dict[str, str]:
    """One colour per engine; the engines of this project keep theirs on every page."""
    named = set(engines)
    found = {e: PALETTE[KNOWN.index(e)] for e in KNOWN if e in named}
    free = [c for c in PALETTE if c not in found.values()]
    for position, engine in enumerate(sorted(named - set(KNOWN))):
        found[engine] = free[position % len(free)]
    return found


def name_colours(names: Iterable[str]) -> dict[str, str]:
    """One colour per name in their order, for lines that are told apart by more than their engine."""
    return {name: PALETTE[position % len(PALETTE)] for position, name in enumerate(dict.fromkeys(names))}


def latency_chart(traces: Sequence[Trace], colours: dict[str, str]) -> dict[str, Any]:
    """Latency over time on a logarithmic axis."""
    data = [_scatter(t, colours, drawable(t.line.y), "%{customdata:,.0f} ms") for t in traces if not t.line.empty]
    return framed(data, x="seconds since the first measured event", y="latency", y_axis=latency_axis(data))


def distribution_chart(traces: Sequence[Trace], colours: dict[str, str]) -> dict[str, Any]:
    """Latency by percentile: every further nine has the same room."""
    data = [_scatter(t, colours, drawable(t.line.y), "%{customdata:,.0f} ms") for t in traces if not t.line.empty]
    highest = max((float(t.line.x.max()) for t in traces if not t.line.empty), default=10)
    ticks = [(at, text) for at, text in NINES if at <= highest * 1.05]
    figure = framed(data, x="share of events answered within that latency", y="latency", y_axis=latency_axis(data))
    figure["layout"]["xaxis"].update(
        type="log",
        range=[0, float(np.log10(highest)) * 1.02],
        tickvals=[at for at, _ in ticks],
        ticktext=[text for _, text in ticks],
        hoverformat=",.4~g",
    )
    figure["layout"]["hovermode"] = "closest"
    for each, trace in zip(data, (t for t in traces if not t.line.empty), strict=True):
        each["text"] = [f"{100 * (1 - 1 / x):.6g} %" for x in trace.line.x]
        each["hovertemplate"] = "%{text} within %{customdata:,.0f} ms<extra>" + escaped(trace.label) + "</extra>"
    return figure


def throughput_chart(traces: Sequence[Trace], colours: dict[str, str]) -> dict[str, Any]:
    """Events per second over time."""
    data = [_scatter(t, colours, t.line.y, "%{y:,.0f}/s") for t in traces if not t.line.empty]
    return framed(
        data, x="seconds since the first measured event", y="events per second", y_axis={"rangemode": "tozero"}
    )


def availability_chart(traces: Sequence[Trace], colours: dict[str, str]) -> dict[str, Any]:
    """Whether the service was available, in steps."""
    data = [_scatter(t, colours, t.line.y, "%{text}") for t in traces if not t.line.empty]
    for each in data:
        each["line"] = {**each["line"], "shape": "hv"}
        each["text"] = ["available" if y else "not available" for y in each["y"]]
    axis = {"range": [-0.1, 1.1], "tickvals": [0, 1], "ticktext": ["not there", "there"]}
    return framed(data, x="seconds since the first measured event", y="", y_axis=axis)


def cpu_chart(traces: Sequence[Trace], colours: dict[str, str]) -> dict[str, Any]:
    """Cores in use over time."""
    data = [_scatter(t, colours, t.line.y, "%{y:.2f} cores") for t in traces if not t.line.empty]
    return framed(data, x="seconds since the first measured event", y="cores in use", y_axis={"rangemode": "tozero"})


def memory_chart(traces: Sequence[Trace], colours: dict[str, str]) -> dict[str, Any]:
    """Resident memory and heap over time, in MiB."""
    data = [_scatter(t, colours, t.line.y / 2**20, "%{y:,.0f} MiB") for t in traces if not t.line.empty]
    return framed(data, x="seconds since the first measured event", y="MiB", y_axis={"rangemode": "tozero"})


def with_marks(figure: dict[str, Any], marks: Sequence[Mark], colours: dict[str, str]) -> dict[str, Any]:
    """The chart with a line at every fault, shaded up to where it was undone, each named once at its top."""
    if not marks or not figure["data"]:
        return figure
    shapes, notes = mark_shapes(marks, colours)
    layout = figure["layout"]
    layout["shapes"] = [*layout.get("shapes", []), *shapes]
    layout["annotations"] = [*layout.get("annotations", []), *notes]
    layout["margin"] = {**layout["margin"], "t": 24}
    return figure


def mark_shapes(marks: Sequence[Mark], colours: dict[str, str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Lines and shades of faults for a chart's layout, and their names; each name once where several coincide."""
    shapes, notes, named = [], [], set()
    for mark in marks:
        across = {"yref": "paper", "y0": 0, "y1": 1, "x0": round(mark.at_s, 3)}
        colour = colours[mark.engine]
        if mark.until_s is not None:
            span = {"type": "rect", "x1": round(mark.until_s, 3), "line": {"width": 0}, "opacity": 0.12}
            shapes.append({**across, **span, "fillcolor": colour, "layer": "below"})
        line = {"type": "line", "x1": round(mark.at_s, 3), "line": {"dash": "dashdot", "width": 1.5, "color": colour}}
        shapes.append({**across, **line, "name": "fault"})
        at = (mark.label, round(mark.at_s))
        if at not in named:
            named.add(at)
            notes.append(
                {
                    **{"x": round(mark.at_s, 3), "y": 1, "yref": "paper", "yanchor": "bottom", "xanchor": "left"},
                    **{"text": escaped(mark.label), "showarrow": False, "font": {"size": 11}},
                }
            )
    return shapes, notes


def overview_chart(reaches: Sequence[Reach], colours: dict[str, str], floor_ms: float | None) -> dict[str, Any]:
    """Every trial as a bar from its median to its p99, with its largest latency as a thin line."""
    data: list[dict[str, Any]] = []
    labels = [row_label(r.label) for r in reaches]
    for reach, label in zip(reaches, labels, strict=True):
        data += _reach_marks(reach, label, colours[reach.engine])
    figure = framed(data, x="latency", y="", y_axis={"type": "category", "automargin": True, "showgrid": False})
    figure["layout"].update(height=80 + 46 * max(1, len(reaches)), showlegend=False, hovermode="closest")
    figure["layout"]["yaxis"].update(categoryorder="array", categoryarray=labels[::-1], title=None)
    floor = [max(floor_ms, SMALLEST_DRAWN_MS)] if floor_ms else []
    figure["layout"]["xaxis"].update(latency_axis([{"y": floor}, *({"y": d["x"]} for d in data)]))
    figure["layout"]["shapes"] = [_floor_line(at) for at in floor]
    return figure


def rate_chart(bars: Sequence[Bar], colours: dict[str, str]) -> dict[str, Any]:
    """Events per second as horizontal bars, with intervals where there are repeats."""
    labels = [row_label(b.label) for b in bars]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": [round(b.events_per_s, 1)],
            "y": [label],
            "text": [f"{b.events_per_s:,.0f}/s"],
            "textposition": "auto",
            "insidetextanchor": "start",
            "error_x": {"type": "data", "array": [round(b.half, 1)], "visible": b.half > 0, "thickness": 1.5},
            "marker": {"color": colours[b.engine]},
            "hovertemplate": "%{x:,.0f} events/s<extra>" + label + "</extra>",
        }
        for b, label in zip(bars, labels, strict=True)
    ]
    figure = framed(data, x="events per second", y="", y_axis={"type": "category", "showgrid": False})
    figure["layout"].update(height=80 + 46 * max(1, len(bars)), showlegend=False, hovermode="closest", barmode="stack")
    figure["layout"]["yaxis"].update(categoryorder="array", categoryarray=labels[::-1], title=None)
    figure["layout"]["xaxis"]["rangemode"] = "tozero"
    return figure


def stack_chart(stacks: Sequence[Stack]) -> dict[str, Any]:
    """Milliseconds as horizontal bars, what they were spent on end to end."""
    labels = [row_label(s.label) for s in stacks]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": escaped(part),
            "x": [round(s.parts[part], 2) for s in stacks],
            "y": labels,
            "marker": {"color": PALETTE[number % len(PALETTE)]},
            "hovertemplate": "%{x:,.1f} ms<extra>" + escaped(part) + "</extra>",
        }
        for number, part in enumerate(dict.fromkeys(part for s in stacks for part in s.parts))
    ]
    figure = framed(data, x="latency", y="", y_axis={"type": "category", "showgrid": False})
    figure["layout"].update(height=130 + 46 * max(1, len(stacks)), hovermode="closest", barmode="stack")
    figure["layout"]["yaxis"].update(categoryorder="array", categoryarray=labels[::-1], title=None)
    figure["layout"]["xaxis"].update(duration_axis([sum(s.parts.values()) for s in stacks]))
    return figure


def _reach_marks(reach: Reach, label: str, colour: str) -> list[dict[str, Any]]:
    points = [(n, v) for n, v in (("p50", reach.p50), ("p95", reach.p95), ("p99", reach.p99), ("max", reach.max))]
    known = [(n, float(v)) for n, v in points if v is not None]
    if not known:
        return []
    x = [max(v, SMALLEST_DRAWN_MS) for _, v in known]
    broad = x[:-1] if known[-1][0] == "max" and len(x) > 1 else x
    quiet = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    return [
        {**quiet, "x": x, "y": [label] * len(x), "line": {"color": colour, "width": 1.5}, "opacity": 0.6},
        {**quiet, "x": broad, "y": [label] * len(broad), "line": {"color": colour, "width": 9}, "opacity": 0.35},
        {
            "type": "scatter",
            "mode": "markers",
            "x": x,
            "y": [label] * len(x),
            "opacity": 1,
            "marker": {
                "color": colour,
                "opacity": 1,
                "size": [13 if n == "p50" else 8 for n, _ in known],
                "symbol": [{"p50": "circle", "max": "line-ns-open"}.get(n, "circle-open") for n, _ in known],
                "line": {"width": 2, "color": colour},
            },
            "customdata": [[n, v] for n, v in known],
            "hovertemplate": "%{customdata[0]} %{customdata[1]:,.0f} ms<extra>" + label + "</extra>",
        },
    ]


def _floor_line(at_ms: float) -> dict[str, Any]:
    line = {"type": "line", "x0": at_ms, "x1": at_ms, "yref": "paper", "y0": 0, "y1": 1}
    return {**line, "line": {"dash": "dot", "width": 1.5, "color": "#888"}, "name": "floor"}


def _scatter(trace: Trace, colours: dict[str, str], y: Any, hover: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escaped(trace.label),
        "x": numbers(trace.line.x),
        "y": numbers(y),
        "customdata": numbers(trace.line.y),
        "hovertemplate": hover,
        "legendgroup": trace.group or trace.label,
        "showlegend": trace.in_legend,
        "line": {"color": colours[trace.engine], "dash": trace.dash, "width": 1.2 if trace.faint else 2},
        "opacity": 0.55 if trace.faint else 1,
    }


def latency_axis(data: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A logarithmic axis for milliseconds, with ticks where a reader wants them, around the data's own range."""
    values = [v for d in data for v in d["y"] if v is not None]
    low, high = (min(values), max(values)) if values else (1, 1000)
    at = [m * 10**p for p in range(-1, 8) for m in (1, 2, 5)]
    decades = np.log10(high / low)
    if decades > 1.7:
        at = [v for v in at if f"{v:g}"[0] == "1" or (decades < 3 and f"{v:g}"[0] == "5")]
    edges = [float(np.log10(low * 0.7)), float(np.log10(high * 1.4))]
    return {"type": "log", "tickvals": at, "ticktext": [_tick(v) for v in at], "range": edges}


def duration_axis(values: Sequence[float]) -> dict[str, Any]:
    """A linear axis from zero for milliseconds: a few round steps, told in seconds from a second on."""
    highest = max(values, default=0) or 1.0
    steps = (m * 10.0**p for p in range(-3, 9) for m in (1, 2, 5))
    step = next(each for each in steps if highest / each <= _MOST_STEPS)
    at = [step * n for n in range(_MOST_STEPS + 2)]
    return {"rangemode": "tozero", "tickvals": at, "ticktext": [_tick(v) for v in at]}


def _tick(value_ms: float) -> str:
    return f"{value_ms:g} ms" if value_ms < 1000 else f"{value_ms / 1000:g} s"


def framed(data: list[dict[str, Any]], *, x: str, y: str, y_axis: dict[str, Any]) -> dict[str, Any]:
    """A figure of these traces with the axes, margins and legend that every chart has."""
    layout = {
        "height": HEIGHT_PX,
        "margin": {"l": 58, "r": 26, "t": 8, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "x unified",
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": -0.24, "yanchor": "top", "font": {"size": 12}},
        "xaxis": {"title": {"text": x, "font": {"size": 12}, "standoff": 6}, "zeroline": False, "automargin": True},
        "yaxis": {"title": {"text": y, "font": {"size": 12}}, "zeroline": False, "automargin": True, **y_axis},
    }
    return {"data": data, "layout": layout}


def drawable(latency_ms: Any) -> Any:
    """Latencies as they can be drawn on a logarithmic axis, which has no zero."""
    return np.maximum(latency_ms, SMALLEST_DRAWN_MS)


def numbers(values: Any) -> list[float | None]:
    """Numbers as JSON takes them, short; what is none breaks a line."""
    return [None if not np.isfinite(v) else (int(v) if v == int(v) else round(float(v), 3)) for v in values]


def row_label(name: str) -> str:
    """The label of a row, in lines."""
    return "<br>".join(escaped(part) for part in name.split(" · "))


def escaped(name: str) -> str:
    """A name as text in a chart."""
    # Plotly reads a subset of HTML in names; a name is text, so it is escaped here as on the rest of the page.
    return html.escape(name, quote=False)
