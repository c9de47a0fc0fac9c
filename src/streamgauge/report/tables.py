"""Tables on a console: aligned, with units, in colour only where a terminal shows it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamgauge.measure.validity import Record, correct, measured, why_not_measured
from streamgauge.report.fault_words import faults_of, faulty, injection_words, seconds
from streamgauge.report.sections import job_cpu
from streamgauge.report.words import (
    NOTHING,
    answer,
    burst_words,
    compared,
    count,
    in_order,
    mark,
    milliseconds,
    per_second,
    quality_words,
    rate_of,
    told_apart,
    verdict_words,
)

PLAIN_WIDTH = 200
MANY_ALIKE = 4
"""Trials of which the same is said, from which on it is said once."""
Say = Callable[[Record], str]


def _latency(name: str) -> Say:
    return lambda record: milliseconds(record["latency_ms"].get(name))


_FIGURES: dict[str, Say] = {
    **{name: _latency(name) for name in ("p50", "p95", "p99", "max")},
    "throughput": lambda record: per_second(rate_of(record)),
    "job CPU": job_cpu,
}
_NEEDS_WIDTH = {"job CPU": 118, "max": 98, "p95": 89}


def console(stream: TextIO | None = None) -> Console:
    """A console on the stream (stdout unless told); one that is no terminal is wide enough to cut nothing."""
    out = stream or sys.stdout
    return Console(file=out, width=None if out.isatty() else PLAIN_WIDTH, highlight=False, soft_wrap=not out.isatty())


def plain_table(title: str = "") -> Table:
    """An empty table in the one style."""
    return Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, title_style="bold")


def summary_table(records: Sequence[Record], width: int = PLAIN_WIDTH) -> Table:
    """One row per trial, like the page's summary; a load that all share stands in the title.

    A narrow console does without the figures that the page also has: first the CPU, then max, then p95.
    """
    loads = in_order(r["load"] for r in records)
    rows = compared(records)
    details = told_apart(rows)
    table = plain_table(loads[0] if len(loads) == 1 else "")
    table.add_column("application", overflow="fold")
    table.add_column("engine", no_wrap=True)
    if len(loads) > 1:
        table.add_column("load")
    if any(details):
        table.add_column("differs in", overflow="fold")
    figures = {name: say for name, say in _FIGURES.items() if width >= _NEEDS_WIDTH.get(name, 0)}
    for heading in figures:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("answer", overflow="fold")
    table.add_column("valid", no_wrap=True)
    for record, detail in zip(rows, details, strict=True):
        known = [*([record["load"]] if len(loads) > 1 else []), *([detail] if any(details) else [])]
        table.add_row(*_cells(record, known, list(figures.values())))
    return table


def _cells(record: Record, known: Sequence[str], figures: Sequence[Say]) -> list[Text]:
    start = [_named(record), record["engine"], *known]
    if not measured(record):
        absence = Text("gap", "yellow") if record.get("gap") else Text("failed", "red")
        return [*map(Text, start), *[Text(NOTHING)] * len(figures), absence, Text(NOTHING)]
    right = correct(record)
    words = "not checked" if right is None else f"{mark(right)} {verdict_words(record['verdict'])}"
    return [
        *map(Text, [*start, *(say(record) for say in figures)]),
        Text(words, {True: "green", False: "red"}.get(right, "yellow") if right is not None else "yellow"),
        Text(mark(bool(record.get("valid"))), "green" if record.get("valid") else "red"),
    ]


def _named(record: Record) -> str:
    repeat = int((record.get("trial") or {}).get("repeat") or 1)
    return f"{record['application']}{f' #{repeat}' if repeat > 1 else ''}"


_RECOVERY: dict[str, Say] = {
    "noticed": lambda record: seconds(record["recovery"].get("detect_s")),
    "silence": lambda record: seconds(record["recovery"].get("output_gap_s")),
    "longest wait": lambda record: seconds(record["recovery"].get("longest_wait_s")),
    "latency back": lambda record: seconds(record["recovery"].get("latency_back_s")),
    "drained": lambda record: seconds(record["recovery"].get("drained_s")),
    "catch-up": lambda record: per_second(record["recovery"].get("catch_up_per_s")),
    "taken again": lambda record: count(record["recovery"].get("events_reprocessed")),
    "restarts": lambda record: count(record["verdict"].get("restarts")),
    "lost": lambda record: count(record["verdict"].get("lost")),
    "repeated": lambda record: count(record["verdict"].get("duplicated")),
}


def recovery_table(records: Sequence[Record]) -> Table | None:
    """One row per trial in which something went wrong: times since the fault, the worst of several; None without."""
    told = [record for record in compared(faulty(records)) if measured(record) and record.get("recovery")]
    if not told:
        return None
    table = plain_table("recovery")
    for heading in ("application", "engine", "fault"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "engine")
    for heading in _RECOVERY:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("class", no_wrap=True)
    colours = {"precise": "green", "rollback": "yellow", "gap": "red"}
    for record in told:
        named = record["recovery"]["class"]
        start = [record["application"], record["engine"], faults_of(record)]
        table.add_row(*map(Text, [*start, *(say(record) for say in _RECOVERY.values())]), Text(named, colours[named]))
    return table


def remarks(records: Sequence[Record]) -> list[Text]:
    """What a person should know beside the table: gaps, failures, invalid trials, thresholds, warnings."""
    found: list[Text] = []
    rows = compared(records)
    for record, subject in zip(rows, _subjects(rows), strict=True):
        if not measured(record):
            found.append(
                remark("yellow" if record.get("gap") else "red", subject, why_not_measured(record) or "no figures")
            )
        found += [remark("red", subject, f"not valid: {reason}") for reason in record.get("invalid_reasons") or []]
        found += [remark("yellow", subject, warning) for warning in record.get("warnings") or []]
        found += [
            remark("red", subject, injection_words(record, each))
            for each in record.get("faults") or []
            if each.get("problem")
        ]
        found += [threshold_line(subject, t) for t in record.get("thresholds") or []]
        found += [remark("red", subject, e) for e in (record.get("verdict") or {}).get("examples") or []]
    return found + [
        Text.assemble(("· ", "cyan"), (f"{subject}: ", "bold"), words)
        for say in (quality_words, burst_words)
        for subject, words in _told_once(_subjects(rows), list(map(say, rows)))
    ]


def _told_once(subjects: Sequence[str], words: Sequence[str]) -> list[tuple[str, str]]:
    """What is said of each subject; what is said of many in the same words is said once."""
    about: dict[str, list[str]] = {}
    for subject, said in zip(subjects, words, strict=True):
        if said:
            about.setdefault(said, []).append(subject)
    return [
        (subject, said)
        for said, those in about.items()
        for subject in (those if len(those) < MANY_ALIKE else [f"{len(those)} trials"])
    ]


def _subjects(rows: Sequence[Record]) -> list[str]:
    """What each row is about, in the words that tell it apart in the table."""
    several = len(in_order(record["load"] for record in rows)) > 1
    return [
        " · ".join(
            [_named(record), record["engine"], *([record["load"]] if several else []), *([detail] if detail else [])]
        )
        for record, detail in zip(rows, told_apart(rows), strict=True)
    ]


def requirements(records: Sequence[Record]) -> list[Text]:
    """The two requirements on the log (SB3), each in one line over all trials."""
    checked = [each for record in records for each in record.get("requirements") or []]
    found = []
    for name in in_order(each["name"] for each in checked):
        told = [each["met"] for each in checked if each["name"] == name and each["met"] is not None]
        if told:
            held = all(told)
            words = f"{name}: met in {sum(told)} of {len(told)} trial{'' if len(told) == 1 else 's'}"
            found.append(Text.assemble((f"{mark(held)} ", "green" if held else "red"), words))
    return found


def print_summary(
    records: Sequence[Record],
    problems: Sequence[str] = (),
    stream: TextIO | None = None,
    further: Sequence[Table] = (),
) -> None:
    """The table, further ones, the remarks, what could not be read, and the one-sentence answer."""
    out = console(stream)
    if records:
        out.print(summary_table(records, out.width))
        recovered = recovery_table(records)
        if recovered is not None:
            out.print(recovered)
    for table in further:
        out.print(table)
    for line in [*requirements(records), *remarks(records)]:
        out.print(line)
    for problem in problems:
        out.print(remark("red", "not read", problem))
    out.print(Text(answer(records), "bold"))


def remark(colour: str, subject: str, words: str) -> Text:
    """A line that a person should not miss: what it is about, and what is to be said."""
    return Text.assemble(("! ", colour), (f"{subject}: ", "bold"), words)


def threshold_line(subject: str, threshold: Any) -> Text:
    """Whether a threshold held, and for what."""
    sign, _, words = str(threshold["text"]).partition(" ")
    return Text.assemble((f"{sign} ", "green" if threshold["ok"] else "red"), (f"{subject}: ", "bold"), words)
