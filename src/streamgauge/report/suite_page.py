"""The page of a suite: the papers' figures with our numbers, what is missing and why, and what the papers published."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from streamgauge.lab.suite_figures import SuiteFigure
from streamgauge.measure.facets import Value, get_facet
from streamgauge.measure.figures import Figure, get_figure
from streamgauge.measure.published import get_published
from streamgauge.report import charts, drawing
from streamgauge.report.charts import Bar, Reach
from streamgauge.report.drawing import DrawnTrial, Section
from streamgauge.report.markup import Column, Content, Markup, bullets, element, joined, table
from streamgauge.report.points import Point, facet_words, ordered, points_of, told_by
from streamgauge.report.published_values import published_table
from streamgauge.report.suite_charts import (
    THEIRS,
    Plot,
    at_value,
    bar_chart,
    grid_chart,
    line_chart,
    scale_of,
)
from streamgauge.report.words import NOTHING, figure_words, in_order

_PERCENTILES = ("p50", "p95", "p99", "max")
_NARROW = 10
"""A chart of more than so many groups takes the width of the page."""


@dataclass(frozen=True)
class _Drawn:
    """The charts and tables of one figure, and the points that none of them shows."""

    figures: Sequence[drawing.Figure] = ()
    tables: Sequence[Markup] = ()
    absent: Sequence[tuple[Point, Figure | None]] = ()


_Draw = Callable[[SuiteFigure, Sequence[Point], Sequence[DrawnTrial], Mapping[str, str]], _Drawn]


def suite_figures(run: Mapping[str, Any]) -> list[SuiteFigure]:
    """The figures that the run's suite asked for when it was run; none where it was not of a suite."""
    return [SuiteFigure.from_dict(each) for each in (run.get("suite") or {}).get("figures") or []]


def heading(run: Mapping[str, Any], stored: int) -> Markup | None:
    """What the suite is, at which scale it was run, and how much of it is there."""
    suite = run.get("suite")
    if not suite:
        return None
    planned = int(run.get("trials") or stored)
    some = f"{stored} of {planned} trials are stored" if stored < planned else f"{planned} trials"
    rows = f" · {' '.join(suite.get('papers') or [])}" if suite.get("papers") else ""
    words = [
        element("strong", str(suite.get("title") or suite.get("name"))),
        f" {suite.get('about') or ''}",
    ]
    facts = f"Suite {suite.get('name')}{rows} · scale {suite.get('scale')} · {some}"
    return joined([element("p", joined(words, ""), class_="suite"), element("p", facts, class_="soft")])


def suite_parts(
    run: Mapping[str, Any],
    trials: Sequence[DrawnTrial],
    colours: Mapping[str, str],
    show: Callable[[str, Sequence[drawing.Figure]], Markup],
) -> list[tuple[str, str, Markup | None]]:
    """A part of the page for each figure of the suite, in its order; `show` makes charts into markup."""
    found: list[tuple[str, str, Markup | None]] = []
    for number, figure in enumerate(suite_figures(run), 1):
        points = points_of([trial.record for trial in trials], figure)
        drawn = _DRAWERS[figure.kind](figure, points, trials, colours)
        identity = f"figure-{number}"
        parts: list[Content] = [element("p", _caption(figure, drawn, points), class_="soft")]
        parts += [show(identity, drawn.figures)] if drawn.figures else []
        parts += list(drawn.tables)
        parts += [
            part
            for part in (_absent(figure, drawn.absent), *map(published_table, figure.published))
            if part is not None
        ]
        found.append((identity, figure.title, joined(parts)))
    return found


def _caption(figure: SuiteFigure, drawn: _Drawn, points: Sequence[Point]) -> str:
    words = [figure.about] if figure.about else []
    if not points:
        return " ".join([*words, "No trial of it has been stored."])
    if not drawn.figures and not drawn.tables:
        return " ".join([*words, "None of its trials has the figure."])
    if figure.kind in ("lines", "bars", "percentiles", "grid", "table") and any(
        len(p.group.ranked) > 1 for p in points
    ):
        words.append("Median of the valid repeats; thin bars are the 95 % t-interval of their mean.")
    if figure.against:
        words.append(f"Percent are against the matrix '{figure.against}'.")
    if any(THEIRS in json.dumps(each.figure["data"]) for each in drawn.figures):
        words.append("What is grey and called theirs was published by others, on other machines.")
    return " ".join(words)


