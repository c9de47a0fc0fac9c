"""Every application's warm drain rate on spark-microbatch, and its ratio to identity in the same run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from bench.listening import Quiet
from bench.room import Figure, Room
from streamgauge.applications import all_applications
from streamgauge.engines import get_engine
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.model import Application, Trial

EVENTS = 300_000
ENGINE = "spark-microbatch"
IDENTITY = "identity"
LEAST_PER_S = 20_000
LEAST_RATIO = 0.3
PYTHON = frozenset({"python-state", "python-udf"})


class Records(Quiet):
    """Keeps the record of every trial and says each as it comes."""

    def __init__(self) -> None:
        self.found: dict[str, list[dict[str, Any]]] = {}

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Keep the record."""
        self.found.setdefault(trial.application, []).append(record)
        print(f"  {trial.application}: {_outcome(record)}", file=sys.stderr, flush=True)


def applications(room: Room) -> None:
    """A line per application: its rate against the least that is asked, its ratio to identity, its quality."""
    records = Records()
    known = all_applications()
    request = RunRequest(
        # Identity is last: what the process has run before makes it warmer, and the ratios harder to reach.
        applications=(*sorted(set(known) - {IDENTITY}), IDENTITY),
        engines=(ENGINE,),
        load="preloaded",
        events=EVENTS,
        repeat=2,
        kafka=room.cluster.bootstrap,
        out=Path(room.folder / "runs"),
    )
    conduct_run(request, records)
    identity = _best(records.found[IDENTITY])
    for name, found in records.found.items():
        room.figures.append(figure(known[name], found, identity))


def made_of_expressions(application: Application) -> bool:
    """Whether no stage runs Python for its rows in the variants that the engine chooses."""
    engine = get_engine(ENGINE)
    chosen = application.with_variants(engine.variants(application, {}))
    return not any(stage.uses & PYTHON for stage in chosen.stages)


def figure(application: Application, found: list[dict[str, Any]], identity: float) -> Figure:
    """The line of an application: the better of its repeats, and whether that and its answers are good enough."""
    inputs = len(application.inputs)
    rate = _best(found)
    right = all(r["status"] == "done" and r["verdict"]["correct"] for r in found)
    expressions = made_of_expressions(application)
    goal = f"≥ {LEAST_PER_S:,}/s" + (f", ≥ {LEAST_RATIO}× identity" if expressions else "")
    ratio = rate / identity if identity else 0.0
    reached = right and rate >= LEAST_PER_S and (not expressions or ratio >= LEAST_RATIO)
    raw = "; ".join([*(_outcome(r) for r in found), _quality(found)]).rstrip("; ")
    return Figure(
        f"drain of {EVENTS // 1000} k, {application.name}, {ENGINE}{'' if inputs == 1 else f', {inputs} inputs'}",
        f"{rate:,.0f}/s, {ratio:.2f}× identity",
        goal,
        reached,
        raw,
    )


def _best(found: list[dict[str, Any]]) -> float:
    rates = [r["throughput"]["events_per_s"] for r in found if r["status"] == "done"]
    return max((rate for rate in rates if rate is not None), default=0.0)


def _outcome(record: dict[str, Any]) -> str:
    if record["status"] != "done":
        reason = record["error"]["cause"] if record["error"] else record["gap"]["reason"]
        return f"{record['status']}: {reason}"
    rate = f"{_best([record]):,.0f}/s"
    return rate if record["verdict"]["correct"] else f"{rate}, WRONG: {record['verdict']['examples'][:1]}"


def _quality(found: list[dict[str, Any]]) -> str:
    quality = next((r["quality"] for r in found if r.get("quality")), {})
    return ", ".join(f"{name} {value:.3f}" for name, value in quality.items())
