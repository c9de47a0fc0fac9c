"""Two runs, or two engines, against each other: what is compared, and the tables that show it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from rich.table import Table
from rich.text import Text

from streamgauge.measure.comparability import Pair, Side, pairs, sides
from streamgauge.measure.comparison import NO_DIFFERENCE, Change, Repeats, compare
from streamgauge.measure.figures import Figure, get_figure
from streamgauge.model.errors import StoreError
from streamgauge.report.export import Sheet
from streamgauge.report.grids import Cell, Grid, Said
from streamgauge.report.markup import Column
from streamgauge.report.tables import plain_table
from streamgauge.report.words import NOTHING, in_order, in_unit, percent
from streamgauge.store import StoredRun

DEFAULT_FIGURES = (
    *("p50", "p95", "p99", "max", "output.p50", "output.p95", "output.p99", "events_per_s", "p5_events_per_s"),
    *("cpu", "rss_bytes_max", "heap_used_bytes_max", "gc_ms"),
)
_ONE_REPEAT = (
    "* over the seconds of one repeat: how the trial varied within itself, not how repeats of it differ; "
    "run with --repeat 5 for that"
)
_WIDE_ENOUGH = 150
_NEEDS_WIDTH = {"heap_used_bytes_max": 90}
_NUMBERS = pa.schema(
    [
        *((name, pa.string()) for name in ("application", "load", "figure", "unit", "better")),
        *(
            (f"{side}_{name}", pa.string())
            for side in ("baseline", "candidate")
            for name in ("run", "engine", "version")
        ),
        *((f"{side}_repeats", pa.int32()) for side in ("baseline", "candidate")),
        *((f"{side}_{name}", pa.float64()) for side in ("baseline", "candidate") for name in ("mean", "median")),
        *((name, pa.float64()) for name in ("change_percent", "low_percent", "high_percent")),
        *((name, pa.string()) for name in ("interval_over", "verdict", "word", "note")),
    ]
)


@dataclass(frozen=True)
class ComparedPair:
    """A pair with what became of its figures."""

    pair: Pair
    changes: tuple[Change, ...]

    def change(self, figure: Figure) -> Change:
        """What became of that figure."""
        return next(each for each in self.changes if each.figure == figure)

    @property
    def names(self) -> tuple[str, str]:
        """What tells the sides apart: engines, versions of one engine, or just baseline and candidate."""
        one, other = self.pair.both
        if not self.pair.same_engine:
            return one.engine, other.engine
        if one.version != other.version:
            return f"{one.engine} {one.version}".strip(), f"{other.engine} {other.version}".strip()
        return "baseline", "candidate"

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "application": self.pair.baseline.application,
            "load": self.pair.baseline.group.first["load"],
            "baseline": _side(self.pair.baseline),
            "candidate": _side(self.pair.candidate),
            "differences": self.pair.differences,
            "reasons": self.pair.reasons,
            "figures": [change.as_dict() for change in self.changes],
        }


def _side(side: Side) -> dict[str, Any]:
    named = {"run": side.run.get("run"), "engine": side.engine, "version": side.version or None}
    return {**named, "repeats": len(side.counted), "repeats_stored": len(side.group.records)}


@dataclass(frozen=True)
class Matched:
    """The pairs of two runs, the sides that found no partner, and how the runs are read for more."""

    pairs: tuple[Pair, ...]
    alone: tuple[Side, ...]
    runs: tuple[StoredRun, StoredRun]

    @property
    def reasons(self) -> list[str]:
        """Why pairs may not be compared, each said once."""
        return in_order(reason for pair in self.pairs for reason in pair.reasons)

    def compare(self, figures: Sequence[Figure]) -> list[ComparedPair]:
        """The changes of every pair; a figure that neither side has is left out."""
        return [self._compared(pair, figures) for pair in self.pairs]

    def _compared(self, pair: Pair, figures: Sequence[Figure]) -> ComparedPair:
        both = [self._repeats(side, run) for side, run in zip(pair.both, self.runs, strict=True)]
        return ComparedPair(pair, tuple(compare(figure, *both) for figure in figures))

    def _repeats(self, side: Side, run: StoredRun) -> Repeats:
        counts = None
        if len(side.counted) == 1:
            # A damaged table is among the run's problems; without it there is no interval.
            with contextlib.suppress(StoreError):
                counts = run.table(side.counted[0], "latency")
        return Repeats(side.counted, counts)


def match_runs(
    baseline: StoredRun,
    candidate: StoredRun,
    engines: tuple[str, str] | None = None,
    applications: Sequence[str] = (),
) -> Matched:
    """The trials of two stored runs that stand against each other; of the named engines and applications only."""
    chosen = []
    for run, engine in zip((baseline, candidate), engines or (None, None), strict=True):
        mine = sides(run.run, run.trials)
        kept = [s for s in mine if engine in (None, s.engine) and (not applications or s.application in applications)]
        chosen.append(kept)
    across = engines is not None and engines[0] != engines[1]
    found, alone = pairs(chosen[0], chosen[1], across_engines=across)
    return Matched(tuple(found), tuple(alone), (baseline, candidate))


def comparison_table(compared: ComparedPair, wanted: Sequence[str] = (), width: int = _WIDE_ENOUGH) -> Table:
    """One row per figure: both sides, the change with its interval, and the verdict.

    A figure that neither side has is left out, unless it is wanted by name. A narrow console does without the heap
    and the notes, and calls the sides baseline and candidate.
    """
    wide = width >= _WIDE_ENOUGH
    table = plain_table(compared.pair.title)
    table.add_column("figure", no_wrap=True)
    for heading in (*(compared.names if wide else ("baseline", "candidate")), "change", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for change in _shown(compared, wanted):
        if width >= _NEEDS_WIDTH.get(change.figure.name, 0) or change.figure.name in wanted:
            *cells, words = _cells(change, wide)
            table.add_row(*map(Text, cells), Text(words, _style(change)))
    return table


def comparison_grid(compared: ComparedPair, wanted: Sequence[str] = ()) -> Grid:
    """The same rows as `comparison_table`, for a page."""
    about = [str(line) for line in about_pair(compared)]
    headings = (*compared.names, "change", "95 % interval")
    columns = [Column("figure", "title"), *(Column(each, "number") for each in headings), Column("verdict", "full")]
    rows: list[list[Cell]] = []
    for change in _shown(compared, wanted):
        *cells, words = _cells(change)
        rows.append([*cells, Said({"better": True, "worse": False}.get(change.verdict), words)])
    return Grid(compared.pair.title, " · ".join(about), columns, rows)


def _shown(compared: ComparedPair, wanted: Sequence[str]) -> list[Change]:
    """The changes of a pair without figures that neither side has, unless they are wanted by name."""
    return [c for c in compared.changes if c.baseline or c.candidate or c.figure.name in wanted]


def _cells(change: Change, wide: bool = True) -> list[str]:
    one, other = (in_unit(value, change.figure.unit) for value in change.centres)
    words = f"{change.word} ({change.note})" if change.note else change.word
    if not wide:
        words = "not shown" if change.verdict == NO_DIFFERENCE else change.word
    return [change.figure.name, one, other, percent(change.percent), _interval(change), words]


def _interval(change: Change) -> str:
    if change.basis is None:
        return NOTHING
    low, high = percent(change.low_percent), percent(change.high_percent)
    return f"{low.removesuffix(' %')} … {high}{'*' if change.basis == 'seconds' else ''}"


def _style(change: Change) -> str:
    return {"better": "green", "worse": "red"}.get(change.verdict, "dim")


def about_pair(compared: ComparedPair) -> list[Text]:
    """Who stands against whom, and what else differs, a line each."""
    lines = []
    for role, side in zip(("baseline", "candidate"), compared.pair.both, strict=True):
        n = len(side.counted)
        lines.append(Text.assemble((f"{role}: ", "bold"), f"{side.title}, {n} repeat{'' if n == 1 else 's'}"))
    return [*lines, *(Text.assemble(("differs: ", "yellow"), each) for each in compared.pair.differences)]


def answer(compared: ComparedPair) -> str:
    """The pair in one sentence: which figures got better, which worse."""
    told = [change for change in compared.changes if change.baseline and change.candidate]
    words = in_order(change.word for change in told if change.verdict != NO_DIFFERENCE)
    parts = [f"{word} in {', '.join(c.figure.name for c in told if c.word == word)}" for word in words]
    same = sum(change.verdict == NO_DIFFERENCE for change in told)
    parts += [f"no difference shown in {same} of {len(told)} figures"] if same or not told else []
    one, other = compared.pair.both
    who = one.engine if compared.pair.same_engine else f"{other.engine} against {one.engine}"
    return f"{one.application} on {who}: {'; '.join(parts)}."


def footnotes(compared: Sequence[ComparedPair]) -> list[str]:
    """What a reader must know of intervals that were taken over seconds."""
    over_seconds = any(change.basis == "seconds" for each in compared for change in each.changes)
    return [_ONE_REPEAT] if over_seconds else []


def comparison_sheet(compared: Sequence[ComparedPair]) -> Sheet:
    """Every figure of every pair as rows that can be exported."""
    numbers, rows = [], []
    for each in compared:
        shown = each.as_dict()
        for change, figures in zip(each.changes, shown["figures"], strict=True):
            if not change.baseline and not change.candidate:
                continue
            flat = {"application": shown["application"], "load": shown["load"], **figures}
            for side in ("baseline", "candidate"):
                flat |= {f"{side}_{name}": value for name, value in {**figures[side], **shown[side]}.items()}
                flat[f"{side}_repeats"] = figures[side]["repeats"]
            numbers.append({name: flat[name] for name in _NUMBERS.names})
            rows.append([each.pair.title, *_cells(change)])
    names = in_order(each.names for each in compared)
    headings = names[0] if len(names) == 1 else ("baseline", "candidate")
    table = pa.Table.from_pylist(numbers, schema=_NUMBERS)
    return Sheet(table, ["trial", "figure", *headings, "change", "95 % interval", "verdict"], rows)


def default_figures() -> list[Figure]:
    """The figures that a comparison shows unless told."""
    return [get_figure(name) for name in DEFAULT_FIGURES]
