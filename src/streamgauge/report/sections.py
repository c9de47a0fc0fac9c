"""The parts of the page that are words and tables: summary, repeats, trials, what was not run, the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamgauge.measure.repeats import Group, Interval
from streamgauge.measure.validity import Record, correct, measured, why_not_measured
from streamgauge.report import markup
from streamgauge.report.markup import Column, Content, Markup, chip, element, facts, joined, table, yes_or_no
from streamgauge.report.words import NOTHING, cores, count, milliseconds, per_second, rate_of, verdict_words

_PERCENTILES = ("p50", "p95", "p99", "max")
_ALL_LATENCIES = ("n", "mean", "p50", "p95", "p99", "p99.9", "p99.999", "max")
_LATENCIES = {
    "latency_ms": "event: append of the event → first output that includes it",
    "output_latency_ms": "output: latest input it needed → append of the output",
    "due_latency_ms": "due: when the event was due → first output that includes it",
}
_COUNTS = ("expected", "seen", "lost", "wrong", "unexpected", "duplicated", "out_of_order", "late", "rejected")


def engine_name(engine: str, colours: Mapping[str, str]) -> Markup:
    """An engine's name with its colour."""
    return element("span", engine, class_="engine", style=f"--engine:{colours[engine]}")


def summary(records: Sequence[Record], colours: Mapping[str, str]) -> Markup:
    """One row per trial; a load that all share is not repeated."""
    several_loads = len({r["load"] for r in records}) > 1
    columns = [
        *_subject_columns(several_loads),
        *(Column(p, "number strong" if p == "p50" else "number") for p in _PERCENTILES),
        Column("throughput", "number wider"),
        Column("job CPU", "number wider"),
        Column("answer"),
        Column("valid"),
    ]
    rows = [("" if _is_ranked(r) else "unranked", _summary_cells(r, colours, several_loads)) for r in records]
    return table(columns, rows, cards=True)


def _is_ranked(record: Record) -> bool:
    return measured(record) and bool(record.get("valid"))


def _subject_columns(several_loads: bool) -> list[Column]:
    loads = [Column("load", "short")] if several_loads else []
    return [Column("application", "title"), Column("engine", "full"), *loads]


def _subject(record: Record, colours: Mapping[str, str], several_loads: bool) -> list[Content]:
    loads = [record["load"]] if several_loads else []
    return [record["application"], engine_name(record["engine"], colours), *loads]


def _summary_cells(record: Record, colours: Mapping[str, str], several_loads: bool) -> list[Content]:
    start = _subject(record, colours, several_loads)
    if _repeat(record) > 1:
        start[0] = f"{start[0]} (repeat {_repeat(record)})"
    if not measured(record):
        return [*start, *[NOTHING] * 6, _absence(record), element("a", "why", href="#not-run")]
    latency = record["latency_ms"]
    right = correct(record)
    return [
        *start,
        *(milliseconds(latency.get(p)) for p in _PERCENTILES),
        per_second(rate_of(record)),
        job_cpu(record),
        chip("not checked", "warn") if right is None else _chip(right, verdict_words(record["verdict"])),
        _chip(bool(record.get("valid")), "valid" if record.get("valid") else "not ranked"),
    ]


def _absence(record: Record) -> Markup:
    return chip("gap", "warn") if record.get("gap") else chip("failed", "bad")


def _chip(good: bool, words: str) -> Markup:
    return chip(f"{'✓' if good else '✗'} {words}", "good" if good else "bad")


def job_cpu(record: Record) -> str:
    """The job's mean CPU in cores, with its share of the cores it was given where that is known."""
    used, share = job_cores(record), _of_job(record, "cpu_share")
    return cores(used) + (f" ({share:.0%})" if used is not None and share is not None else "")


def job_cores(record: Record) -> float | None:
    """The job's mean CPU in cores."""
    return _of_job(record, "cpu_cores_mean")


def _of_job(record: Record, figure: str) -> float | None:
    return ((record.get("resources") or {}).get("job") or {}).get(figure)


def repeats(found: Sequence[Group], colours: Mapping[str, str]) -> Markup | None:
    """Means with their intervals for trials that were repeated; None where nothing was."""
    repeated = [g for g in found if len(g.records) > 1]
    if not repeated:
        return None
    several_loads = len({g.first["load"] for g in found}) > 1
    columns = [
        *_subject_columns(several_loads),
        *(Column(h, "number wider") for h in ("repeats", "p50", "p95", "p99", "throughput", "job CPU")),
    ]
    return table(columns, [("", _repeat_cells(g, colours, several_loads)) for g in repeated], cards=True)


def _repeat_cells(group: Group, colours: Mapping[str, str], several_loads: bool) -> list[Content]:
    latencies = [group.interval(lambda r, p=p: r["latency_ms"].get(p)) for p in ("p50", "p95", "p99")]  # type: ignore[misc]
    rate = group.interval(rate_of)
    cpu = group.interval(job_cores)
    return [
        *_subject(group.first, colours, several_loads),
        f"{len(group.ranked)} of {len(group.records)}",
        *(_spread(i, " ms", 1) for i in latencies),
        _spread(rate, "/s", 0),
        _spread(cpu, " cores", 2),
    ]


def _spread(interval: Interval | None, unit: str, digits: int) -> str:
    if interval is None:
        return NOTHING
    mean = f"{interval.mean:,.{digits}f}"
    return f"{mean}{unit}" if interval.half is None else f"{mean} ± {interval.half:,.{digits}f}{unit}"


