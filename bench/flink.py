"""Flink beside Spark: latency at two rates, drains of a full log, and the highest rate that holds."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from bench.listening import Quiet
from bench.room import Figure, Room
from bench.searching import sustained
from streamgauge.engines import get_engine
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.model import Trial
from streamgauge.places import parse_place

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
}
"""What drains a full log: engine and settings; its side is what its name begins with."""

Records = list[dict[str, Any]]


class Keeping(Quiet):
    """Keeps the records that are right; what is wrong or invalid is told, and stands in no figure."""

    def __init__(self) -> None:
        self.kept: Records = []

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Keep the record of a trial with a right answer."""
        right = record["status"] == "done" and record["verdict"]["correct"]
        if right:
            self.kept.append(record)
        said = "" if right else f": {record['error'] or record['verdict']}"
        print(f"  {trial.title}{said}", flush=True)

    def probed(self, number: int, outcome: Any) -> None:
        """Say what a probe says."""
        print(f"  {outcome.rate_per_s:,.0f}/s {outcome.says}", flush=True)


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
    listener = Keeping()
    request = RunRequest(
        engines=(engine,),
        settings=settings,
        repeat=repeat,
        kafka=room.cluster.bootstrap,
        out=Path(room.folder / "runs"),
        **wish,
    )
    conduct_run(request, listener)
    return listener.kept


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
    for name in ("p50", "p99"):
        ours, theirs = _of(spark, "latency_ms", name), _of(other, "latency_ms", name)
        raw = f"{REALTIME} {ours} ms; flink {theirs} ms"
        what = f"wordcount at {rate_per_s:,}/s, event latency {name}: {REALTIME} ÷ flink"
        _add(room, what, _ratio(ours, theirs, least=1.0), "≤", 1.0, raw)


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
    rates = {engine: sustained(room, "ad-analytics", engine, Keeping()) for engine in (ADAPTIVE, "flink")}
    raw = "; ".join(f"{engine} {rate:,.0f}/s" for engine, rate in rates.items())
    ratio = rates[ADAPTIVE] / rates["flink"] if rates["flink"] else None
    _add(room, f"sustainable rate, ad-analytics: {ADAPTIVE} ÷ flink", ratio, "≥", 1.2, raw)


def _ratio(ours: list[float], theirs: list[float], least: float = 0.0) -> float | None:
    if not ours or not theirs:
        return None
    return median(ours) / max(median(theirs), least)


def _add(room: Room, what: str, ratio: float | None, sign: str, goal: float, raw: str) -> None:
    reached = ratio is not None and (ratio <= goal if sign == "≤" else ratio >= goal)
    room.figures.append(
        Figure(what, "no figure" if ratio is None else f"{ratio:.2f}×", f"{sign} {goal:g}×", reached, raw)
    )
