"""Plans of runs in the command: of applications, of a suite, of what an interrupted run has left; and their table."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from streamgauge.model.errors import UserError

if TYPE_CHECKING:
    from streamgauge.lab.request import Plan, PlannedTrial

OF_EVERY_RUN = ("kafka", "kafka_config", "out", "keep", "dry_run", "verbose", "as_json")
OF_A_SUITE = ("applications", "scale", "quick", "engine", "threshold", "seeds")
OF_A_RESUMED = ("resume", "sink")
"""Options of `run` that go with each."""


@dataclass(frozen=True)
class SuiteWishes:
    """Which suite, at which scale, on which engines and with how many seeds, with which thresholds beside its own."""

    name: str
    scale: str | None = None
    quick: bool = False
    engines: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()
    seeds: int | None = None


def is_suite(names: Sequence[str]) -> bool:
    """Whether the names say a suite; one beside other names is a mistake."""
    from streamgauge.lab.suite_file import is_suite as named_so

    found = [name for name in names if named_so(name)]
    if found and len(names) > 1:
        raise UserError(f"the suite '{found[0]}' is named beside others", "Run one suite, or applications")
    return bool(found)


def refuse_others(context: typer.Context, allowed: Iterable[str], with_what: str, way_out: str) -> None:
    """Raise when an option was given that does not go with what is run."""
    known = {*allowed, *OF_EVERY_RUN}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE" and parameter.name not in known:
            raise UserError(f"{_spelling(parameter)} does not go with {with_what}", way_out)


def _spelling(parameter: Any) -> str:
    return str(parameter.opts[0]) if parameter.opts[0].startswith("-") else str(parameter.metavar)


def suite_plan(wishes: SuiteWishes, where: Plan) -> Plan:
    """The plan of a suite; log, folder and command are those of `where`."""
    from streamgauge.lab.expansion import expand
    from streamgauge.lab.suite import parse_scale
    from streamgauge.lab.suite_file import get_suite
    from streamgauge.log.configuration import read_configuration
    from streamgauge.measure.thresholds import parse_threshold

    if where.keep and not where.kafka:
        raise UserError("--keep needs --kafka", "The embedded broker ends with the run, and its topics with it")
    if where.kafka_config is not None:
        read_configuration(where.kafka_config)
    more = tuple(parse_threshold(text).text for text in wishes.thresholds)
    scale = parse_scale(wishes.scale, wishes.quick)
    suite = get_suite(wishes.name)
    trials = expand(suite, scale, wishes.engines, where.kafka_config, where.kafka, wishes.seeds)
    if more:
        trials = [replace(each, thresholds=tuple(dict.fromkeys([*each.thresholds, *more]))) for each in trials]
    return replace(where, trials=tuple(trials), suite=suite.facts(scale))


def left_trials(where: Plan, run: str, sink: str | None) -> list[PlannedTrial]:
    """What an interrupted run has left to do."""
    from streamgauge.lab.resuming import left_of
    from streamgauge.store import RunStore

    return left_of(where, RunStore(where.out).open(run), sink).trials


def refuse_near_suite(names: Sequence[str]) -> None:
    """Raise for a name that is no application, where only a suite is near it."""
    from streamgauge.applications import all_applications, is_file
    from streamgauge.lab.suite_file import suite_names

    known = all_applications()
    for name in names:
        if not is_file(name) and name not in known and not difflib.get_close_matches(name, known, n=1):
            near = difflib.get_close_matches(name, suite_names(), n=1)
            if near:
                raise UserError(f"unknown suite '{name}'", f"Did you mean '{near[0]}'?")


def show_plan(trials: Sequence[PlannedTrial], as_json: bool) -> int:
    """Print the trials with the time that they are expected to take; nothing is started."""
    from streamgauge.lab.budget import expected_run_s, expected_s

    times = expected_s(trials)
    if as_json:
        rows = [
            {**each.trial.as_dict(), "expected_s": round(seconds, 1), "gap": each.gap and vars(each.gap)}
            for each, seconds in zip(trials, times, strict=True)
        ]
        print(json.dumps({"schema": 1, "expected_s": round(expected_run_s(trials), 1), "trials": rows}))
        return 0
    _print_table(trials, times, expected_run_s(trials))
    return 0


def _print_table(trials: Sequence[PlannedTrial], times: Sequence[float], total_s: float) -> None:
    from rich.text import Text

    from streamgauge.model.trial import differences
    from streamgauge.model.units import duration
    from streamgauge.report.tables import console, plain_table

    details = differences([each.trial for each in trials])
    count = f"{len(trials)} trial{'' if len(trials) == 1 else 's'} would be run"
    table = plain_table(f"{count}, in about {duration(total_s)}" if total_s else count)
    # What goes wrong is said even where it is the same in all trials.
    if len({each.trial.faults for each in trials}) == 1:
        broken = "; ".join(trials[0].trial.faults)
        details = [", ".join(filter(None, (broken, detail))) for detail in details]
    words = ("application", "engine", "load", "differs in")
    for heading in ("#", *words, "events", "warm-up events", "seed", "repeat", "time"):
        if heading != "differs in" or any(details):
            table.add_column(heading, justify="left" if heading in words else "right")
    for number, (planned, detail, seconds) in enumerate(zip(trials, details, times, strict=True), 1):
        trial = planned.trial
        known = [trial.application, trial.engine, trial.load, *([detail] if any(details) else [])]
        counts = [f"{trial.events:,}", f"{trial.warmup_events:,}", str(trial.seed), str(trial.repeat)]
        time = Text("gap", "yellow") if planned.gap else Text(f"{seconds:,.0f} s")
        table.add_row(str(number), *map(Text, [*known, *counts]), time)
    out = console()
    out.print(table)
    for reason in dict.fromkeys(f"gap ({e.gap.kind}): {e.gap.reason}" for e in trials if e.gap is not None):
        out.print(Text.assemble(("! ", "yellow"), reason))
