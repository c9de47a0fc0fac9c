"""The one drawing code: Plotly figures from lines; colours and axes are the same on every page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamgauge.report.series import Line

# After Okabe and Ito's set for colour-blind readers, shifted to a contrast of 3:1 on both of the page's backgrounds.
PALETTE = ("#0a7abf", "#d55e00", "#0b9a6f", "#b8609a", "#8c7a00", "#5b6bd6", "#b0603a", "#5f7f86")
KNOWN = ("spark-microbatch", "spark-realtime", "spark-continuous", "spark-adaptive")

SMALLEST_DRAWN_MS = 0.5
"""Latencies are whole milliseconds; a logarithmic axis draws 0 ms here."""

HEIGHT_PX = 320
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
class Band:
    """A stretch of a coloured band: which row of it, from when to when, and what it stands for."""

    row: str
    from_s: float
    to_s: float
    kind: str


@dataclass(frozen=True)
class Mark:
    """A moment that a line is drawn through, with the words that explain it."""

    at: float
    words: str


@dataclass(frozen=True)
class Dot:
    """A measured point beside a predicted line."""

    x: float
    y: float
    kind: str
    words: str


BAND_COLOURS = {
    "operation stream": PALETTE[0],
    "data stream": PALETTE[1],
    "switching": "#8a9499",
}
"""The paradigms have the colours of the engines that stay in them."""


def engine_colours(engines: Iterable[str]) -> dict[str, str]:
    """One colour per engine; the engines of this project keep theirs on every page."""
    found = {e: PALETTE[KNOWN.index(e)] for e in engines if e in KNOWN}
    free = [c for c in PALETTE if c not in found.values()]
    for position, engine in enumerate(sorted(set(engines) - set(KNOWN))):
        found[engine] = free[position % len(free)]
    return found


def latency_chart(traces: Sequence[Trace], colours: dict[str, str]) -> dict[str, Any]:
    """Latency over time on a logarithmic axis."""
    data = [_scatter(t, colours, _drawable(t.line.y), "%{customdata:,.0f} ms") for t in traces if not t.line.empty]
    return _figure(data, x="seconds since the first measured event", y="latency", y_axis=_latency_axis(data))


def paradigm_chart(
    traces: Sequence[Trace], colours: dict[str, str], bands: Sequence[Band], marks: Sequence[Mark]
) -> dict[str, Any]:
    """Latency over time with the paradigm of every segment as a coloured band below it, and a line at every switch."""
    figure = latency_chart(traces, colours)
    rows = list(dict.fromkeys(band.row for band in bands))
    height = 26 * max(1, len(rows))
    share = height / (HEIGHT_PX + height)
    figure["data"] += [_stretch(band, first) for band, first in _with_first(bands)]
    figure["layout"]["height"] = HEIGHT_PX + height
    figure["layout"]["yaxis"]["domain"] = [share + 0.04, 1]
    labels = [_text(row) for row in rows]
    figure["layout"]["yaxis2"] = {
        **{"domain": [0, share], "type": "category", "categoryorder": "array", "categoryarray": labels[::-1]},
        **{"showgrid": False, "zeroline": False, "automargin": True},
    }
    figure["layout"]["xaxis"]["anchor"] = "y2"
    figure["layout"]["hovermode"] = "closest"
    figure["layout"]["shapes"] = [_mark_line(mark.at) for mark in marks]
    if marks:
        figure["data"].append(_mark_words(marks))
    return figure


def queue_chart(lines: Sequence[tuple[str, Line, str, str]], marks: Sequence[Mark]) -> dict[str, Any]:
    """Records over time, logarithmic: lines as (label, line, colour, dash), and a line at every switch."""
    data = [
        {
            **{"type": "scatter", "mode": "lines", "name": _text(label), "x": _numbers(line.x)},
            # A logarithmic axis has no zero: an empty queue is drawn as one record.
            **{"y": _numbers(np.maximum(line.y, 1.0)), "hovertemplate": "%{y:,.0f}"},
            "line": {"color": colour, "dash": dash, "width": 2},
        }
        for label, line, colour, dash in lines
        if not line.empty
    ]
    figure = _figure(data, x="seconds since the first measured event", y="records", y_axis={"type": "log"})
    figure["layout"]["shapes"] = [_mark_line(mark.at) for mark in marks]
    return figure


def prediction_chart(
    lines: Sequence[tuple[str, Line]], dots: Sequence[Dot], marks: Sequence[Mark], x: str = "events per second"
) -> dict[str, Any]:
    """Predicted latency over the rate, both logarithmic, with measured points as dots."""
    data: list[dict[str, Any]] = [
        {
            **{"type": "scatter", "mode": "lines", "name": _text(kind), "x": _numbers(line.x)},
            **{"y": _numbers(_drawable(line.y)), "hovertemplate": "%{y:,.1f} ms"},
            "line": {"color": BAND_COLOURS[kind], "width": 2},
        }
        for kind, line in lines
    ]
    for kind in dict.fromkeys(dot.kind for dot in dots):
        mine = [dot for dot in dots if dot.kind == kind]
        data.append(
            {
                **{"type": "scatter", "mode": "markers", "name": _text(f"{kind}, measured")},
                **{"x": [dot.x for dot in mine], "y": [max(dot.y, SMALLEST_DRAWN_MS) for dot in mine]},
                **{"text": [_text(dot.words) for dot in mine], "hovertemplate": "%{text}<extra></extra>"},
                "marker": {"color": BAND_COLOURS[kind], "size": 10, "symbol": "circle-open", "line": {"width": 2}},
            }
        )
    figure = _figure(data, x=x, y="latency", y_axis=_latency_axis(data))
    figure["layout"]["xaxis"].update(type="log", hoverformat=",.0f")
    figure["layout"]["shapes"] = [_mark_line(mark.at) for mark in marks]
    figure["layout"]["annotations"] = [
        {
            **{"x": float(np.log10(mark.at)), "y": 1, "yref": "paper", "yanchor": "top", "xanchor": "right"},
            **{"text": _text(mark.words), "showarrow": False, "font": {"size": 11}},
        }
        for mark in marks
    ]
    return figure


def _with_first(bands: Sequence[Band]) -> list[tuple[Band, bool]]:
    seen: set[str] = set()
    found = []
    for band in bands:
        found.append((band, band.kind not in seen))
        seen.add(band.kind)
    return found


def _stretch(band: Band, first: bool) -> dict[str, Any]:
    return {
        **{"type": "scatter", "mode": "lines", "x": [band.from_s, band.to_s], "y": [_text(band.row)] * 2},
        **{"yaxis": "y2", "name": band.kind, "legendgroup": band.kind, "showlegend": first},
        "line": {"color": BAND_COLOURS[band.kind], "width": 14},
        "hovertemplate": f"{band.kind}, {band.from_s:.1f}–{band.to_s:.1f} s<extra>{_text(band.row)}</extra>",
    }


def _mark_line(at: float) -> dict[str, Any]:
    line = {"type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1}
    return {**line, "line": {"dash": "dot", "width": 1, "color": "#888"}, "name": "switch"}


def _mark_words(marks: Sequence[Mark]) -> dict[str, Any]:
    return {
        **{"type": "scatter", "mode": "markers", "name": "switch", "x": [mark.at for mark in marks], "yaxis": "y"},
        **{"y": [SMALLEST_DRAWN_MS * 2] * len(marks), "text": [_text(mark.words) for mark in marks]},
        **{"hovertemplate": "%{text}<extra></extra>", "showlegend": False},
        "marker": {"color": "#888", "symbol": "triangle-up", "size": 9},
    }


def distribution_chart(traces: Sequence[Trace], colours: dict[str, str]) -> dict[str, Any]:
    """Latency by percentile: every further nine has the same room."""
    data = [_scatter(t, colours, _drawable(t.line.y), "%{customdata:,.0f} ms") for t in traces if not t.line.empty]
    highest = max((float(t.line.x.max()) for t in traces if not t.line.empty), default=10)
    ticks = [(at, text) for at, text in NINES if at <= highest * 1.05]
    figure = _figure(data, x="share of events answered within that latency", y="latency", y_axis=_latency_axis(data))
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
        each["hovertemplate"] = "%{text} within %{customdata:,.0f} ms<extra>" + _text(trace.label) + "</extra>"
    return figure


def throughput_chart(traces: Sequence[Trace], colours: dict[str, str]) -> dict[str, Any]:
    """Events per second over time."""
    data = [_scatter(t, colours, t.line.y, "%{y:,.0f}/s") for t in traces if not t.line.empty]
    return _figure(
        data, x="seconds since the first measured event", y="events per second", y_axis={"rangemode": "tozero"}
    )


def cpu_chart(traces: Sequence[Trace], colours: dict[str, str]) -> dict[str, Any]:
    """Cores in use over time."""
    data = [_scatter(t, colours, t.line.y, "%{y:.2f} cores") for t in traces if not t.line.empty]
    return _figure(data, x="seconds since the first measured event", y="cores in use", y_axis={"rangemode": "tozero"})


def memory_chart(traces: Sequence[Trace], colours: dict[str, str]) -> dict[str, Any]:
    """Resident memory and heap over time, in MiB."""
    data = [_scatter(t, colours, t.line.y / 2**20, "%{y:,.0f} MiB") for t in traces if not t.line.empty]
    return _figure(data, x="seconds since the first measured event", y="MiB", y_axis={"rangemode": "tozero"})


def overview_chart(reaches: Sequence[Reach], colours: dict[str, str], floor_ms: float | None) -> dict[str, Any]:
    """Every trial as a bar from its median to its p99, with its largest latency as a thin line."""
    data: list[dict[str, Any]] = []
    labels = [_row_label(r.label) for r in reaches]
    for reach, label in zip(reaches, labels, strict=True):
        data += _reach_marks(reach, label, colours[reach.engine])
    figure = _figure(data, x="latency", y="", y_axis={"type": "category", "automargin": True, "showgrid": False})
    figure["layout"].update(height=80 + 46 * max(1, len(reaches)), showlegend=False, hovermode="closest")
    figure["layout"]["yaxis"].update(categoryorder="array", categoryarray=labels[::-1], title=None)
    floor = [max(floor_ms, SMALLEST_DRAWN_MS)] if floor_ms else []
    figure["layout"]["xaxis"].update(_latency_axis([{"y": floor}, *({"y": d["x"]} for d in data)]))
    figure["layout"]["shapes"] = [_floor_line(at) for at in floor]
    return figure


def rate_chart(bars: Sequence[Bar], colours: dict[str, str]) -> dict[str, Any]:
    """Events per second as horizontal bars, with intervals where there are repeats."""
    labels = [_row_label(b.label) for b in bars]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": [round(b.events_per_s, 1)],
            "y": [label],
            "text": [f"{b.events_per_s:,.0f}/s"],
            "textposition": "auto",
            "error_x": {"type": "data", "array": [round(b.half, 1)], "visible": b.half > 0, "thickness": 1.5},
            "marker": {"color": colours[b.engine]},
            "hovertemplate": "%{x:,.0f} events/s<extra>" + label + "</extra>",
        }
        for b, label in zip(bars, labels, strict=True)
    ]
    figure = _figure(data, x="events per second", y="", y_axis={"type": "category", "showgrid": False})
    figure["layout"].update(height=80 + 46 * max(1, len(bars)), showlegend=False, hovermode="closest", barmode="stack")
    figure["layout"]["yaxis"].update(categoryorder="array", categoryarray=labels[::-1], title=None)
    figure["layout"]["xaxis"]["rangemode"] = "tozero"
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
        "name": _text(trace.label),
        "x": _numbers(trace.line.x),
        "y": _numbers(y),
        "customdata": _numbers(trace.line.y),
        "hovertemplate": hover,
        "legendgroup": trace.group or trace.label,
        "showlegend": trace.in_legend,
        "line": {"color": colours[trace.engine], "dash": trace.dash, "width": 1.2 if trace.faint else 2},
        "opacity": 0.55 if trace.faint else 1,
    }


def _latency_axis(data: Sequence[dict[str, Any]]) -> dict[str, Any]:
    values = [v for d in data for v in d["y"] if v is not None]
    low, high = (min(values), max(values)) if values else (1, 1000)
    at = [m * 10**p for p in range(-1, 8) for m in (1, 2, 5)]
    decades = np.log10(high / low)
    if decades > 1.7:
        at = [v for v in at if f"{v:g}"[0] == "1" or (decades < 3 and f"{v:g}"[0] == "5")]
    edges = [float(np.log10(low * 0.7)), float(np.log10(high * 1.4))]
    return {"type": "log", "tickvals": at, "ticktext": [_tick(v) for v in at], "range": edges}


def _tick(value_ms: float) -> str:
    return f"{value_ms:g} ms" if value_ms < 1000 else f"{value_ms / 1000:g} s"


def _figure(data: list[dict[str, Any]], *, x: str, y: str, y_axis: dict[str, Any]) -> dict[str, Any]:
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


def _drawable(latency_ms: Any) -> Any:
    return np.maximum(latency_ms, SMALLEST_DRAWN_MS)


def _numbers(values: Any) -> list[float | None]:
    return [None if not np.isfinite(v) else (int(v) if v == int(v) else round(float(v), 3)) for v in values]


def _row_label(name: str) -> str:
    return "<br>".join(_text(part) for part in name.split(" · "))


def _text(name: str) -> str:
    # Plotly reads a subset of HTML in names; a name is text, so it is escaped here as on the rest of the page.
    return html.escape(name, quote=False)
