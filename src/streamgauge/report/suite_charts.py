"""Charts of a suite's page: lines, bars and heat maps of points, with published values in grey beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from streamgauge.measure.facets import Value, get_facet
from streamgauge.measure.figures import Figure
from streamgauge.measure.published import PublishedValue
from streamgauge.report.charts import PALETTE, duration_axis, escaped, framed, latency_axis, numbers
from streamgauge.report.points import Measured, Point, facet_words, ordered
from streamgauge.report.words import in_order, in_unit

THEIRS = "#8a8f94"
"""Published values are grey on every page: no engine of ours has that colour."""
_DASHES = ("solid", "dot", "dash", "dashdot")
_SHAPES = dict(zip(_DASHES, ("", "/", "x", "-"), strict=True))
"""What fills a bar, where a line would have a dash."""
_LOG_FROM = 10
"""Numbers that spread over at least so many times the smallest lie on a logarithmic axis."""


@dataclass(frozen=True)
class Scale:
    """How a figure's numbers are drawn: by what they are multiplied, and what the axis says."""

    factor: float
    axis: str
    per_minute: bool = False

    def words(self, value: float, figure: Figure) -> str:
        """A value of the figure in words."""
        if self.per_minute:
            return f"{value * 60:,.0f}/min"
        return in_unit(value, figure.unit)


def scale_of(figure: Figure, per: str) -> Scale:
    """The scale of a figure; `per` is second or minute."""
    if figure.unit == "per_s":
        minute = per == "minute"
        return Scale(60.0 if minute else 1.0, f"per {'minute' if minute else 'second'}", minute)
    axes = {"mb_per_s": "MB/s", "ms": "", "s": "seconds", "%": "%", "count": ""}
    return Scale(1 / 2**20, "MiB") if figure.unit.startswith("bytes") else Scale(1.0, axes[figure.unit])


@dataclass(frozen=True)
class Plot:
    """What one chart shows: points along x, told apart by `by`, and published values that fit."""

    points: tuple[Point, ...]
    figure: Figure
    x: str
    by: tuple[str, ...]
    per: str = "second"
    theirs: tuple[PublishedValue, ...] = ()
    baseline: str = ""
    """The matrix that changes are counted from."""

    @property
    def scale(self) -> Scale:
        """How its numbers are drawn."""
        return scale_of(self.figure, self.per)

    def xs(self) -> list[Value]:
        """Every x that a trial of ours lies at, also where it has no figure."""
        return ordered(point.facet(self.x) for point in self.points)

    def series(self) -> list[str]:
        """What tells the lines or bars apart."""
        return in_order(point.words(self.by) for point in self.points)

    def of(self, series: str) -> dict[Value, Point]:
        """The points of one line by their x."""
        return {point.facet(self.x): point for point in self.points if point.words(self.by) == series}

    def fitting(self) -> list[PublishedValue]:
        """Published values of this figure that name where on x they lie."""
        return [v for v in self.theirs if v.figure == self.figure.name and v.in_our_unit is not None and self.x in v.at]

    def has_values(self) -> bool:
        """Whether any point of ours has the figure."""
        return any(point.measured(self.figure) for point in self.points)


def line_chart(plot: Plot, colours: Mapping[str, str]) -> dict[str, Any]:
    """A line for each series, with intervals; what has no figure breaks the line."""
    xs = plot.xs()
    numeric = all(isinstance(x, float) for x in xs)
    data = [_line(plot, name, xs, _style(plot, name, colours), numeric) for name in plot.series()]
    data += _their_lines(plot, numeric)
    figure = framed(data, x=get_facet(plot.x).label, y=plot.scale.axis, y_axis=_y_axis(plot, data))
    figure["layout"]["hovermode"] = "closest"
    if numeric:
        at = [x for each in data for x in each["x"]]
        ticks = sorted(set(at))
        figure["layout"]["xaxis"].update(tickvals=ticks, ticktext=[facet_words(float(x)) for x in ticks])
        if min(at) > 0 and max(at) / min(at) >= _LOG_FROM:
            figure["layout"]["xaxis"]["type"] = "log"
    else:
        figure["layout"]["xaxis"].update(type="category", categoryorder="array", categoryarray=_labels(xs))
    return figure


def bar_chart(plot: Plot, colours: Mapping[str, str]) -> dict[str, Any]:
    """A group of bars for each x; a bar that is missing says why in a word, one beside a baseline by how much."""
    xs = plot.xs()
    data = [_bars(plot, name, xs, colours) for name in plot.series()]
    data += _their_bars(plot)
    figure = framed(data, x=get_facet(plot.x).label, y=plot.scale.axis, y_axis=_y_axis(plot, data))
    figure["layout"].update(barmode="group", hovermode="closest", showlegend=len(data) > 1)
    figure["layout"]["xaxis"].update(type="category", categoryorder="array", categoryarray=_labels(xs))
    return figure


