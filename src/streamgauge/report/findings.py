"""What a run says beyond its summary: what latency is made of, whether answers agree, durability, scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from streamgauge.measure.figures import COMPONENTS, get_figure
from streamgauge.measure.scores import scores
from streamgauge.measure.validity import Record, measured
from streamgauge.model.units import size
from streamgauge.report.grids import SPARE, Grid, Said, console_grid
from streamgauge.report.markup import Column
from streamgauge.report.tables import PLAIN_WIDTH
from streamgauge.report.words import NOTHING, compared, count, in_order, in_unit, milliseconds, told_apart
from streamgauge.verify.across import SHORT, SameAnswer, same_answers

COMPONENTS_HEADING = "Latency by component"
SOAK = "streambench-durability"
COMPONENT_WORDS = {name: "outside wait" if name == "outside" else name.replace("_", " ") for name in COMPONENTS}


def grids(run: Mapping[str, Any], records: Sequence[Record]) -> list[Grid]:
    """The tables of a run, as far as it has what they are made of."""
    suite = str((run.get("suite") or {}).get("name", ""))
    made = [
        components_grid(records),
        answers_grid(records),
        durability_grid(records) if suite == SOAK else None,
        scores_grid(suite, records),
    ]
    return [each for each in made if each is not None]


def console_tables(run: Mapping[str, Any], records: Sequence[Record], width: int = PLAIN_WIDTH) -> list[Table]:
    """The tables as a console of that width shows them."""
    return [console_grid(each, width) for each in grids(run, records)]


def as_json(run: Mapping[str, Any], records: Sequence[Record]) -> dict[str, Any]:
    """The same for scripts: answers of the same events side by side, and scores where the suite has them."""
    suite = str((run.get("suite") or {}).get("name", ""))
    return {
        "answers": [each.as_dict() for each in same_answers(records)],
        "scores": [each.as_dict() for each in scores(suite, records)],
    }


def taken_apart(records: Sequence[Record]) -> list[Record]:
    """The records whose latency has components."""
    return [r for r in records if measured(r) and "sum_ms" in (r.get("components") or {})]


def components_grid(records: Sequence[Record]) -> Grid | None:
    """Mean components of event latency, a row per trial; None where no trial has them."""
    known = taken_apart(compared(records))
    if not known:
        return None
    names, details = _subjects(known)
    columns = [
        *_subject_columns(details),
        # The broker's round trip is the same in every row.
        *(Column(w, f"number {SPARE}" if w == "transmission" else "number") for w in COMPONENT_WORDS.values()),
        *(Column(words, f"number {SPARE}") for words in ("sum", "mean latency")),
        Column("adds up"),
    ]
    rows = []
    for record, name, detail in zip(known, names, details, strict=True):
        parts = record["components"]
        share = f"{100 * parts['sum_ms'] / parts['latency_ms']:.0f} %" if parts["latency_ms"] else ""
        times = [milliseconds(_rounded(parts[f"{each}_ms"])) for each in (*COMPONENTS, "sum", "latency")]
        shown = [name, record["engine"], *([detail] if any(details) else [])]
        rows.append([*shown, *times, Said(bool(parts["adds_up"]), share)])
    about = (
        "Means over the measured events (DO7). Waits and scheduling are from the engine's progress and the events' "
        "append times, transmission is the broker's own round trip, processing the rest of the time up to the append "
        "of the outputs. The sum is checked against the measured mean event latency, within 10 %."
    )
    return Grid(COMPONENTS_HEADING, about, columns, rows)


def _rounded(value: float) -> float:
    return round(value, 1) if value < 10 else round(value)


def _subjects(records: Sequence[Record]) -> tuple[list[str], list[str]]:
    """Application of each record with its repeat, and what tells it apart."""
    several = len({r["load"] for r in records}) > 1
    details = [
        ", ".join([*([r["load"]] if several else []), *([d] if d else [])])
        for r, d in zip(records, told_apart(records), strict=True)
    ]
    repeats = [int((r.get("trial") or {}).get("repeat") or 1) for r in records]
    return [r["application"] + (f" #{n}" if n > 1 else "") for r, n in zip(records, repeats, strict=True)], details


def _subject_columns(details: Sequence[str]) -> list[Column]:
    told = [Column("differs in", "short")] if any(details) else []
    return [Column("application", "title"), Column("engine", "full"), *told]


def answers_grid(records: Sequence[Record]) -> Grid | None:
    """Application × engine → same answer, with digests; None where no events were given to two engines."""
    rows = [each for each in same_answers(compared(records)) if len(each.engines) > 1]
    if not rows:
        return None
    engines = in_order(name for each in rows for name in each.engines)
    details = _events_told_apart(rows)
    told = [Column("events", "short")] if any(details) else []
    columns = [Column("application", "title"), *told, *map(Column, engines), Column("oracle"), Column("same answer")]
    about = (
        "The digest of each engine's whole answer to the same events: ✓ where it is the digest of the oracle's answer. "
        "Where the answer depends on when events arrive, each trial has an oracle's answer of its own."
    )
    return Grid(
        "Answers across engines", about, columns, [_answer_cells(*each, engines) for each in _both(rows, details)]
    )


def _both(rows: Sequence[SameAnswer], details: Sequence[str]) -> list[tuple[SameAnswer, list[str]]]:
    return [(row, [detail] if any(details) else []) for row, detail in zip(rows, details, strict=True)]


def _answer_cells(row: SameAnswer, detail: list[str], engines: Sequence[str]) -> list[str | Said]:
    cut = row.trial.get("stop_after")
    cells: list[str | Said] = [f"{row.trial['application']}{f' up to {cut}' if cut else ''}", *detail]
    for name in engines:
        found = row.engines.get(name)
        cells.append(NOTHING if found is None else Said(found.as_expected, _short(found.digests)))
    apart = len(row.oracle) > 1
    same = Said(row.same, "depends on arrival" if apart else "same" if row.same else "differs")
    return [*cells, NOTHING if apart else _short(row.oracle), same]


def _short(digests: Sequence[str]) -> str:
    return digests[0][:SHORT] if len(digests) == 1 else f"{len(digests)} answers"


def _events_told_apart(rows: Sequence[SameAnswer]) -> list[str]:
    """Of each row what differs in its events from others of the same application."""
    members = ("seed", "events", "partitions", "parameters", "malformed")
    found = []
    for row in rows:
        others = [o for o in rows if o.trial["application"] == row.trial["application"]]
        differing = [m for m in members if any(o.trial[m] != row.trial[m] for o in others)]
        found.append(", ".join(_member(m, row.trial[m]) for m in differing))
    return found


def _member(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={v}" for k, v in value.items()) or f"no {name}"
    return f"{count(value)} {name}" if name in ("events", "partitions") else f"{name} {value}"


def durability_grid(records: Sequence[Record]) -> Grid | None:
    """Durability of each trial; None where no trial has it."""
    known = [r for r in compared(records) if measured(r) and (r.get("durability") or {}).get("index") is not None]
    if not known:
        return None
    names, details = _subjects(known)
    headings = ("durability index", "slots", "longest outage", "reprocessed", "memory", "memory per hour")
    spare = ("slots", "memory", "memory per hour")
    columns = [
        *_subject_columns(details),
        *(Column(h, f"number {SPARE}" if h in spare else "number") for h in headings),
        Column("memory stays even"),
    ]
    rows = []
    for record, name, detail in zip(known, names, details, strict=True):
        each = record["durability"]
        shown = [name, record["engine"], *([detail] if any(details) else [])]
        rows.append([*shown, *_durability_cells(each)])
    slot = known[0]["durability"]["slot_s"]
    about = (
        f"The share of slots of {slot} s in which the service was available: it answered input, or none was waiting as "
        "the slot began. Reprocessed are outputs that had been written before. Memory is the job's resident memory."
    )
    return Grid("Durability", about, columns, rows)


def _durability_cells(each: Mapping[str, Any]) -> list[str | Said]:
    per_hour, grows = each["memory_bytes_per_h"], each["memory_grows"]
    return [
        f"{100 * each['index']:.4g} %",
        f"{count(each['available'])} of {count(each['slots'])}",
        f"{each['longest_outage_s']} s",
        f"{count(each['reprocessed'])} ({100 * each['reprocessed_share']:.3g} %)",
        NOTHING if each["memory_bytes"] is None else size(each["memory_bytes"]),
        NOTHING if per_hour is None else f"{'-' if per_hour < 0 else '+'}{size(abs(per_hour))}",
        NOTHING if grows is None else Said(not grows, "grows" if grows else "even"),
    ]


def scores_grid(suite: str, records: Sequence[Record]) -> Grid | None:
    """OSPBench's scores for its workload; None in any other suite, and with fewer than two engines."""
    found = scores(suite, records)
    if not found:
        return None
    engines = in_order(name for each in found for name in each.scores)
    columns = [Column("workload", "title"), Column("decision factor"), *(Column(e, "number") for e in engines)]
    rows = []
    for each in found:
        unit = get_figure(each.figure).unit
        cells = [
            NOTHING if e not in each.scores else f"{each.scores[e]} ({in_unit(each.values[e], unit)})" for e in engines
        ]
        rows.append([each.workload, each.factor, *cells])
    about = (
        "Of N engines each gets N less the number of engines whose figure is more than 10 % better: higher is better, "
        "and only against the others in the row. In brackets the figure, over the stages that all of them ran."
    )
    return Grid("Scores", about, columns, rows)
