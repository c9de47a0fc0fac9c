"""A run that somebody wishes for on the page: its fields, the command that it equals, and what planning says of it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from streamgauge.model.errors import StreamgaugeError, UserError, unknown

LONGEST_TEXT = 200
MOST_IN_A_LIST = 30
CURVE_BINS = 240
MOST_TRIALS = 1_000
_LISTS = ("applications", "engines", "faults", "thresholds")


@dataclass(frozen=True)
class Wish:
    """The fields of the form, as they were typed; an empty one leaves it to the program."""

    applications: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    load: str = ""
    for_: str = ""
    events: str = ""
    warmup: str = ""
    settling: str = ""
    repeat: str = ""
    seed: str = ""
    partitions: str = ""
    place: str = ""
    faults: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Wish:
        """The wish that a request brings; what is no text, too long or unknown is refused."""
        known = {each.name.rstrip("_"): each.name for each in fields(cls)}
        for name in given:
            if name not in known:
                raise unknown("field", str(name)[:LONGEST_TEXT], list(known))
        return cls(**{known[name]: _read(name, value) for name, value in given.items()})

    def arguments(self) -> list[str]:
        """What follows `streamgauge`, without what is left to the program; a list, which no shell ever sees."""
        options = {"for_": "--for", "faults": "--fault", "thresholds": "--threshold", "engines": "--engine"}
        found = ["run", *self.applications]
        for each in fields(self):
            value = getattr(self, each.name)
            option = options.get(each.name, f"--{each.name}")
            if each.name != "applications":
                for text in (value,) if isinstance(value, str) else value:
                    found += [option, text] if text else []
        return found

    def command(self, out: Path) -> str:
        """The command line that it equals, as one types it."""
        return shlex.join(["streamgauge", *self.arguments(), *elsewhere(out)])


def elsewhere(out: Path) -> list[str]:
    """The option that names the folder of the runs, where it is not the usual one."""
    return [] if out == Path("runs") else ["--out", str(out)]


def _read(name: str, value: Any) -> Any:
    if name in _LISTS:
        if not isinstance(value, list) or len(value) > MOST_IN_A_LIST:
            raise UserError(f"'{name}' is not a list of at most {MOST_IN_A_LIST}")
        return tuple(text for text in (_text(name, each) for each in value) if text)
    return _text(name, value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise UserError(f"'{name}' is not a text of at most {LONGEST_TEXT} characters")
    text = value.strip()
    if not text.isprintable():
        raise UserError(f"'{name}' holds characters that cannot be printed")
    return text


@dataclass(frozen=True)
class Problem:
    """What is wrong, in its own words, and beside which field it belongs; an empty one is the whole form."""

    field: str
    text: str


@dataclass(frozen=True)
class Checked:
    """What planning says of a wish."""

    problems: tuple[Problem, ...] = ()
    trials: int = 0
    expected_s: float = 0.0
    gaps: tuple[str, ...] = ()
    figure: dict[str, Any] | None = None
    """The curve of the load with its faults; None where nothing is due at a time of its own."""
    remark: str = ""


def checked(wish: Wish, out: Path) -> Checked:
    """Plan the wish as the command would, and say all that is wrong with it at once."""
    from streamgauge.lab.budget import expected_run_s
    from streamgauge.lab.planning import plan_trials

    values, problems = _parsed(wish)
    figure, remark = None, ""
    if not any(each.field in ("load", "for", "warmup", "events") for each in problems):
        figure, remark, more = _drawn(wish, values)
        problems += more
    if problems:
        return Checked(tuple(problems), figure=figure, remark=remark)
    try:
        trials = plan_trials(_request(wish, values, out))
    except StreamgaugeError as error:
        return Checked((Problem(_field_of(error), str(error)),), figure=figure, remark=remark)
    gaps = dict.fromkeys(f"{t.trial.engine}: {t.gap.reason}" for t in trials if t.gap is not None)
    return Checked((), len(trials), expected_run_s(trials), tuple(gaps), figure, remark)


def _parsed(wish: Wish) -> tuple[dict[str, Any], list[Problem]]:
    """The value of every field that can be understood by itself, and what is wrong with the others."""
    from streamgauge.applications import all_applications
    from streamgauge.engines import get_engine
    from streamgauge.faults.grammar import parse_fault
    from streamgauge.load import parse_load
    from streamgauge.measure.thresholds import parse_threshold
    from streamgauge.model.units import parse_count, parse_duration_s
    from streamgauge.places import parse_place

    def named(name: str) -> str:
        # Files of one's own are code: they are run from the console, never from a page.
        if name not in all_applications():
            raise unknown("application", name, list(all_applications()))
        return name

    readers: tuple[tuple[str, Sequence[str], Callable[[str], Any]], ...] = (
        ("applications", wish.applications, named),
        ("engines", wish.engines, get_engine),
        ("load", (wish.load or "constant:500/s",), parse_load),
        ("for", (wish.for_,), parse_duration_s),
        ("events", (wish.events,), parse_count),
        ("warmup", (wish.warmup,), parse_duration_s),
        ("settling", (wish.settling,), parse_duration_s),
        ("repeat", (wish.repeat,), _whole),
        ("seed", (wish.seed,), _whole),
        ("partitions", (wish.partitions,), _whole),
        ("place", (wish.place,), parse_place),
        ("faults", wish.faults, parse_fault),
        ("thresholds", wish.thresholds, parse_threshold),
    )
    values: dict[str, Any] = {}
    problems = []
    for name, texts, read in readers:
        for text in filter(None, texts):
            try:
                values[name] = read(text)
            except StreamgaugeError as error:
                problems.append(Problem(name, str(error)))
    if not wish.applications:
        problems.insert(0, Problem("applications", "no application is chosen"))
    trials = len(wish.applications) * max(1, len(wish.engines)) * values.get("repeat", 1)
    if trials > MOST_TRIALS:
        problems.append(Problem("repeat", f"that would be {trials:,} trials: at most {MOST_TRIALS:,} at once"))
    return values, problems


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise UserError(f"'{text}' is not a whole number")
    return int(text)


def _request(wish: Wish, values: Mapping[str, Any], out: Path) -> Any:
    from streamgauge.lab.request import DEFAULT_ENGINES, RunRequest

    return RunRequest(
        applications=wish.applications,
        engines=tuple(dict.fromkeys(wish.engines)) or DEFAULT_ENGINES,
        load=wish.load or RunRequest.load,
        events=values.get("events"),
        for_s=values.get("for"),
        warmup_s=values.get("warmup"),
        settling_s=values.get("settling", RunRequest.settling_s),
        seed=values.get("seed", RunRequest.seed),
        repeat=values.get("repeat", RunRequest.repeat),
        partitions=values.get("partitions"),
        place=wish.place or RunRequest.place,
        faults=wish.faults,
        thresholds=wish.thresholds,
        out=out,
    )


_OPTIONS = ("events", "for", "warmup", "settling", "repeat", "partitions", "place", "load")


def _field_of(error: StreamgaugeError) -> str:
    """The field that a mistake of the plan belongs to, by the option or the word that it names."""
    if error.cause.startswith("fault "):
        return "faults"
    named = [name for name in _OPTIONS if error.cause.startswith(f"--{name} ")]
    return named[0] if named else ""


def _drawn(wish: Wish, values: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str, list[Problem]]:
    """The curve of the load over the trial, with the faults that can be laid out; in words where there is none."""
    from streamgauge.dashboard.load_curve import curve, fault_marks
    from streamgauge.report.load_chart import load_chart

    load = values["load"]
    if load.job_starts_at_s is None:
        return None, "All events are in the log before the job starts: nothing is due at a time of its own.", []
    try:
        found = curve(load, values.get("for"), values.get("events"), values.get("warmup"), CURVE_BINS)
    except (StreamgaugeError, OverflowError, ValueError, MemoryError) as error:
        return None, "", [Problem("load", str(error))]
    marks = fault_marks(wish.faults, found, values.get("seed", 1), wish.place or "local")
    return load_chart(found.edges_s, found.rates_per_s, marks), "", []
