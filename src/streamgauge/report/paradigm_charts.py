"""Charts of the two paradigms: the band under the latency, queues against their limits, predictions over the rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamgauge.report.charts import (
    HEIGHT_PX,
    PALETTE,
    SMALLEST_DRAWN_MS,
    Trace,
    drawable,
    escaped,
    framed,
    latency_axis,
    latency_chart,
    numbers,
)
from streamgauge.report.series import Line


@dataclass(frozen=True)
class Band:
    """A stretch of a coloured band: which row of it, from when to when, and what it stands for."""

    row: str
    from_s: float
    to_s: float
    kind: str


@dataclass(frozen=True)
class Signpost:
    """A place on the axis that a line is drawn through, with the words that explain it."""

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


def paradigm_chart(
    traces: Sequence[Trace], colours: dict[str, str], bands: Sequence[Band], marks: Sequence[Signpost]
) -> dict[str, Any]:
    """Latency over time with the paradigm of every segment as a coloured band below it, and a line at every switch."""
    figure = latency_chart(traces, colours)
    rows = list(dict.fromkeys(band.row for band in bands))
    height = 26 * max(1, len(rows))
    share = height / (HEIGHT_PX + height)
    figure["data"] += [_stretch(band, first) for band, first in _with_first(bands)]
    figure["layout"]["height"] = HEIGHT_PX + height
    figure["layout"]["yaxis"]["domain"] = [share + 0.04, 1]
    labels = [escaped(row) for row in rows]
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


def queue_chart(lines: Sequence[tuple[str, Line, str, str]], marks: Sequence[Signpost]) -> dict[str, Any]:
    """Records over time, logarithmic: lines as (label, line, colour, dash), and a line at every switch."""
    data = [
        {
            **{"type": "scatter", "mode": "lines", "name": escaped(label), "x": numbers(line.x)},
            # A logarithmic axis has no zero: an empty queue is drawn as one record.
            **{"y": numbers(np.maximum(line.y, 1.0)), "hovertemplate": "%{y:,.0f}"},
            "line": {"color": colour, "dash": dash, "width": 2},
        }
        for label, line, colour, dash in lines
        if not line.empty
    ]
    figure = framed(data, x="seconds since the first measured event", y="records", y_axis={"type": "log"})
    figure["layout"]["shapes"] = [_mark_line(mark.at) for mark in marks]
    return figure


def prediction_chart(
    lines: Sequence[tuple[str, Line]], dots: Sequence[Dot], marks: Sequence[Signpost], x: str = "events per second"
) -> dict[str, Any]:
    """Predicted latency over the rate, both logarithmic, with measured points as dots."""
    data: list[dict[str, Any]] = [
        {
            **{"type": "scatter", "mode": "lines", "name": escaped(kind), "x": numbers(line.x)},
            **{"y": numbers(drawable(line.y)), "hovertemplate": "%{y:,.1f} ms"},
            "line": {"color": BAND_COLOURS[kind], "width": 2},
        }
        for kind, line in lines
    ]
    for kind in dict.fromkeys(dot.kind for dot in dots):
        mine = [dot for dot in dots if dot.kind == kind]
        data.append(
            {
                **{"type": "scatter", "mode": "markers", "name": escaped(f"{kind}, measured")},
                **{"x": [dot.x for dot in mine], "y": [max(dot.y, SMALLEST_DRAWN_MS) for dot in mine]},
                **{"text": [escaped(dot.words) for dot in mine], "hovertemplate": "%{text}<extra></extra>"},
                "marker": {"color": BAND_COLOURS[kind], "size": 10, "symbol": "circle-open", "line": {"width": 2}},
            }
        )
    figure = framed(data, x=x, y="latency", y_axis=latency_axis(data))
    figure["layout"]["xaxis"].update(type="log", hoverformat=",.0f")
    figure["layout"]["shapes"] = [_mark_line(mark.at) for mark in marks]
    figure["layout"]["annotations"] = [
        {
            **{"x": float(np.log10(mark.at)), "y": 1, "yref": "paper", "yanchor": "top", "xanchor": "right"},
            **{"text": escaped(mark.words), "showarrow": False, "font": {"size": 11}},
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
        **{"type": "scatter", "mode": "lines", "x": [band.from_s, band.to_s], "y": [escaped(band.row)] * 2},
        **{"yaxis": "y2", "name": band.kind, "legendgroup": band.kind, "showlegend": first},
        "line": {"color": BAND_COLOURS[band.kind], "width": 14},
        "hovertemplate": f"{band.kind}, {band.from_s:.1f}–{band.to_s:.1f} s<extra>{escaped(band.row)}</extra>",
    }


def _mark_line(at: float) -> dict[str, Any]:
    line = {"type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1}
    return {**line, "line": {"dash": "dot", "width": 1, "color": "#888"}, "name": "switch"}


def _mark_words(marks: Sequence[Signpost]) -> dict[str, Any]:
    return {
        **{"type": "scatter", "mode": "markers", "name": "switch", "x": [mark.at for mark in marks], "yaxis": "y"},
        **{"y": [SMALLEST_DRAWN_MS * 2] * len(marks), "text": [escaped(mark.words) for mark in marks]},
        **{"hovertemplate": "%{text}<extra></extra>", "showlegend": False},
        "marker": {"color": "#888", "symbol": "triangle-up", "size": 9},
    }
