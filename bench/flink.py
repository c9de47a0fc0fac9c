"""Flink beside Spark: latency at two rates, drains of a full log, and the highest rate that holds."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from bench.listening import Quiet
from bench.room import Figure, Room
from bench.searching import sustained
from bench.within import within_a_millisecond
from streamgauge.engines import get_engine
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.model import Trial
from streamgauge.places import parse_place
from streamgauge.store import StoredRun

REPEATS = 3
DRAINED = 3_000_000
EVERY = "120s"
"""Between two checkpoints of Flink, and how long a real-time batch of Spark takes: its end delays what comes then."""
OVER_S = 120
"""As long: one end of a batch lies in it, as one in every such time; a figure without any would flatter Spark."""
MICROBATCH, REALTIME, ADAPTIVE = "spark-microbatch", "spark-realtime", "spark-adaptive"
DRAINING: dict[str, tuple[str, dict[str, str]]] = {
    "flink": ("flink", {}),
    "flink, mini-batch": ("flink", {"mini-batch": "on"}),
    MICROBATCH: (MICROBATCH, {}),
    REALTIME: (REALTIME, {}),
    f"{REALTIME}, lingering": (REALTIME, {"sink.kafka.linger.ms": "20"}),
}
"""What drains a full log: engine and settings; its name begins with its side. Flink's mini-batch lingers as long."""

Records = list[dict[str, Any]]


class Telling(Quiet):
    """Tells what was done; what is wrong or invalid is told, and stands in no figure."""

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Say which trial is done, and what is wrong with it."""
        said = "" if _is_right(record) else f": {record['error'] or record['invalid_reasons'] or record['verdict']}"
        print(f"  {trial.title}{said}", flush=True)

    def probed(self, number: int, outcome: Any) -> None:
        """Say what a probe says."""
        print(f"  {outcome.rate_per_s:,.0f}/s {outcome.says}", flush=True)


def _is_right(record: dict[str, Any]) -> bool:
    return record["status"] == "done" and record["valid"] and bool(record["verdict"]["correct"])


def flink(room: Room) -> None:
    """Every goal against Flink as a ratio, side by side, on this machine."""
    gap = get_engine("flink").place_gap(parse_place("local"))
    if gap is not None:
        room.figures.append(Figure("Flink beside Spark", "not measured", "", False, gap.reason))
        return
    for rate_per_s in (500, 5000):
        _latency(room, rate_per_s)
    _drain(room, "wordcount", 1.2)
    _drain(room, "identity", 1.0)
    _sustainable(room)


def _run(room: Room, engine: str, settings: dict[str, str], repeat: int = REPEATS, **wish: Any) -> Records:
    request = RunRequest(
        engines=(engine,),
        settings=settings,
        repeat=repeat,
        kafka=room.cluster.bootstrap,
        out=Path(room.folder / "runs"),
        **wish,
    )
    run = StoredRun.open(conduct_run(request, Telling()).path)
    return [{**record, "run": run} for record in run.trials if _is_right(record)]


def _of(records: Records, *path: str) -> list[float]:
    found: list[float] = []
    for record in records:
        value: Any = record
        for step in path:
            value = value.get(step) if value else None
        found += [] if value is None else [float(value)]
    return found


def _latency(room: Room, rate_per_s: int) -> None:
    wish = {"applications": ("wordcount",), "load": f"constant:{rate_per_s}/s", "for_s": OVER_S, "warmup_s": 20}
    spark = _run(room, REALTIME, {"batch-duration": EVERY}, **wish)
    other = _run(room, "flink", {"checkpoint-interval": EVERY}, **wish)
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        ours, theirs = ([_latency_ms(record, share) for record in records] for records in (spark, other))
        raw = f"{REALTIME} {_few(ours)} ms; flink {_few(theirs)} ms"
        what = f"wordcount at {rate_per_s:,}/s, event latency {name}: {REALTIME} ÷ flink"
        _add(room, what, _ratio(ours, theirs), "≤", 1.0, raw)


def _latency_ms(record: dict[str, Any], share: float) -> float:
    """The log tells whole milliseconds: of 3 against 2 nothing is known but that they differ by less than 2."""
    return within_a_millisecond(record["run"].table(record, "latency"), share)


def _few(values: list[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in values)


def _drain(room: Room, application: str, goal: float) -> None:
    """Every setting once, then the better one of each side again: what is far behind needs no repeats."""
    wish = {"applications": (application,), "load": "preloaded", "events": DRAINED}
    once = {name: _run(room, *setting, repeat=1, **wish) for name, setting in DRAINING.items()}
    rates = {name: _of(records, "throughput", "events_per_s") for name, records in once.items()}
    best: dict[str, list[float]] = {}
    for side in ("spark", "flink"):
        better = max((name for name in rates if name.startswith(side)), key=lambda name: sum(rates[name]))
        again = _run(room, *DRAINING[better], repeat=REPEATS - 1, **wish)
        rates[better] += _of(again, "throughput", "events_per_s")
        best[side] = rates[better]
    raw = "; ".join(f"{name} {' '.join(f'{r / 1000:.0f}' for r in found)} k/s" for name, found in rates.items())
    what = f"drain of 3 M, {application}: the better Spark engine ÷ the better Flink setting"
    _add(room, what, _ratio(best["spark"], best["flink"]), "≥", goal, raw)


def _sustainable(room: Room) -> None:
    rates = {engine: sustained(room, "ad-analytics", engine, Telling()) for engine in (ADAPTIVE, "flink")}
    raw = "; ".join(f"{engine} {rate:,.0f}/s" for engine, rate in rates.items())
    ratio = rates[ADAPTIVE] / rates["flink"] if rates["flink"] else None
    _add(room, f"sustainable rate, ad-analytics: {ADAPTIVE} ÷ flink", ratio, "≥", 1.2, raw)


def _ratio(ours: list[float], theirs: list[float]) -> float | None:
    return median(ours) / median(theirs) if ours and theirs else None


def _add(room: Room, what: str, ratio: float | None, sign: str, goal: float, raw: str) -> None:
    reached = ratio is not None and (ratio <= goal if sign == "≤" else ratio >= goal)
    room.figures.append(
        Figure(what, "no figure" if ratio is None else f"{ratio:.2f}×", f"{sign} {goal:g}×", reached, raw)
    )
