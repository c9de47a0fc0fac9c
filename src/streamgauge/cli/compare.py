"""`streamgauge compare`: two runs, or two engines, figure by figure, with intervals."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.cli.options import AsJson, RunsFolder
from streamgauge.cli.verb import Verb
from streamgauge.model.errors import EXIT_OK, EXIT_THRESHOLD, UserError, unknown

if TYPE_CHECKING:
    from streamgauge.report.comparison import ComparedPair, Matched
    from streamgauge.store import StoredRun


def compare(
    baseline: Annotated[
        str, typer.Argument(metavar="BASELINE", help="A run: its name, the beginning of one, its folder, or 'latest'.")
    ],
    candidate: Annotated[
        str | None,
        typer.Argument(metavar="[CANDIDATE]", help="The run that stands against it (default: the same, by engine)."),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            "--engine", "-e", metavar="NAME", help="Only this engine; given twice, the first against the second."
        ),
    ] = None,
    application: Annotated[
        list[str] | None,
        typer.Option("--application", "-a", metavar="NAME", help="Only this application. Repeatable."),
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option("--figure", "-f", metavar="FIGURE", help="Only this figure, as in thresholds. Repeatable."),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIMIT",
            help="Like 'p99:+10%'; exit code 99 where it got worse by more and that is shown. Repeatable.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compare what is not comparable, with the reasons above the table.")
    ] = False,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the figures to this .csv, .parquet or .md file too.")
    ] = None,
    out: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Compare two stored runs, or two engines of one: what changed, by how much, and whether that is shown."""
    from streamgauge.measure.change_limits import check_change, comparable_figure, parse_change_limit
    from streamgauge.report.comparison import comparison_sheet, default_figures
    from streamgauge.report.export import check_export, write_sheet

    limits = [parse_change_limit(text) for text in fail_on or []]
    named = [comparable_figure(name) for name in figure or []]
    if export is not None:
        check_export(export)
    matched = _matched(out, baseline, candidate, list(engine or []), list(application or []))
    _refuse(matched, force)
    wanted = list(dict.fromkeys([*(named or default_figures()), *(limit.figure for limit in limits)]))
    compared = matched.compare(wanted)
    checked = [(each, limit, check_change(limit, each.change(limit.figure))) for each in compared for limit in limits]
    if as_json:
        outcomes = [
            {"trial": each.pair.title, "limit": limit.text, **outcome.as_dict()} for each, limit, outcome in checked
        ]
        print(json.dumps(_document(matched, compared, outcomes)))
    else:
        told = [(each.pair.title, outcome.as_dict()) for each, _, outcome in checked]
        _show(matched, compared, [f.name for f in named], told)
    if export is not None:
        write_sheet(comparison_sheet(compared), export)
    raise typer.Exit(EXIT_OK if all(outcome.ok for *_, outcome in checked) else EXIT_THRESHOLD)


def _matched(out: Path, baseline: str, candidate: str | None, engines: list[str], applications: list[str]) -> Matched:
    from streamgauge.report.comparison import match_runs
    from streamgauge.store import RunStore

    store = RunStore(out)
    first = store.open(baseline)
    second = first if candidate is None else store.open(candidate)
    chosen = _engines(first, second, engines)
    _check_applications(first, second, applications)
    matched = match_runs(first, second, chosen, applications)
    if not matched.pairs:
        raise UserError(
            f"{first.id} and {second.id} have no trial of the same application and engine",
            "Name an engine of each: --engine A --engine B",
        )
    return matched


def _engines(first: StoredRun, second: StoredRun, engines: list[str]) -> tuple[str, str] | None:
    """Baseline's and candidate's engine; None where each engine stands against itself in the other run."""
    if len(engines) > 2:
        raise UserError(f"--engine is given {len(engines)} times", "Name one, or two to set them against each other")
    one_run = first.folder.resolve() == second.folder.resolve()
    if not engines and not one_run:
        return None
    stored = _stored(first, "engine")
    if not engines and len(stored) == 2:
        return stored[0], stored[1]
    if one_run and len(set(engines)) < 2:
        raise UserError(
            f"one run, {first.id}, has nothing to stand against but another engine",
            f"Name two of its engines ({', '.join(stored) or 'it has none'}) with --engine, or a second run",
        )
    chosen = (engines[0], engines[-1])
    for run, name in zip((first, second), chosen, strict=True):
        if name not in _stored(run, "engine"):
            raise unknown(f"engine in run {run.id}", name, _stored(run, "engine"))
    return chosen


def _check_applications(first: StoredRun, second: StoredRun, applications: list[str]) -> None:
    known = list(dict.fromkeys([*_stored(first, "application"), *_stored(second, "application")]))
    for name in applications:
        if name not in known:
            raise unknown("application in these runs", name, known)


def _stored(run: StoredRun, member: str) -> list[str]:
    return list(dict.fromkeys(str(record[member]) for record in run.trials))


def _refuse(matched: Matched, force: bool) -> None:
    """Say every reason in a line of its own, then end; with force the reasons stand above the tables instead."""
    if not matched.reasons or force:
        return
    for reason in matched.reasons:
        print(f"not comparable: {reason}", file=sys.stderr)
    raise UserError(
        "the trials are not comparable, as said above",
        "Choose others with --application or --engine, or see the figures all the same with --force",
    )


def _problems(matched: Matched) -> list[str]:
    return list(dict.fromkeys(problem for run in matched.runs for problem in run.problems))


def _document(matched: Matched, compared: list[ComparedPair], outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schema": 1,
        "baseline": matched.runs[0].id,
        "candidate": matched.runs[1].id,
        "reasons": matched.reasons,
        "pairs": [each.as_dict() for each in compared],
        "without_counterpart": [side.full_title for side in matched.alone],
        "limits": outcomes,
        "problems": _problems(matched),
    }


def _show(matched: Matched, compared: list[ComparedPair], wanted: list[str], limits: list[tuple[str, Any]]) -> None:
    from rich.text import Text

    from streamgauge.report.comparison import about_pair, answer, comparison_table, footnotes
    from streamgauge.report.tables import console, remark, threshold_line

    out = console()
    for reason in matched.reasons:
        out.print(remark("red", "not comparable", reason))
    said: list[Text] = []
    for each in compared:
        about = about_pair(each)
        for line in about if about != said else []:
            out.print(line)
        said = about
        out.print(comparison_table(each, wanted, out.width))
    for note in footnotes(compared):
        out.print(Text(note, "dim"))
    for side in matched.alone:
        out.print(remark("yellow", "without counterpart", side.full_title))
    for problem in _problems(matched):
        out.print(remark("red", "not read", problem))
    for subject, outcome in limits:
        out.print(threshold_line(subject, outcome))
    for each in compared:
        out.print(Text(answer(each), "bold"))


VERB = Verb(
    name="compare",
    function=compare,
    examples=(
        "streamgauge compare 20250101-120000-1a2b latest",
        "streamgauge compare latest --engine spark-microbatch --engine spark-realtime",
        "streamgauge compare main-branch/runs/20250101-120000-1a2b latest --fail-on 'p99:+10%' --fail-on 'cpu:+5%'",
        "streamgauge compare 20250101 20250102 --figure p99 --figure events_per_s --export change.md",
    ),
)
