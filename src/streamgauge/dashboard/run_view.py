"""One run as a page shows it: its trials to choose from, lines laid over each other, quantiles of a brushed span."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from streamgauge.measure.spans import Span, SpanQuantiles
from streamgauge.measure.validity import Record, correct, measured
from streamgauge.model.errors import UserError, unknown
from streamgauge.report import charts, drawn_trials
from streamgauge.report.drawing import DrawnTrial, Figure
from streamgauge.report.overlay import MOST_NAMES, overlay_figures, trial_names
from streamgauge.report.words import milliseconds, per_second, rate_of, verdict_words
from streamgauge.store import StoredRun

KINDS = {"event": "event latency", "output": "output latency", "due": "latency from the due time"}
_CHOSEN_AT_FIRST = 2
QUANTILES = ("n", "mean", "p50", "p95", "p99", "p99.9", "p99.999", "max")


@dataclass(frozen=True)
class TrialRow:
    """A trial that can be chosen."""

    number: int
    name: str
    application: str
    engine: str
    load: str
    p50: str
    p99: str
    rate: str
    right: bool | None
    answer: str
    valid: bool
    chosen: bool
    tables: tuple[str, ...]


def trial_rows(stored: StoredRun) -> list[TrialRow]:
    """Every measured trial; at first the first of each of some engines is chosen."""
    records = [record for record in stored.trials if measured(record)]
    first = _first_of_engines(records)
    names = trial_names(records)
    return [
        TrialRow(
            number=record["number"],
            name=name,
            application=record["application"],
            engine=record["engine"],
            load=record["load"],
            p50=milliseconds(record["latency_ms"].get("p50")),
            p99=milliseconds(record["latency_ms"].get("p99")),
            rate=per_second(rate_of(record)),
            right=correct(record),
            answer=verdict_words(record.get("verdict")),
            valid=bool(record.get("valid")),
            chosen=record["number"] in first,
            tables=tuple(stored.table_paths(record)),
        )
        for record, name in zip(records, names, strict=True)
    ]


def _first_of_engines(records: Sequence[Record]) -> set[int]:
    """The first trials of different engines under one application and load, so that there is something to compare."""
    found: dict[str, int] = {}
    for record in records:
        if (record["application"], record["load"]) == (records[0]["application"], records[0]["load"]):
            found.setdefault(record["engine"], record["number"])
    return set(list(found.values())[:_CHOSEN_AT_FIRST])


def chosen_numbers(texts: Sequence[str], stored: StoredRun) -> list[int]:
    """The numbers of trials that an address names, each once; one that the run does not have is refused."""
    known = {str(record["number"]): int(record["number"]) for record in stored.trials if measured(record)}
    for text in texts:
        if text not in known:
            raise unknown(f"trial in run {stored.id}", text[:40], list(known))
    found = list(dict.fromkeys(known[text] for text in texts))
    if not found:
        raise UserError("no trial is chosen", "Name some with ?trial=1&trial=2")
    if len(found) > MOST_NAMES:
        raise UserError(f"{len(found)} trials are too many for one chart", f"Choose {MOST_NAMES} at most")
    return found


def overlaid(stored: StoredRun, numbers: Sequence[int]) -> dict[str, Any]:
    """The charts of the chosen trials laid over each other, and the colour of each, as plain JSON values."""
    trials = named_trials(stored, numbers)
    colours = charts.name_colours(trial.called for trial in trials)
    return {
        "trials": [
            {"trial": trial.record["number"], "name": trial.called, "colour": colours[trial.called]} for trial in trials
        ],
        "figures": [figure_json(each) for each in overlay_figures(trials)],
    }


def named_trials(stored: StoredRun, numbers: Sequence[int]) -> list[DrawnTrial]:
    """The chosen trials in that order, with their tables, each under a name of its own."""
    records = [record for record in stored.trials if measured(record)]
    names = {record["number"]: name for record, name in zip(records, trial_names(records), strict=True)}
    drawn = {trial.record["number"]: trial for trial in drawn_trials(stored.only(numbers))}
    return [replace(drawn[number], name=names[number]) for number in numbers]


def figure_json(figure: Figure) -> dict[str, Any]:
    """A chart as the page's script draws it."""
    return {"heading": figure.heading, "caption": figure.caption, "figure": figure.figure}


def span_of(from_s: str | None, to_s: str | None) -> Span:
    """The span that an address names; what is not given has no limit."""
    low, high = _seconds(from_s, -math.inf), _seconds(to_s, math.inf)
    if low >= high:
        raise UserError(f"the span from {low:g} s to {high:g} s is empty", "Let it end after it begins")
    return Span(low, high)


def _seconds(text: str | None, absent: float) -> float:
    if text is None or text == "":
        return absent
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    # Beyond this an instant in milliseconds is no whole number any more.
    if not abs(found) < 1e9:
        raise UserError(f"'{text[:40]}' is no number of seconds")
    return found


def span_json(found: Iterable[tuple[int, str, SpanQuantiles]]) -> list[dict[str, Any]]:
    """Quantiles of trials as rows: as numbers, and as words."""
    rows = []
    for number, name, quantiles in found:
        values = quantiles.as_dict()
        words = {q: f"{values[q]:,}" if q == "n" else milliseconds(values[q]) for q in QUANTILES}
        rows.append({"trial": number, "name": name, **values, "words": words})
    return rows
