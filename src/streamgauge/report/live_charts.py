"""Charts of a run that is under way: empty figures that a page fills as samples come, and what is marked in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamgauge.report import charts
from streamgauge.report.charts import PALETTE, SMALLEST_DRAWN_MS, escaped, framed
from streamgauge.report.drawing import Figure
from streamgauge.report.paradigm_charts import BAND_COLOURS
from streamgauge.report.series import Mark

X = "seconds since the trial began"
_PER_MIB = 2**20
_COMPONENTS = ("job", "broker", "publisher")


def figures() -> dict[str, Figure]:
    """Name → an empty chart; the field of a sample that a line shows stands in the line's `meta`."""
    return {
        "flow": Figure(
            "Rates",
            "Events that enter the log, events that the job has taken in, and records that it writes, per second.",
            _figure(
                "events per second",
                "%{y:,.0f}/s",
                ("in", "in", PALETTE[7], "dot"),
                ("consumed", "consumed", PALETTE[0], "solid"),
                ("out", "out", PALETTE[2], "dash"),
            ),
        ),
        "latency": Figure(
            "Latency",
            "Of the newest outputs, over the last five seconds, logarithmic; read while this page is open.",
            _latency(),
        ),
        "backlog": Figure(
            "Backlog",
            "Events that are in the log and not yet taken in.",
            _figure("events", "%{y:,.0f}", ("backlog", "backlog", PALETTE[1], "solid")),
        ),
        "late": Figure(
            "Publisher's lateness",
            "How long after it was due the latest of the newest events left; one that is behind measures nothing.",
            _figure("milliseconds", "%{y:,.1f} ms", ("late", "lateness", PALETTE[3], "solid")),
        ),
        "cpu": Figure(
            "CPU",
            "Cores in use by the job (solid), the broker (dotted) and the publisher (dashed).",
            _figure("cores in use", "%{y:.2f} cores", *_of_components("cpu")),
        ),
        "memory": Figure(
            "Memory",
            "Resident memory of the three, and the heap in use of the job's JVM.",
            _figure("MiB", "%{y:,.0f} MiB", *_of_components("rss"), ("heap-job", "job's heap", PALETTE[4], "dot")),
        ),
    }


def values(sample: Mapping[str, Any]) -> dict[str, float | None]:
    """The fields of the charts' lines, of a stored sample; what is unknown is None and breaks its line."""
    use = sample.get("use") or {}
    found: dict[str, float | None] = {
        **{name: _number(sample.get(f"{name}_per_s")) for name in ("in", "consumed", "out")},
        **{name: _latency_ms(sample.get(f"{name}_ms")) for name in ("p50", "p99")},
        "backlog": _number(sample.get("backlog")),
        "late": _number(sample.get("late_ms")),
    }
    for name in _COMPONENTS:
        cpu, rss, heap = (list(use.get(name) or ()) + [None] * 3)[:3]
        found |= {f"cpu-{name}": _number(cpu), f"rss-{name}": _mib(rss)}
        if name == "job":
            found["heap-job"] = _mib(heap)
    return found


def paradigm_figure(segments: Sequence[str]) -> Figure:
    """The band of every segment, coloured by the paradigm that it runs in."""
    data = [
        {
            **{"type": "scatter", "mode": "lines", "x": [], "y": [], "name": kind, "legendgroup": kind},
            **{"showlegend": position == 0, "line": {"color": colour, "width": 14}, "connectgaps": False},
            **{"meta": {"segment": segment, "row": escaped(segment), "paradigm": kind}},
            "hovertemplate": f"{kind}<extra>%{{y}}</extra>",
        }
        for position, segment in enumerate(segments)
        for kind, colour in BAND_COLOURS.items()
    ]
    figure = framed(data, x=X, y="", y_axis={"type": "category", "showgrid": False, "automargin": True})
    labels = [escaped(each) for each in segments]
    figure["layout"]["yaxis"].update(categoryorder="array", categoryarray=labels[::-1], title=None)
    figure["layout"].update(height=170 + 34 * max(1, len(segments)), hovermode="closest")
    figure["layout"]["margin"].update(t=24, b=84)
    figure["layout"]["legend"].update(yref="container", y=0.01, yanchor="bottom")
    caption = "The paradigm of every segment; grey is the gap of a switch, in which no query runs."
    return Figure("Paradigm", caption, figure, broad=True)


