"""spark-adaptive beside both fixed engines: low rate, sustainable rate, bursts, and many switches under load."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.applications import Records
from bench.room import Figure, Room
from bench.searching import sustained
from bench.within import within_a_millisecond
from streamgauge.lab.planning import plan_run
from streamgauge.lab.request import Plan, RunRequest
from streamgauge.lab.run import conduct_plan
from streamgauge.load import parse_load
from streamgauge.measure.sustainability import ProbeOutcome
from streamgauge.store import StoredRun

ENGINES = ("spark-microbatch", "spark-realtime", "spark-adaptive")
MICROBATCH, REALTIME, ADAPTIVE = ENGINES
LOW_PER_S = 500
REPEATS = 3
DISCARDED = 2
"""Trials of a burst that only warm a process: code that has worked at a low rate is cold for a high one."""
SWITCHES = 100
SWITCHED_PER_S = 10_000
SWITCH_S = 1.8
"""How long one switch and the calm after it take at most, on average."""
PERIODIC = "bursts:400/s:38000:10s"
LARGE = "bursts:400/s:190000:10s"

Found = dict[str, list[dict[str, Any]]]
"""Engine → records."""


class ByEngine(Records):
    """Keeps records by engine; a wrong answer is told and kept."""

    def finished(self, number: int, trial: Any, record: dict[str, Any]) -> None:
        """Keep the record, with the number by which its tables are found."""
        self.found.setdefault(trial.engine, []).append({**record, "number": number})
        print(f"  {trial.application} · {trial.engine} · {trial.load}: {_told(record)}", file=sys.stderr, flush=True)

    def probed(self, number: int, outcome: ProbeOutcome) -> None:
        """Say what a probe says."""
        print(f"  {outcome.rate_per_s:,.0f}/s {outcome.says}", file=sys.stderr, flush=True)


def adaptive(room: Room) -> None:
    """Every goal of the dual-paradigm engine as a ratio, side by side, on this machine."""
    bursts(room, sustainable(room)[REALTIME])
    switching(room)
    low_rates(room)


def after_a_search(room: Room) -> None:
    """The bursts alone: real time's rate is searched for first."""
    bursts(room, sustained(room, "wordcount", REALTIME, ByEngine()))


def run(room: Room, wishes: Sequence[Mapping[str, Any]], engines: Sequence[str] = ENGINES) -> Found:
    """Records by engine of a run on the room's broker: every engine goes through all wishes in one process."""
    listener = ByEngine()
    requests = [
        RunRequest(**{"applications": ("wordcount",), "engines": (engine,), **wish})
        for engine in engines
        for wish in wishes
    ]
    trials = tuple(planned for request in requests for planned in plan_run(request).trials)
    plan = Plan(trials, kafka=room.cluster.bootstrap, out=Path(room.folder / "runs"))
    stored = StoredRun.open(conduct_plan(plan, listener).path)
    return {engine: [{**record, "run": stored} for record in records] for engine, records in listener.found.items()}


def low_rates(room: Room) -> None:
    """Median event latency at a low rate, of an application without a window and of one with it."""
    names, paced = ("wordcount", "ad-analytics"), {"load": f"constant:{LOW_PER_S}/s", "for_s": 20, "warmup_s": 15}
    found = run(room, [{"applications": names, "repeat": REPEATS, **paced}])
    for name in names:
        low_rate(room, name, {engine: _those(records, application=name) for engine, records in found.items()})


def low_rate(room: Room, application: str, found: Found) -> None:
    """Two lines of the table, finer than the log's milliseconds: of 2 against 3 nothing would be known."""
    each = {engine: [_p50_ms(record) for record in records if _is_right(record)] for engine, records in found.items()}
    p50 = {engine: float(median(values)) if values else float("nan") for engine, values in each.items()}
    raw = "; ".join(f"{engine} {', '.join(f'{value:.1f}' for value in values)} ms" for engine, values in each.items())
    ratio = p50[MICROBATCH] / p50[ADAPTIVE]
    what = f"{LOW_PER_S}/s, {application}: micro-batch p50 ÷ adaptive p50"
    room.figures.append(Figure(what, f"{ratio:.0f}×", "≥ 50×", ratio >= 50, raw))
    ratio = p50[ADAPTIVE] / p50[REALTIME]
    near = p50[ADAPTIVE] <= max(1.15 * p50[REALTIME], p50[REALTIME] + 1)
    what = f"{LOW_PER_S}/s, {application}: adaptive p50 ÷ real-time p50"
    room.figures.append(Figure(what, f"{ratio:.2f}×", "≤ 1.15× or + 1 ms", near, raw))


def _those(records: list[dict[str, Any]], **which: str) -> list[dict[str, Any]]:
    return [record for record in records if all(record[key] == value for key, value in which.items())]


def _p50_ms(record: dict[str, Any]) -> float:
    return within_a_millisecond(record["run"].table(record, "latency"), 0.5)


def _is_right(record: dict[str, Any]) -> bool:
    return record["status"] == "done" and record["valid"] and bool(record["verdict"]["correct"])


def sustainable(room: Room) -> dict[str, float]:
    """The highest rate that each engine sustains."""
    rates = {engine: sustained(room, "wordcount", engine, ByEngine()) for engine in ENGINES}
    raw = "; ".join(f"{engine} {rate:,.0f}/s" for engine, rate in rates.items())
    for other, goal in ((MICROBATCH, 0.95), (REALTIME, 2.0)):
        ratio = rates[ADAPTIVE] / rates[other] if rates[other] else 0.0
        what = f"sustainable rate, wordcount: adaptive ÷ {other}"
        room.figures.append(Figure(what, f"{ratio:.2f}×", f"≥ {goal:g}×", ratio >= goal, raw))
    return rates