def _plots(figure: SuiteFigure, points: Sequence[Point]) -> list[tuple[str, Plot]]:
    """One plot for each y and, where the figure asks for it, each value of a facet; with its heading."""
    theirs = tuple(value for name in figure.published for value in get_published(name).values)
    found = []
    for name in figure.y:
        wanted = get_figure(name)
        mine = tuple(told_by(points, wanted))
        plot = Plot(mine, wanted, figure.x, figure.by, figure.per, theirs, figure.against)
        label = figure_words(name)
        if not figure.each:
            found.append((label, plot))
            continue
        for value in ordered(point.facet(figure.each) for point in mine):
            found.append((f"{label} · {facet_words(value)}", at_value(plot, figure.each, value)))
    return found


def _charted(draw: Callable[[Plot, Mapping[str, str]], dict[str, Any]]) -> _Draw:
    def drawn(
        figure: SuiteFigure, points: Sequence[Point], trials: Sequence[DrawnTrial], colours: Mapping[str, str]
    ) -> _Drawn:
        plots = _plots(figure, points)
        shown = [
            drawing.Figure(label, _under(plot), draw(plot, colours), broad=len(plot.xs()) > _NARROW)
            for label, plot in plots
            if plot.has_values()
        ]
        absent = [(p, plot.figure) for _, plot in plots for p in plot.points if p.measured(plot.figure) is None]
        return _Drawn(shown, (), absent)

    return drawn


def _under(plot: Plot) -> str:
    """What a reader must know of one chart."""
    better = {"more": "More is better.", "less": "Less is better.", None: ""}[plot.figure.better]
    loads = in_order(str(point.facet("load-kind")) for point in plot.points)
    return f"{better} {', '.join(loads).capitalize()}.".strip() if "load-kind" not in (plot.x, *plot.by) else better


def _percentiles(
    figure: SuiteFigure, points: Sequence[Point], trials: Sequence[DrawnTrial], colours: Mapping[str, str]
) -> _Drawn:
    given = figure.y or _PERCENTILES
    wanted = {last: get_figure(name) for last in _PERCENTILES for name in given if name.endswith(last)}
    reaches, absent = [], []
    for x in ordered(point.facet(figure.x) for point in points):
        for point in (p for p in points if p.facet(figure.x) == x):
            values = {name: point.measured(each) for name, each in wanted.items()}
            if all(value is None for value in values.values()):
                absent.append((point, next(iter(wanted.values()))))
                continue
            known = {name: None if value is None else value.median for name, value in values.items()}
            label = f"{facet_words(x)} · {point.words(figure.by)}"
            reaches.append(Reach(label, str(point.facet("engine")), *(known.get(name) for name in _PERCENTILES)))
        reaches += _their_reaches(figure, x, {each.name: name for name, each in wanted.items()})
    shown = drawing.Figure(
        "Latency from the median to the largest",
        "Median (dot), p95 and p99 (rings), largest (tick), on a logarithmic axis.",
        charts.overview_chart(reaches, {**colours, "theirs": THEIRS}, None),
    )
    return _Drawn([shown] if any(reach.engine != "theirs" for reach in reaches) else (), (), absent)


def _their_reaches(figure: SuiteFigure, x: Value, names: Mapping[str, str]) -> list[Reach]:
    """Published percentiles at that x, a row for each system."""
    found: dict[str, dict[str, float]] = {}
    for value in (v for name in figure.published for v in get_published(name).values):
        if value.figure in names and value.at.get(figure.x) == x and value.in_our_unit is not None:
            found.setdefault(value.who, {})[names[str(value.figure)]] = value.in_our_unit
    return [
        Reach(f"{facet_words(x)} · theirs: {who}", "theirs", *(known.get(name) for name in _PERCENTILES))
        for who, known in found.items()
    ]


def _table(
    figure: SuiteFigure, points: Sequence[Point], trials: Sequence[DrawnTrial], colours: Mapping[str, str]
) -> _Drawn:
    wanted = [get_figure(name) for name in figure.y]
    columns = [Column(get_facet(name).label, "title" if not at else "") for at, name in enumerate(figure.by)]
    columns += [Column(figure_words(each.name), "number wider") for each in wanted]
    rows, absent = [], []
    for point in points:
        values = [point.measured(each) for each in wanted]
        if all(value is None for value in values):
            absent.append((point, wanted[0]))
            continue
        words = [
            NOTHING if value is None else scale_of(each, figure.per).words(value.median, each)
            for each, value in zip(wanted, values, strict=True)
        ]
        rows.append(("", [*(facet_words(point.facet(name)) for name in figure.by), *words]))
    return _Drawn((), [table(columns, rows, cards=True)] if rows else (), absent)


