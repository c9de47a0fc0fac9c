"""The page's part on faults: what was done to each job, how it came back, what was lost and what was repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamgauge.measure.penalties import loss, penalties
from streamgauge.measure.repeats import Group, groups
from streamgauge.measure.validity import Record, measured
from streamgauge.report.fault_words import faults_of, faulty, seconds, since_start_s, spread, story
from streamgauge.report.markup import Column, Content, Markup, bullets, chip, element, joined, table
from streamgauge.report.sections import engine_name
from streamgauge.report.series import Mark
from streamgauge.report.words import NOTHING, count, per_second, told_apart

_TIMES = {
    "noticed": "detect_s",
    "silence": "output_gap_s",
    "longest wait": "longest_wait_s",
    "latency back": "latency_back_s",
    "p99 back": "p99_back_s",
    "drained": "drained_s",
}
_PHASES = ("before", "during", "after")
_WORDS = ("seen", "lost", "wrong", "unexpected", "duplicated", "out_of_order")


def fault_marks(record: Record) -> list[Mark]:
    """The instants of a trial's faults for its charts: where they began and, where they were undone, ended."""
    found = []
    for each in record.get("faults") or ():
        if each.get("at_ms") is not None:
            until = each.get("until_ms")
            found.append(
                Mark(
                    at_s=since_start_s(record, each["at_ms"]),
                    until_s=None if until is None else since_start_s(record, until),
                    label=f"{each['verb']} {each['target']}",
                    engine=str(record["engine"]),
                )
            )
    return found


def faults_section(records: Sequence[Record], colours: Mapping[str, str]) -> Markup | None:
    """Recovery times by engine, what was lost and repeated, and the story of every trial; None without faults."""
    broken = faulty(records)
    told = [record for record in broken if measured(record)]
    if not told:
        return None
    parts: list[Content] = [
        element(
            "p",
            "Times count from the instant of the fault; of several faults in a trial the worst is shown. "
            "A dash is a time that never came, or that there was too little before the fault to tell.",
            class_="soft",
        ),
        element("h3", "Recovery by engine"),
        _recovery_table(told, colours),
        element("h3", "What was lost and repeated"),
        _phase_table(told, colours),
    ]
    parts += _over_repeats(records, told, colours)
    parts.append(element("h3", "What happened"))
    parts += [
        joined(
            [
                element("p", joined([_subject(record, case), " · ", engine_name(record["engine"], colours)], "")),
                bullets(story(record)),
            ]
        )
        for record, case in _with_cases(told)
    ]
    return joined(parts)


def _with_cases(records: Sequence[Record]) -> list[tuple[Record, str]]:
    """Each record with its faults, and with what else tells its trial apart from the others."""
    unbroken = [{**record, "trial": {**(record.get("trial") or {}), "faults": ()}} for record in records]
    return [
        (record, ", ".join(filter(None, (faults_of(record), detail))))
        for record, detail in zip(records, told_apart(unbroken), strict=True)
    ]


def _subject(record: Record, case: str) -> str:
    repeat = int((record.get("trial") or {}).get("repeat") or 1)
    return f"{record['application']} · {case}" + (f" · repeat {repeat}" if repeat > 1 else "")


def _recovery_table(records: Sequence[Record], colours: Mapping[str, str]) -> Markup:
    columns = [
        Column("application", "title"),
        Column("fault", "full"),
        Column("engine", "full"),
        *(Column(heading, "number") for heading in (*_TIMES, "catch-up", "taken again", "restarts")),
        Column("recovery"),
    ]
    rows = [("", _recovery_cells(record, case, colours)) for record, case in _with_cases(records)]
    return table(columns, rows, cards=True)


def _recovery_cells(record: Record, case: str, colours: Mapping[str, str]) -> list[Content]:
    recovery = record.get("recovery") or {}
    named = recovery.get("class")
    kind = {"precise": "good", "rollback": "warn", "gap": "bad"}
    return [
        record["application"],
        case,
        engine_name(record["engine"], colours),
        *(seconds(recovery.get(name)) for name in _TIMES.values()),
        per_second(recovery.get("catch_up_per_s")),
        count(recovery.get("events_reprocessed")),
        count((record.get("verdict") or {}).get("restarts")),
        chip(named, kind[named]) if named else NOTHING,
    ]


def _phase_table(records: Sequence[Record], colours: Mapping[str, str]) -> Markup:
    columns = [
        Column("application", "title"),
        Column("fault", "full"),
        Column("engine", "full"),
        Column("phase"),
        *(Column(word.replace("_", " "), "number") for word in _WORDS),
    ]
    rows = []
    for record, case in _with_cases(records):
        phases: Mapping[str, Any] = (record.get("verdict") or {}).get("phases") or {}
        for name in _PHASES:
            if name in phases:
                cells = [count(phases[name].get(word)) for word in _WORDS]
                subject = [record["application"], case, engine_name(record["engine"], colours)]
                rows.append(("", [*subject, name, *cells]))
    return table(columns, rows, cards=True)


def _over_repeats(records: Sequence[Record], told: Sequence[Record], colours: Mapping[str, str]) -> list[Content]:
    """Loss over repeats (LO3), and penalty factors where the trials on N and on N − 1 nodes are there (SB8)."""
    columns = [Column("application", "title"), Column("fault", "full"), Column("engine", "full")]
    repeated = groups(told)
    cases = [case for _, case in _with_cases([group.first for group in repeated])]
    rows = [("", _loss_cells(group, case, colours)) for group, case in zip(repeated, cases, strict=True)]
    found: list[Content] = [
        element("h3", "Loss over the repeats"),
        table(
            [*columns, *(Column(h, "number wider") for h in ("repeats", "lost", "expected", "loss"))], rows, cards=True
        ),
    ]
    factors = penalties(records)
    if factors:
        shown = [
            (
                "",
                [
                    each.application,
                    each.fault,
                    engine_name(each.engine, colours),
                    each.place,
                    count(each.events),
                    spread(each.tpf),
                    spread(each.lpf),
                ],
            )
            for each in factors
        ]
        heads = [
            *columns,
            Column("place"),
            Column("events", "number"),
            Column("TPF", "number wider"),
            Column("LPF", "number wider"),
        ]
        found += [
            element("h3", "Penalty factors: against N and N − 1 nodes without a fault"),
            table(heads, shown, cards=True),
        ]
    return found


def _loss_cells(group: Group, case: str, colours: Mapping[str, str]) -> list[Content]:
    subject = [group.first["application"], case, engine_name(group.first["engine"], colours)]
    lost = loss(group.records)
    if lost is None:
        return [*subject, *[NOTHING] * 4]
    return [*subject, count(lost.repeats), count(lost.lost), count(lost.expected), spread(lost.percent, " %")]
