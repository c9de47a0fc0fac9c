"""The report: one self-contained HTML file from a stored run, readable offline on a desk and on a phone."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from streamgauge.measure.repeats import groups
from streamgauge.report import adaptive, characterisations, charts, drawing, sections
from streamgauge.report.drawing import DrawnTrial, Figure
from streamgauge.report.markup import Markup, bullets, element, embedded_json, facts, joined
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
    body = [
        element("h1", _title(run)),
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
    found: list[tuple[str, str, Markup | None]] = [
        ("summary", "Summary", joined([drawn_figures("glance", glance), sections.summary(compared(records), colours)])),
        ("repeats", "Repeats", _repeats(grouped, colours)),
        ("not-run", "What could not be run", sections.not_run(records, colours)),
        ("problems", "What could not be read", bullets(problems) if problems else None),
    ]
    for number, section in enumerate(drawing.sections(trials), 1):
        drawn = drawn_figures(f"section-{number}", drawing.section_figures(section, colours))
        found.append((f"section-{number}", section.title, drawn))
        found += _paradigms(number, section, colours)
    if calibration is not None:
        found.append(("calibration", "Calibration of both paradigms", adaptive.calibration_section(calibration)))
    details = joined(sections.trial(number, record, colours) for number, record in enumerate(records, 1))
    found.append(("trials", "Trials in detail", details if records else None))
    found.append(("run", "The run and its machine", _run_facts(run)))
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
        "Mean over the valid repeats ± half of the 95 % t-interval. "
        "Where intervals overlap, the results are not shown to differ."
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
    return element("figure", joined([*words, holder, embedded_json(identity, figure.figure)]))


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
