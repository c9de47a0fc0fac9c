"""The report: one self-contained HTML file from a stored run, readable offline on a desk and on a phone."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from streamgauge.measure.repeats import groups
from streamgauge.report import (
    adaptive,
    characterisations,
    charts,
    drawing,
    findings,
    search_chart,
    sections,
    suite_page,
)
from streamgauge.report.drawing import DrawnTrial, Figure
from streamgauge.report.faults import faults_section
from streamgauge.report.grids import page_grid
from streamgauge.report.markup import Markup, bullets, element, embedded_json, facts, joined
from streamgauge.report.probes import found_words
from streamgauge.report.words import answer, compared, in_order


def page(
    run: Mapping[str, Any],
    trials: Sequence[DrawnTrial],
    problems: Sequence[str] = (),
    characterisation: Mapping[str, Any] | None = None,
    calibration: Mapping[str, Any] | None = None,
) -> str:
    """The whole page as text, from the run's own facts, its trials, and what of it could not be read."""
    records = [t.record for t in trials]
    if characterisation is not None and not records:
        return _characterisation_page(run, problems, characterisation)
    colours = charts.engine_colours(in_order(r["engine"] for r in records))
    parts = [part for part in _parts(run, trials, colours, problems, calibration) if part[2] is not None]
    links = joined(element("a", heading, href=f"#{identity}") for identity, heading, _ in parts)
    suite = suite_page.heading(run, len(records))
    body = [
        element("h1", _title(run)),
        *([suite] if suite is not None else []),
        element("p", _unbroken(answer(records), list(colours)), class_="answer"),
        element("p", _conditions(records), class_="soft"),
        element("nav", links),
        *(element("section", joined([element("h2", h), c]), id=i) for i, h, c in parts),
        element("footer", "Every figure on this page is computed from the samples beside it."),
    ]
    return document(f"streamgauge · {run.get('run', '')}", joined(body))


def _characterisation_page(run: Mapping[str, Any], problems: Sequence[str], found: Mapping[str, Any]) -> str:
    parts = [element("h2", "Operators"), characterisations.characterisation_section(found)]
    if problems:
        parts += [element("h2", "What could not be read"), bullets(problems)]
    body = [
        element("h1", _title(run)),
        element("p", characterisations.answer(found), class_="answer"),
        element("section", joined(parts), id="operators"),
        element("section", joined([element("h2", "The run and its machine"), _run_facts(run)]), id="run"),
        element("footer", "Every figure on this page is computed from the samples beside it."),
    ]
    return document(f"streamgauge · {run.get('run', '')}", joined(body))


def _title(run: Mapping[str, Any]) -> str:
    return f"streamgauge · run {run.get('run', '')} · {_instant(run.get('created_at'))}"


def _instant(text: Any) -> str:
    return str(text or "").replace("T", " ").replace("+00:00", " UTC")


def _unbroken(sentence: str, names: Sequence[str]) -> Markup:
    shown = html.escape(sentence)
    for name in {html.escape(n) for n in names}:
        shown = shown.replace(f"{name} ", f'<span class="nowrap">{name}</span> ')
    return Markup(shown)


def _conditions(records: Sequence[Mapping[str, Any]]) -> str:
    loads = in_order(r["load"] for r in records)
    trials = f"{len(records)} trial{'' if len(records) == 1 else 's'}"
    return f"{trials} under {', '.join(loads)}" if loads else trials


def _parts(
    run: Mapping[str, Any],
    trials: Sequence[DrawnTrial],
    colours: dict[str, str],
    problems: Sequence[str],
    calibration: Mapping[str, Any] | None,
) -> list[tuple[str, str, Markup | None]]:
    records = [t.record for t in trials]
    grouped = groups(compared(records))
    glance = drawing.overview(grouped, colours, floor_ms(run))
    found = [
        *suite_page.suite_parts(run, trials, colours, drawn_figures),
        ("search", "The search", _search(run)),
        ("summary", "Summary", joined([drawn_figures("glance", glance), sections.summary(compared(records), colours)])),
        ("repeats", "Repeats", _repeats(grouped, colours)),
        ("faults", "Faults and recovery", faults_section(compared(records), colours)),
        *_findings(run, records, colours),
        ("not-run", "What could not be run", sections.not_run(records, colours)),
        ("problems", "What could not be read", bullets(problems) if problems else None),
        *_trial_charts(trials, colours, folded=bool(run.get("suite") or run.get("search"))),
    ]
    if calibration is not None:
        found.append(("calibration", "Calibration of both paradigms", adaptive.calibration_section(calibration)))
    details = joined(sections.trial(number, record, colours) for number, record in enumerate(records, 1))
    found.append(("trials", "Trials in detail", details if records else None))
    found.append(("run", "The run and its machine", _run_facts(run)))
    return found