def grid_chart(plot: Plot) -> dict[str, Any]:
    """A heat map of x and series; a cell without a figure says why in a word."""
    xs, rows = plot.xs(), plot.series()
    cells = [[plot.of(name).get(x) for x in xs] for name in rows]
    found = [[None if p is None else p.measured(plot.figure) for p in row] for row in cells]
    text = [
        [_cell_words(plot, point, value) for point, value in zip(points, values, strict=True)]
        for points, values in zip(cells, found, strict=True)
    ]
    drawn = [[None if v is None else v.median * plot.scale.factor for v in row] for row in found]
    largest = max((v for row in drawn for v in row if v is not None), default=0.0)
    data: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            "x": _labels(xs),
            "y": [escaped(name) for name in rows],
            "z": drawn,
            "text": text,
            "texttemplate": "%{text}",
            "hovertemplate": "%{y} × %{x}: %{text}<extra></extra>",
            "hoverongaps": True,
            "zmin": 0,
            "zmax": largest or 1,
            "colorscale": [[0, "#e3eef6"], [0.5, "#7fb6dc"], [1, "#0a5c92"]],
            "showscale": False,
            "xgap": 2,
            "ygap": 2,
        }
    ]
    label = " · ".join(get_facet(name).label for name in plot.by)
    figure = framed(data, x=get_facet(plot.x).label, y=label, y_axis={"type": "category"})
    figure["layout"].update(showlegend=False, hovermode="closest", height=130 + 48 * max(1, len(rows)))
    figure["layout"]["xaxis"]["type"] = "category"
    absent = [(x, row) for at_y, row in enumerate(rows) for at_x, x in enumerate(xs) if drawn[at_y][at_x] is None]
    figure["layout"]["annotations"] = [
        {"x": _labels([x])[0], "y": escaped(row), "text": text[rows.index(row)][xs.index(x)], "showarrow": False}
        for x, row in absent
    ]
    return figure


def _cell_words(plot: Plot, point: Point | None, value: Measured | None) -> str:
    if value is not None:
        return plot.scale.words(value.median, plot.figure)
    return "not run" if point is None else point.why_not(plot.figure)[0]


def _labels(xs: Sequence[Value]) -> list[str]:
    return [escaped(facet_words(x)).replace(", ", ",<br>") for x in xs]


def _style(plot: Plot, name: str, colours: Mapping[str, str]) -> tuple[str, str]:
    """Colour and dash: an engine keeps its own; else the first facet has a colour and the others a dash."""
    point = next(p for p in plot.points if p.words(plot.by) == name)
    if plot.by[0] == "engine":
        return colours[str(point.facet("engine"))], _DASHES[_rank(plot, point, plot.by[1:])]
    place = [facet_words(v) for v in in_order(p.facet(plot.by[0]) for p in plot.points)].index(point.words(plot.by[:1]))
    return PALETTE[place % len(PALETTE)], _DASHES[_rank(plot, point, plot.by[1:])]


def _rank(plot: Plot, point: Point, names: Sequence[str]) -> int:
    if not names:
        return 0
    return in_order(p.words(names) for p in plot.points).index(point.words(names)) % len(_DASHES)


def _line(plot: Plot, name: str, xs: Sequence[Value], style: tuple[str, str], numeric: bool) -> dict[str, Any]:
    mine = plot.of(name)
    there = [x for x in xs if x in mine]
    found = [mine[x].measured(plot.figure) for x in there]
    colour, dash = style
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escaped(name),
        "x": there if numeric else _labels(there),
        "y": _drawn(plot, found),
        "error_y": _errors(plot, found),
        "customdata": [_hover(plot, value) for value in found],
        "hovertemplate": "%{customdata}<extra>" + escaped(name) + "</extra>",
        "connectgaps": False,
        "line": {"color": colour, "dash": dash, "width": 2},
        "marker": {"size": 7},
    }


def _bars(plot: Plot, name: str, xs: Sequence[Value], colours: Mapping[str, str]) -> dict[str, Any]:
    mine = plot.of(name)
    there = [x for x in xs if x in mine]
    found = [mine[x].measured(plot.figure) for x in there]
    colour, dash = _style(plot, name, colours)
    base = next((mine[x].measured(plot.figure) for x in there if mine[x].matrix == plot.baseline), None)
    return {
        "type": "bar",
        "name": escaped(name),
        "x": _labels(there),
        "y": [0 if y is None else y for y in _drawn(plot, found)],
        "text": [_bar_words(plot, mine[x], value, base) for x, value in zip(there, found, strict=True)],
        "textposition": "auto",
        "error_y": _errors(plot, found),
        "customdata": [_hover(plot, value) for value in found],
        "hovertemplate": "%{x}: %{customdata}<extra>" + escaped(name) + "</extra>",
        "marker": {"color": colour, "pattern": {"shape": _SHAPES[dash]}},
    }