def not_run(records: Sequence[Record], colours: Mapping[str, str]) -> Markup | None:
    """What could not be run and why; None where everything ran."""
    absent = [r for r in records if not measured(r)]
    if not absent:
        return None
    columns = [Column("application", "title"), Column("engine"), Column("what"), Column("why", "full")]
    rows = []
    for record in absent:
        what = chip(f"gap · {record['gap']['kind']}", "warn") if record.get("gap") else chip("failed", "bad")
        why = record["gap"]["reason"] if record.get("gap") else why_not_measured(record)
        rows.append(("", [record["application"], engine_name(record["engine"], colours), what, why or NOTHING]))
    return table(columns, rows, cards=True)


def trial(number: int, record: Record, colours: Mapping[str, str]) -> Markup:
    """Everything that is known of one trial, folded behind its title."""
    inside = [_part(title, content) for title, content in _trial_parts(record) if content is not None]
    wide = [_part("Latency, in milliseconds of the log's clock", _latency_table(record), "full")]
    head = element("summary", _trial_head(number, record, colours))
    body = element("div", joined([*(wide if record.get("latency_ms") else []), *inside]), class_="inside")
    return element("details", joined([head, body]), id=f"trial-{number}")


def _trial_head(number: int, record: Record, colours: Mapping[str, str]) -> Markup:
    if not measured(record):
        state = _absence(record)
    else:
        right = correct(record) is not False
        state = _chip(right and bool(record.get("valid")), _state_words(record))
    repeat = f" · repeat {_repeat(record)}" if _repeat(record) > 1 else ""
    name = f"{number}. {record['application']} · "
    return joined([name, engine_name(record["engine"], colours), f" · {record['load']}{repeat} ", state], "")


def _state_words(record: Record) -> str:
    if correct(record) is False:
        return "wrong answer"
    return "right and valid" if record.get("valid") else "not valid"


def _trial_parts(record: Record) -> list[tuple[str, Markup | None]]:
    verdict = record.get("verdict")
    checks = record.get("requirements") or []
    used = record.get("resources") or {}
    return [
        ("Not valid because", _listing(record.get("invalid_reasons"))),
        ("Warnings", _listing(record.get("warnings"))),
        ("Not run because", element("p", why_not_measured(record)) if not measured(record) else None),
        ("Verdict", _verdict(verdict) if verdict else None),
        ("Quality against the labels", _facts(record.get("quality"))),
        ("How it ran", _facts(_how(record))),
        ("Requirements (SB3)", markup.bullets(_requirement(c) for c in checks) if checks else None),
        ("Thresholds", _listing([_threshold(t) for t in record.get("thresholds") or []])),
        ("Latency by component", _facts(record.get("components"))),
        ("Throughput", _facts(record.get("throughput"))),
        ("Bursts", _facts(record.get("bursts"))),
        ("Batches that waited", _facts(record.get("scheduling"))),
        ("Durability", _facts(record.get("durability"))),
        ("Publisher", _facts(record.get("publisher"))),
        *((f"Resources: {name}", _facts(figures)) for name, figures in used.items() if isinstance(figures, Mapping)),
        ("Cost of watching", _facts({k: v for k, v in used.items() if not isinstance(v, Mapping)})),
        ("Warm-up", _facts(record.get("warmup"))),
        ("End", _facts(record.get("end"))),
        ("Log", _facts(record.get("log"))),
        ("Process", _facts(record.get("process"))),
        ("Tuning", _facts(record.get("tuning"))),
        ("Trial", _facts(record.get("trial"))),
    ]


def _how(record: Record) -> dict[str, Any]:
    """Variants of stages, and the topics that lie between queries, which a reader must know of."""
    found = {f"variant of {stage}": name for stage, name in (record.get("variants") or {}).items()}
    between = record.get("between") or []
    return {**found, **({"topic between queries, after": ", ".join(between)} if between else {})}


def _part(title: str, content: Markup, style: str = "") -> Markup:
    return element("section", joined([element("h3", title), content]), class_=style)


def _verdict(verdict: Mapping[str, Any]) -> Markup:
    counts = facts({k: verdict.get(k) for k in _COUNTS if verdict.get(k) is not None})
    examples = verdict.get("examples") or []
    parts = [yes_or_no(bool(verdict["correct"]), verdict_words(verdict)), counts]
    if examples:
        parts.append(element("p", joined(["For example:", markup.bullets(examples)])))
    return joined(parts)


def _requirement(check: Mapping[str, Any]) -> Markup:
    return joined([yes_or_no(check.get("met"), str(check.get("name", ""))), f" {check.get('detail') or ''}"], "")


def _threshold(threshold: Mapping[str, Any]) -> Markup:
    return element("span", str(threshold["text"]), class_="good" if threshold["ok"] else "bad")


def _listing(lines: Any) -> Markup | None:
    return markup.bullets(lines) if lines else None


def _facts(values: Any) -> Markup | None:
    shown = {k: v for k, v in dict(values or {}).items() if v is not None and v != {} and v != []}
    return facts(shown) if shown else None


def _latency_table(record: Record) -> Markup:
    columns = [Column("kind", "full"), *(Column(p, "number") for p in _ALL_LATENCIES)]
    rows = [("", _latency_cells(about, record.get(kind) or {})) for kind, about in _LATENCIES.items()]
    return table(columns, rows, cards=True)


def _latency_cells(about: str, latency: Mapping[str, Any]) -> list[Content]:
    values = [latency.get(p) for p in _ALL_LATENCIES]
    return [about, count(values[0]), *(NOTHING if v is None else f"{v:,.4g}" for v in values[1:])]


def _repeat(record: Record) -> int:
    return int((record.get("trial") or {}).get("repeat") or 1)