def _trial_charts(
    trials: Sequence[DrawnTrial], colours: dict[str, str], *, folded: bool
) -> list[tuple[str, str, Markup | None]]:
    """A part for each application and load; of a suite, which has many, all in one part, each drawn when opened."""
    parts: list[tuple[str, str, Markup | None]] = []
    for number, section in enumerate(drawing.sections(trials), 1):
        drawn = drawn_figures(f"section-{number}", drawing.section_figures(section, colours))
        parts.append((f"section-{number}", section.title, drawn))
        parts += _paradigms(number, section, colours)
    if not folded or not parts:
        return parts
    closed = [
        element("details", joined([element("summary", title), element("div", drawn, class_="fold")]), id=identity)
        for identity, title, drawn in parts
    ]
    return [("over-time", "Every trial over time", joined(closed))]


def _search(run: Mapping[str, Any]) -> Markup | None:
    """The probes of a search: what was found in words, charts by rate, and every probe in a row."""
    found = run.get("search") or {}
    if not found.get("probes"):
        return None
    charted = [Figure(*each) for each in search_chart.charts_of(found)]
    words = element("p", found_words(found))
    return joined([words, drawn_figures("search", charted), search_chart.probe_table(found["probes"])])


def _findings(
    run: Mapping[str, Any], records: Sequence[Mapping[str, Any]], colours: dict[str, str]
) -> list[tuple[str, str, Markup | None]]:
    """A part for each further table; that of the components begins with its chart."""
    found: list[tuple[str, str, Markup | None]] = []
    for grid in findings.grids(run, records):
        identity = grid.heading.lower().replace(" ", "-")
        drawn = drawing.component_figures(compared(records)) if grid.heading == findings.COMPONENTS_HEADING else []
        chart = [drawn_figures(identity, drawn)] if drawn else []
        found.append((identity, grid.heading, joined([*chart, page_grid(grid, colours)])))
    return found


def _paradigms(number: int, section: drawing.Section, colours: dict[str, str]) -> list[tuple[str, str, Markup | None]]:
    """A part for every trial of a section that a scheduler decided in."""
    found: list[tuple[str, str, Markup | None]] = []
    for place, trial in enumerate((t for t in section.trials if adaptive.has_scheduler(t)), 1):
        identity = f"paradigms-{number}-{place}"
        again = f" #{place}" if place > 1 else ""
        parts = [drawn_figures(identity, adaptive.figures(trial, colours)), adaptive.decisions_section(trial)]
        found.append((identity, f"Paradigms of {section.title}{again}", joined(parts)))
    return found


def _repeats(grouped: Any, colours: dict[str, str]) -> Markup | None:
    shown = sections.repeats(grouped, colours)
    if shown is None:
        return None
    about = (
        "Mean over the valid repeats ± half of the 95 % t-interval. Whether two results differ is not read off these "
        "intervals: streamgauge compare takes the 95 % interval of their ratio (Welch, on logarithms), and where that "
        "holds 0 % no difference is shown."
    )
    return joined([element("p", about, class_="soft"), shown])


def floor_ms(run: Mapping[str, Any]) -> float | None:
    """The median of the broker's own round trip, from sending a record to consuming it, where it was measured."""
    consumed = (((run.get("log") or {}).get("round_trip_ms")) or {}).get("consumed_ms") or {}
    return consumed.get("median")


def _run_facts(run: Mapping[str, Any]) -> Markup:
    log = dict(run.get("log") or {})
    parts = {
        "Run": {k: v for k, v in run.items() if not isinstance(v, Mapping | list) and k != "command"},
        "Machine": run.get("machine"),
        "Versions": run.get("versions"),
        "The floor: the broker's own round trip": {"round_trip_ms": log.pop("round_trip_ms", None) or {}},
        "Log": log,
    }
    cards = [element("section", joined([element("h3", t), facts(v)])) for t, v in parts.items() if v]
    command = element("pre", element("code", str(run.get("command") or "")))
    cards.append(element("section", joined([element("h3", "Run it again"), command]), class_="full"))
    inside = element("div", joined(cards), class_="inside")
    return element("details", joined([element("summary", "Machine, versions, log and settings"), inside]), open="open")


def drawn_figures(prefix: str, found: Sequence[Figure], style: str = "grid") -> Markup:
    """Charts side by side; the prefix keeps their names apart on a page."""
    drawn = [_drawn(f"{prefix}-chart-{number}", each) for number, each in enumerate(found, 1)]
    return element("div", joined(drawn), class_=style)


def _drawn(identity: str, figure: Figure) -> Markup:
    height = int(figure.figure["layout"]["height"])
    holder = element("div", "", class_="chart", data_figure=identity, style=f"min-height:{height}px")
    words = [element("h3", figure.heading), element("figcaption", figure.caption)]
    drawn = joined([*words, holder, embedded_json(identity, figure.figure)])
    return element("figure", drawn, class_="broad" if figure.broad else "")


def document(title: str, body: Markup) -> str:
    """A whole page of that title: style, body, the drawing library and the script that draws."""
    from plotly.offline import get_plotlyjs

    room = files("streamgauge.report")
    style, script = room.joinpath("page.css").read_text("utf-8"), room.joinpath("page.js").read_text("utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{html.escape(title)}</title>\n<link rel="icon" href="data:,">\n<style>\n{style}</style>\n</head>\n'
        f"<body>\n{body.html}\n<script>{get_plotlyjs()}</script>\n<script>\n{script}</script>\n</body>\n</html>\n"
    )


def write_page(text: str, path: Path) -> Path:
    """Write the page whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path