def _largest(
    figure: SuiteFigure, points: Sequence[Point], trials: Sequence[DrawnTrial], colours: Mapping[str, str]
) -> _Drawn:
    """The largest x that held, what a figure was there, and why the next one did not hold."""
    wanted = [get_figure(name) for name in figure.y]
    x_label = get_facet(figure.x).label
    columns = [Column(get_facet(name).label, "title" if not at else "") for at, name in enumerate(figure.by)]
    columns += [Column(f"largest {x_label} that held", "number wider")]
    columns += [Column(figure_words(each.name), "number wider") for each in wanted]
    columns += [Column("the next above", "number wider"), Column("why it did not hold", "full")]
    rows, bars = [], []
    for name in in_order(point.words(figure.by) for point in points):
        mine = sorted((p for p in points if p.words(figure.by) == name), key=lambda p: _number(p.facet(figure.x)))
        held = [p for p in mine if p.held()]
        best = held[-1] if held else None
        above = next(
            (p for p in mine if best is None or _number(p.facet(figure.x)) > _number(best.facet(figure.x))), None
        )
        values = [None if best is None else best.measured(each) for each in wanted]
        cells: list[Content] = [facet_words(mine[0].facet(facet)) for facet in figure.by]
        cells.append(NOTHING if best is None else facet_words(best.facet(figure.x)))
        cells += [
            NOTHING if value is None else scale_of(each, figure.per).words(value.median, each)
            for each, value in zip(wanted, values, strict=True)
        ]
        cells += ["none was run" if above is None else facet_words(above.facet(figure.x))]
        cells.append(NOTHING if above is None else above.why_not()[1])
        rows.append(("", cells))
        if values and values[0] is not None:
            bars.append(Bar(name, str(mine[0].facet("engine")), values[0].median))
    return _Drawn(_rate_bars(figure, wanted, bars), [table(columns, rows, cards=True)] if rows else ())


def _rate_bars(figure: SuiteFigure, wanted: Sequence[Figure], ours: Sequence[Bar]) -> list[drawing.Figure]:
    """The rates of the largest that held as bars, with published ones; nothing where the first figure is no rate."""
    if not ours or wanted[0].unit != "per_s":
        return []
    values = [v for name in figure.published for v in get_published(name).values if v.figure == wanted[0].name]
    theirs = [Bar(f"theirs: {v.who}", "theirs", float(v.in_our_unit or 0)) for v in values]
    colours = {**charts.engine_colours(bar.engine for bar in ours), "theirs": THEIRS}
    label = figure_words(wanted[0].name)
    return [drawing.Figure(label, "More is better.", charts.rate_chart([*ours, *theirs], colours))]


def _number(value: Value) -> float:
    return value if isinstance(value, float) else 0.0


def _over_time(
    figure: SuiteFigure, points: Sequence[Point], trials: Sequence[DrawnTrial], colours: Mapping[str, str]
) -> _Drawn:
    shown: list[drawing.Figure] = []
    for value in ordered(point.facet(figure.each) for point in points):
        here = [point for point in points if point.facet(figure.each) == value]
        mine = {id(record) for point in here for record in point.group.records}
        section = Section("", tuple(t for t in trials if id(t.record) in mine and t.tables))
        for name in figure.y:
            chart = drawing.timeline(name, section, dict(colours))
            if chart.figure["data"]:
                shown.append(replace(chart, heading=f"{chart.heading} · {facet_words(value)}"))
    return _Drawn(shown, (), [(point, None) for point in points if not point.group.ranked])


_DRAWERS: dict[str, _Draw] = {
    "lines": _charted(lambda plot, colours: line_chart(plot, colours)),
    "bars": _charted(lambda plot, colours: bar_chart(plot, colours)),
    "grid": _charted(lambda plot, colours: grid_chart(plot)),
    "percentiles": _percentiles,
    "table": _table,
    "largest": _largest,
    "over-time": _over_time,
}


def _absent(figure: SuiteFigure, absent: Sequence[tuple[Point, Figure | None]]) -> Markup | None:
    """What is not shown and why, each reason once."""
    facets = in_order(name for name in ("application", "engine", figure.x, *figure.by, figure.each, "matrix") if name)
    reasons: dict[str, list[str]] = {}
    for point, wanted in absent:
        word, why = point.why_not(wanted)
        name = point.words(facet for facet in facets if facet_words(point.facet(facet)) not in ("–", ""))
        reasons.setdefault(f"{word}: {why}" if word != "none" else why, []).append(name)
    if not reasons:
        return None
    lines = [f"{why} ({len(in_order(names))}: {_some(in_order(names))})" for why, names in reasons.items()]
    return element("div", joined([element("p", "Not shown:"), bullets(lines)]), class_="absent soft")


def _some(names: Sequence[str], most: int = 4) -> str:
    more = f"; and {len(names) - most} more" if len(names) > most else ""
    return "; ".join(names[:most]) + more