def marked(
    faults: Sequence[Mapping[str, Any]], phases: Sequence[tuple[float, str]], zero_ms: float, engine: str
) -> dict[str, list[dict[str, Any]]]:
    """What is drawn across every chart of a trial: faults as they were planned and as they came, and new phases."""
    colours = charts.engine_colours([engine])
    shapes, notes = charts.mark_shapes([m for each in faults if (m := _mark(each, zero_ms, engine))], colours)
    shapes += [_line(_since_s(each["planned_at_ms"], zero_ms), "dot", "planned") for each in faults if _awaited(each)]
    for at_s, phase in phases:
        shapes.append(_line(at_s, "solid", "phase"))
        notes.append(
            {
                **{"x": round(at_s, 2), "y": 0, "yref": "paper", "yanchor": "bottom", "xanchor": "left"},
                **{"text": escaped(phase), "showarrow": False, "textangle": -90, "font": {"size": 10}},
                "opacity": 0.7,
            }
        )
    return {"shapes": shapes, "annotations": notes}


def _mark(fault: Mapping[str, Any], zero_ms: float, engine: str) -> Mark | None:
    if fault.get("at_ms") is None:
        return None
    until = fault.get("until_ms")
    until_s = None if until is None else _since_s(until, zero_ms)
    return Mark(_since_s(fault["at_ms"], zero_ms), until_s, str(fault["label"]), engine)


def _awaited(fault: Mapping[str, Any]) -> bool:
    return fault.get("at_ms") is None and fault.get("problem") is None


def _since_s(at_ms: float, zero_ms: float) -> float:
    return round((at_ms - zero_ms) / 1000, 3)


def _line(at_s: float, dash: str, name: str) -> dict[str, Any]:
    line = {"type": "line", "x0": round(at_s, 3), "x1": round(at_s, 3), "yref": "paper", "y0": 0, "y1": 1}
    return {**line, "line": {"dash": dash, "width": 1, "color": "#888"}, "opacity": 0.6, "name": name}


def _figure(y: str, hover: str, *lines: tuple[str, str, str, str]) -> dict[str, Any]:
    data = [
        {
            **{"type": "scatter", "mode": "lines", "name": escaped(label), "x": [], "y": [], "connectgaps": False},
            **{"meta": {"field": field}, "hovertemplate": hover},
            "line": {"color": colour, "dash": dash, "width": 2},
        }
        for field, label, colour, dash in lines
    ]
    figure = framed(data, x=X, y=y, y_axis={"rangemode": "tozero"})
    figure["layout"]["margin"]["t"] = 24
    return figure


def _latency() -> dict[str, Any]:
    figure = _figure("latency", "%{y:,.0f} ms", ("p50", "p50", PALETTE[0], "solid"), ("p99", "p99", PALETTE[0], "dot"))
    # The ticks of a narrow range: which one it will be, nobody knows yet.
    axis = {**charts.latency_axis([{"y": [1, 10]}]), "autorange": True}
    del axis["range"]
    figure["layout"]["yaxis"].update(axis)
    return figure


def _of_components(what: str) -> list[tuple[str, str, str, str]]:
    looks = zip(_COMPONENTS, (PALETTE[0], PALETTE[1], PALETTE[2]), ("solid", "dot", "dash"), strict=True)
    return [(f"{what}-{name}", name, colour, dash) for name, colour, dash in looks]


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _latency_ms(value: Any) -> float | None:
    known = _number(value)
    return None if known is None else max(known, SMALLEST_DRAWN_MS)


def _mib(value: Any) -> float | None:
    known = _number(value)
    return None if known is None else round(known / _PER_MIB, 1)