def bursts(room: Room, realtime_per_s: float) -> None:
    """One burst at twice what real time sustains, and periodic ones, in processes that have met two of the first."""
    single = parse_load(f"steps:{LOW_PER_S}/s:20s:{round(2 * realtime_per_s)}/s:10s:{LOW_PER_S}/s").spelling
    wishes = [{"load": single, "for_s": 60, "warmup_s": 10, "repeat": DISCARDED + REPEATS}]
    wishes += [{"load": load, "for_s": 45, "warmup_s": 10, "repeat": REPEATS} for load in (PERIODIC, LARGE)]
    found = run(room, wishes)
    one_burst(room, single, {e: _those(records, load=single)[DISCARDED:] for e, records in found.items()})
    periodic(room, *({e: _those(r, load=load) for e, r in found.items()} for load in (PERIODIC, LARGE)))


def one_burst(room: Room, load: str, found: Found) -> None:
    """Ten seconds at twice what real time sustains, with a calm before and after."""
    _against_better(room, f"one burst ({load}): mean of the one-second medians, adaptive ÷ better fixed", found, 0.4)
    settled = _median(found[ADAPTIVE], "bursts", "settled_max_s")
    what = "the same burst: seconds from its end until the one-second median is within 2× of before"
    room.figures.append(Figure(what, f"{settled:g} s", "≤ 3 s", settled <= 3, _each(found, "bursts", "settled_max_s")))
    gap = max((r["scheduler"].get("longest_gap_s") or 0.0 for r in found[ADAPTIVE]), default=0.0)
    raw = str([[round(s["gap_s"], 2) for s in r["scheduler"]["carried_out"]] for r in found[ADAPTIVE]])
    room.figures.append(Figure("gap of one switch, warm, under load", f"{gap:.2f} s", "≤ 1 s", 0 < gap <= 1, raw))


def periodic(room: Room, small: Found, large: Found) -> None:
    """Bursts that real time rides out by itself, and bursts five times as large."""
    what = f"periodic bursts ({PERIODIC}): mean of the one-second medians, adaptive ÷ better fixed"
    _against_better(room, what, small, 1.1)
    switches = sum(r["scheduler"]["switches"] for r in small[ADAPTIVE])
    room.figures.append(Figure("the same: needless switches", str(switches), "0", switches == 0, ""))
    what = f"five times as large ({LARGE}): mean of the one-second medians, adaptive ÷ better fixed"
    _against_better(room, what, large, 0.8)


def switching(room: Room) -> None:
    """So many switches under load: what is lost, wrong or out of order."""
    settings = {"rehearse": "0.5s", "batch-duration": "2s"}
    load, for_s = f"constant:{SWITCHED_PER_S}/s", SWITCHES * SWITCH_S
    found = run(room, [{"load": load, "for_s": for_s, "warmup_s": 10, "settings": settings}], (ADAPTIVE,))
    (record,) = found[ADAPTIVE]
    verdict, done = record["verdict"] or {}, record["scheduler"].get("switches", 0)
    bad = {name: verdict.get(name) for name in ("lost", "wrong", "unexpected", "out_of_order")}
    reached = record["status"] == "done" and done >= SWITCHES and not any(bad.values())
    raw = f"{bad}, {verdict.get('duplicated')} repeated; {_told(record)}"
    room.figures.append(
        Figure(
            f"lost, wrong, out of order over {done} switches", str(sum(filter(None, bad.values()))), "0", reached, raw
        )
    )


PARTS: Mapping[str, Callable[[Room], object]] = {
    "adaptive-low": low_rates,
    "adaptive-rates": sustainable,
    "adaptive-bursts": after_a_search,
    "adaptive-switches": switching,
}
"""All of it takes two hours, each of these a part of them."""


def _against_better(room: Room, what: str, found: Found, goal: float) -> None:
    means = {engine: _median(records, "seconds", "mean_p50_ms") for engine, records in found.items()}
    better = min(means[MICROBATCH], means[REALTIME])
    ratio = means[ADAPTIVE] / better if better else 0.0
    room.figures.append(
        Figure(what, f"{ratio:.2f}×", f"≤ {goal:g}×", 0 < ratio <= goal, _each(found, "seconds", "mean_p50_ms"))
    )


def _median(records: list[dict[str, Any]], group: str, name: str) -> float:
    # What is overloaded may be not valid, and is compared all the same; a wrong answer is not.
    right = [r for r in records if r["status"] == "done" and r["verdict"]["correct"]]
    known = [r[group][name] for r in right if (r[group] or {}).get(name) is not None]
    return float(median(known)) if known else float("nan")


def _each(found: Found, group: str, name: str) -> str:
    shown = {engine: [round((r[group] or {}).get(name) or 0, 1) for r in records] for engine, records in found.items()}
    return "; ".join(f"{engine} {values}" for engine, values in shown.items())


def _told(record: dict[str, Any]) -> str:
    if record["status"] != "done":
        return f"{record['status']}: {(record['error'] or record['gap'] or {}).get('cause')}"
    right = "" if record["verdict"]["correct"] else ", WRONG"
    valid = "" if record["valid"] else f", not valid: {record['invalid_reasons'][:1]}"
    return f"p50 {record['latency_ms']['p50']} ms, {record['scheduler'].get('switches', 0)} switches{right}{valid}"
