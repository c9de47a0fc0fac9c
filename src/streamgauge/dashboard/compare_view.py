"""Runs and trials set against each other, as a page shows them: charts over all, a table for each pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from streamgauge.measure.comparability import Side, sides
from streamgauge.model.errors import UserError
from streamgauge.report import charts, drawing, drawn_trials
from streamgauge.report.comparison import (
    ComparedPair,
    Matched,
    answer,
    comparison_grid,
    default_figures,
    footnotes,
    match_runs,
)
from streamgauge.report.drawing import DrawnTrial
from streamgauge.report.grids import page_grid
from streamgauge.report.markup import Markup
from streamgauge.report.overlay import MOST_NAMES, glance_figures, named_figures
from streamgauge.report.page import drawn_figures
from streamgauge.report.words import in_order
from streamgauge.store import StoredRun

MOST_CHOSEN = 12


@dataclass(frozen=True)
class Choice:
    """A run, or one trial of it, as an address names it: `RUN` or `RUN:3`."""

    run: str
    trial: int | None = None

    @classmethod
    def parse(cls, text: str) -> Choice:
        """The choice that a text spells."""
        run, colon, number = text.rpartition(":")
        if colon and number.isascii() and number.isdigit() and len(number) < 10:
            return cls(run, int(number))
        return cls(text)

    def __str__(self) -> str:
        return self.run if self.trial is None else f"{self.run}:{self.trial}"


@dataclass(frozen=True)
class Chosen:
    """A choice with the run that was read for it, which has no other trials than those chosen."""

    choice: Choice
    stored: StoredRun


@dataclass(frozen=True)
class PairView:
    """A pair: who stands against whom, in one sentence how, why it may not be compared, and its table."""

    title: str
    sides: str
    answer: str
    reasons: list[str]
    table: Markup


@dataclass(frozen=True)
class ComparisonView:
    """All that a page of a comparison shows."""

    glance: Markup
    sections: list[tuple[str, Markup]]
    pairs: list[PairView]
    alone: list[str]
    unmatched: list[str]
    footnotes: list[str]
    problems: list[str]
    left_out: int
    """Sides that are not drawn, since there are more than colours."""


def choices(texts: Iterable[str]) -> list[Choice]:
    """What an address chooses, each once, in its order: the first is the baseline."""
    found = list(dict.fromkeys(Choice.parse(text) for text in texts if text))
    if len(found) > MOST_CHOSEN:
        raise UserError(f"{len(found)} runs and trials are too many", f"Choose {MOST_CHOSEN} at most")
    return found


def narrowed(choice: Choice, stored: StoredRun) -> Chosen:
    """The choice with its run, or with that one trial of it."""
    if choice.trial is None:
        return Chosen(choice, stored)
    if choice.trial not in {record["number"] for record in stored.trials}:
        raise UserError(f"the run {stored.id} has no trial {choice.trial}", "Choose one that its page lists")
    return Chosen(choice, stored.only([choice.trial]))


def matches(chosen: Sequence[Chosen]) -> list[Matched]:
    """What stands against what: the first choice against each other one; of one choice alone, its first engine."""
    if not chosen:
        return []
    baseline = chosen[0].stored
    mine = _engines(baseline)
    if len(chosen) == 1:
        return [match_runs(baseline, baseline, (mine[0], other)) for other in mine[1:]]
    found = []
    for each in chosen[1:]:
        theirs = _engines(each.stored)
        if set(mine) & set(theirs) or not mine or not theirs:
            found.append(match_runs(baseline, each.stored))
        else:
            found += [match_runs(baseline, each.stored, (mine[0], other)) for other in theirs]
    return found


def _engines(stored: StoredRun) -> list[str]:
    return in_order(str(record["engine"]) for record in stored.trials)


def compared_pairs(found: Sequence[Matched]) -> list[ComparedPair]:
    """Every pair with what became of its figures."""
    return [pair for matched in found for pair in matched.compare(default_figures())]


def comparison_view(chosen: Sequence[Chosen]) -> ComparisonView:
    """The page of a comparison."""
    found = matches(chosen)
    pairs = compared_pairs(found)
    named = named_sides(chosen)
    drawn = named[:MOST_NAMES]
    return ComparisonView(
        glance=drawn_figures("glance", glance_figures([(name, side) for name, side, _ in drawn])),
        sections=_sections(drawn),
        pairs=[_pair_view(pair) for pair in pairs],
        alone=in_order(side.full_title for matched in found for side in matched.alone),
        unmatched=[_unmatched(matched) for matched in found if not matched.pairs],
        footnotes=footnotes(pairs),
        problems=in_order(problem for each in chosen for problem in each.stored.problems),
        left_out=len(named) - len(drawn),
    )


def _pair_view(pair: ComparedPair) -> PairView:
    colours = charts.engine_colours(side.engine for side in pair.pair.both)
    told = page_grid(comparison_grid(pair), colours)
    against = f"{pair.pair.candidate.title} against {pair.pair.baseline.title}"
    return PairView(pair.pair.title, against, answer(pair), list(pair.pair.reasons), told)


def _unmatched(matched: Matched) -> str:
    one, other = matched.runs
    return f"{one.id} and {other.id} have no trial of the same application and engine"


def named_sides(chosen: Sequence[Chosen]) -> list[tuple[str, Side, StoredRun]]:
    """Every side with a name that tells it apart from the others, in the order of the choices."""
    every = [(each, side) for each in chosen for side in sides(each.stored.run, each.stored.trials)]
    told = [_facts(each, side) for each, side in every]
    several = [any(facts[at] != told[0][at] for facts in told) for at in range(len(told[0]))] if told else []
    names: list[str] = []
    for facts in told:
        parts = [fact for fact, differs in zip(facts, several, strict=True) if differs and fact] or [facts[1]]
        name = " · ".join(parts)
        same = sum(known.partition(" (")[0] == name for known in names)
        names.append(f"{name} ({same + 1})" if same else name)
    return [(name, side, each.stored) for name, (each, side) in zip(names, every, strict=True)]


def _facts(each: Chosen, side: Side) -> tuple[str, ...]:
    trial = "" if each.choice.trial is None else f"trial {each.choice.trial}"
    return (side.application, side.engine, str(side.group.first["load"]), each.stored.id, trial)


def _sections(named: Sequence[tuple[str, Side, StoredRun]]) -> list[tuple[str, Markup]]:
    """The charts of each application and load over all sides that have them."""
    colours = charts.name_colours(name for name, _, _ in named)
    trials = [trial for name, side, stored in named for trial in _drawn(name, side, stored)]
    return [
        (section.title, drawn_figures(f"section-{number}", named_figures(section, colours)))
        for number, section in enumerate(drawing.sections(trials), 1)
    ]


def _drawn(name: str, side: Side, stored: StoredRun) -> list[DrawnTrial]:
    numbers = [record["number"] for record in side.group.records]
    return [replace(trial, name=name) for trial in drawn_trials(stored.only(numbers))]