def _bar_words(plot: Plot, point: Point, value: Measured | None, base: Measured | None) -> str:
    if value is None:
        return point.why_not(plot.figure)[0]
    words = plot.scale.words(value.median, plot.figure)
    if base is None or point.matrix == plot.baseline or base.median == 0:
        return words
    return f"{words}<br>{100 * (value.median / base.median - 1):+.0f} %"


def _drawn(plot: Plot, found: Sequence[Measured | None]) -> list[float | None]:
    return numbers([float("nan") if value is None else value.median * plot.scale.factor for value in found])


def _errors(plot: Plot, found: Sequence[Measured | None]) -> dict[str, Any]:
    """From the median to both ends of the mean's interval."""
    up = [0.0 if v is None or v.high is None else max(v.high - v.median, 0) * plot.scale.factor for v in found]
    down = [0.0 if v is None or v.low is None else max(v.median - v.low, 0) * plot.scale.factor for v in found]
    shape = {"type": "data", "symmetric": False, "thickness": 1.5, "width": 4, "visible": any([*up, *down])}
    return {**shape, "array": numbers(up), "arrayminus": numbers(down)}


def _hover(plot: Plot, value: Measured | None) -> str:
    if value is None:
        return ""
    words = plot.scale.words(value.median, plot.figure)
    if value.low is None or value.high is None:
        return words
    low, high = (plot.scale.words(end, plot.figure) for end in (max(value.low, 0), value.high))
    return f"{words}, median of {value.repeats}; mean {low} to {high}"


def _y_axis(plot: Plot, data: Sequence[dict[str, Any]]) -> dict[str, Any]:
    values = [y for each in data for y in each["y"] if y]
    if plot.figure.unit == "ms" and values and data[0]["type"] == "scatter" and max(values) / min(values) > _LOG_FROM:
        return latency_axis([{"y": values}])
    return duration_axis(values) if plot.figure.unit == "ms" else {"rangemode": "tozero"}


def _theirs(plot: Plot) -> dict[str, list[PublishedValue]]:
    """Published values by who is shown: the system, and where it was taken beside x."""
    found: dict[str, list[PublishedValue]] = {}
    for value in plot.fitting():
        beside = [str(v) for k, v in value.at.items() if k != plot.x]
        found.setdefault(" · ".join([f"theirs: {value.who}", *beside]), []).append(value)
    return found


def _their_lines(plot: Plot, numeric: bool) -> list[dict[str, Any]]:
    return [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": escaped(name),
            "x": [float(v.at[plot.x]) for v in values]
            if numeric
            else _labels([_as_facet(v.at[plot.x]) for v in values]),
            "y": _their_numbers(plot, values),
            "customdata": [v.text for v in values],
            "hovertemplate": "%{customdata}, on other machines<extra>" + escaped(name) + "</extra>",
            "line": {"color": THEIRS, "dash": "dot", "width": 1.2},
            "marker": {"size": 8, "symbol": "diamond-open"},
        }
        for name, values in _theirs(plot).items()
    ]


def _their_bars(plot: Plot) -> list[dict[str, Any]]:
    return [
        {
            "type": "bar",
            "name": escaped(name),
            "x": _their_xs(plot, values, numeric=False),
            "y": _their_numbers(plot, values),
            "text": [v.text for v in values],
            "textposition": "auto",
            "hovertemplate": "%{x}: %{text}, on other machines<extra>" + escaped(name) + "</extra>",
            "marker": {"color": THEIRS, "opacity": 0.55, "pattern": {"shape": "\\"}},
        }
        for name, values in _theirs(plot).items()
    ]


def _their_xs(plot: Plot, values: Sequence[PublishedValue], numeric: bool) -> list[Any]:
    at = [_as_facet(value.at[plot.x]) for value in values]
    return at if numeric else _labels(at)


def _their_numbers(plot: Plot, values: Sequence[PublishedValue]) -> list[float | None]:
    return numbers([(v.in_our_unit or 0.0) * plot.scale.factor for v in values])


def _as_facet(value: Any) -> Value:
    return value if isinstance(value, str) else float(value)


def at_value(plot: Plot, facet: str, value: Value) -> Plot:
    """The plot with only what lies at that value of a facet; published values that say nothing of it stay."""
    mine = tuple(point for point in plot.points if point.facet(facet) == value)
    theirs = tuple(v for v in plot.theirs if facet not in v.at or _as_facet(v.at[facet]) == value)
    return replace(plot, points=mine, theirs=theirs)
