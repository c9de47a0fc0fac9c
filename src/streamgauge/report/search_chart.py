"""Charts of a search: each probe by its rate, with what it says, and the edge that was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamgauge.report.charts import SMALLEST_DRAWN_MS, escaped, framed, latency_axis, numbers
from streamgauge.report.markup import Column, Markup, chip, table
from streamgauge.report.probes import probe_cells, why
from streamgauge.report.words import per_second

Outcome = Mapping[str, Any]

_LOOKS = {
    "holds": ("held", "#0b9a6f", "circle"),
    "breaks": ("did not hold", "#c0392b", "x"),
    "nothing": ("says nothing of the engine", "#8a8f94", "diamond-open"),
}
_CHIPS = {"holds": "good", "breaks": "bad", "nothing": "warn"}


def charts_of(search: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Heading, caption and figure of each chart: latency, its rise and the queue's growth against the rate."""
    probes = [probe for probe in search["probes"] if probe.get("figures")]
    edge = _edge_words(search)
    wanted = (
        ("p50_ms", "Median latency by rate", f"Of each probe, both axes logarithmic. {edge}"),
        ("latency_rise_ms", "Rise of the median latency by rate", f"Over the probe, by Theil and Sen. {edge}"),
        ("queue_rise", "Growth of the input queue by rate", f"Events over the probe, by Theil and Sen. {edge}"),
    )
    found = []
    for name, heading, caption in wanted:
        known = [probe for probe in probes if probe["figures"].get(name) is not None]
        if known:
            found.append((heading, caption, _chart(search, known, name)))
    return found


def _edge_words(search: Mapping[str, Any]) -> str:
    if search.get("rate_per_s") is None:
        return "No rate held."
    above = search.get("above_per_s")
    beyond = f", the dotted one {per_second(above)}, which did not" if above is not None else ""
    return f"The solid line is {per_second(search['rate_per_s'])}, the highest rate that held{beyond}."


def _chart(search: Mapping[str, Any], probes: Sequence[Outcome], name: str) -> dict[str, Any]:
    latency = name == "p50_ms"
    data = [_marks(probes, says, name) for says in _LOOKS if any(probe["says"] == says for probe in probes)]
    values = [{"y": [y for each in data for y in each["y"]]}]
    axis = latency_axis(values) if latency else {"ticksuffix": " ms" if name.endswith("_ms") else ""}
    figure = framed(data, x="events per second, over all inputs", y="", y_axis=axis)
    figure["layout"].update(hovermode="closest", shapes=_edges(search))
    rates = sorted({probe["rate_per_s"] for probe in probes})
    figure["layout"]["xaxis"].update(
        type="log", tickvals=_spread(rates), ticktext=[f"{r:,.0f}" for r in _spread(rates)]
    )
    return figure


def _spread(rates: Sequence[float], apart: float = 1.25) -> list[float]:
    """Rates for the axis, none so near the one before that their labels would touch."""
    kept: list[float] = []
    for rate in rates:
        if not kept or rate / kept[-1] >= apart:
            kept.append(rate)
    return kept


def _marks(probes: Sequence[Outcome], says: str, name: str) -> dict[str, Any]:
    mine = [probe for probe in probes if probe["says"] == says]
    words, colour, symbol = _LOOKS[says]
    values = [float(probe["figures"][name]) for probe in mine]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": words,
        "x": numbers([probe["rate_per_s"] for probe in mine]),
        "y": numbers([max(v, SMALLEST_DRAWN_MS) if name == "p50_ms" else v for v in values]),
        "customdata": [[escaped(per_second(p["rate_per_s"])), escaped(why(p) or words)] for p in mine],
        "hovertemplate": "%{customdata[0]}: %{y:,.0f}<br>%{customdata[1]}<extra></extra>",
        "marker": {"color": colour, "symbol": symbol, "size": 10, "line": {"width": 1.5, "color": colour}},
    }


def _edges(search: Mapping[str, Any]) -> list[dict[str, Any]]:
    lines = [(search.get("rate_per_s"), "solid"), (search.get("above_per_s"), "dot")]
    return [
        {
            **{"type": "line", "x0": rate, "x1": rate, "yref": "paper", "y0": 0, "y1": 1},
            "line": {"dash": dash, "width": 1.5, "color": "#888"},
        }
        for rate, dash in lines
        if rate is not None
    ]


def probe_table(probes: Sequence[Outcome]) -> Markup:
    """Every probe in the order in which it was made."""
    names = ("#", "rate", "says", "p50", "p99", "latency rise", "queue growth", "drain", "job CPU")
    columns = [Column(name, "" if name == "says" else "number") for name in names]
    columns.append(Column("why", "full"))
    rows = []
    for number, probe in enumerate(probes, 1):
        cells: list[Any] = list(probe_cells(number, probe))
        cells[2] = chip(probe["says"] if probe["says"] != "nothing" else "says nothing", _CHIPS[probe["says"]])
        rows.append(("", [*cells, why(probe)]))
    return table(columns, rows, cards=True)
