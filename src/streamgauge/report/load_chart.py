"""The load of a trial before it runs: how many events are due when, and what goes wrong on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamgauge.report.charts import PALETTE, framed, mark_shapes, numbers
from streamgauge.report.series import Mark

_WARMING = "the warm-up"


def load_chart(edges_s: Sequence[float], rates_per_s: Sequence[float], marks: Sequence[Mark]) -> dict[str, Any]:
    """Events per second as a stepped line, a rate between each two edges; before 0 is the warm-up."""
    line = {
        **{"type": "scatter", "mode": "lines", "name": "due", "fill": "tozeroy", "hovertemplate": "%{y:,.0f}/s"},
        **{"x": numbers(edges_s), "y": numbers([*rates_per_s, *rates_per_s[-1:]])},
        "line": {"color": PALETTE[0], "width": 2, "shape": "hv"},
    }
    figure = framed(
        [line], x="seconds since the first measured event", y="events per second", y_axis={"rangemode": "tozero"}
    )
    shapes, notes = mark_shapes(marks, {mark.engine: PALETTE[1] for mark in marks})
    if edges_s and edges_s[0] < 0:
        across = {"type": "rect", "yref": "paper", "y0": 0, "y1": 1, "x0": edges_s[0], "x1": 0, "line": {"width": 0}}
        shapes.insert(0, {**across, "fillcolor": "#888", "opacity": 0.15, "layer": "below", "name": _WARMING})
        notes.append(
            {
                **{"x": edges_s[0], "y": 1, "yref": "paper", "yanchor": "top", "xanchor": "left"},
                **{"text": "warm-up", "showarrow": False, "font": {"size": 11}},
            }
        )
    figure["layout"].update(shapes=shapes, annotations=notes, showlegend=False, height=280)
    figure["layout"]["margin"]["t"] = 24
    return figure
