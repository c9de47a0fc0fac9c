"""What faults cost where none happens: the machinery armed but idle, and checkpoints (MA4), in paired repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from bench.listening import Quiet, check_right
from bench.room import Figure, Room
from streamgauge.lab.planning import plan_run
from streamgauge.lab.request import Plan, RunRequest
from streamgauge.lab.run import conduct_plan
from streamgauge.measure.penalties import PairedCost, paired_costs
from streamgauge.measure.repeats import Interval, t_interval
from streamgauge.model import Trial

EVENTS = 3_000_000
PAIRS = 6
NEVER = "kill driver at 36000s"
"""Long after a full log is drained: all that a fault needs is there and waits."""
MOST_PERCENT = 1.0
OFTEN, NOT_ONCE = "2s", "45s"
"""How often a real-time query writes a checkpoint; the second is longer than the trial."""


class Records(Quiet):
    """Keeps the record of every trial and says each as it comes; a wrong answer ends the benchmark."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Keep the record."""
        check_right(trial, record)
        self.found.append(record)
        what = "; ".join(trial.faults) or ", ".join(f"{k}={v}" for k, v in trial.settings.items()) or "no fault"
        print(f"  {what}: {record['throughput']['events_per_s']:,.0f}/s", flush=True)


def faults(room: Room) -> None:
    """The cost of the machinery while nothing goes wrong, and that of checkpoints."""
    room.figures.append(_armed(room))
    room.figures.append(_checkpoints(room))


def alternating(one: RunRequest, other: RunRequest) -> Plan:
    """The trials of both, a repeat of the one before the same of the other."""
    first, second = plan_run(one), plan_run(other)
    pairs = zip(first.trials, second.trials, strict=True)
    return replace(first, trials=tuple(chain.from_iterable(pairs)))


def _armed(room: Room) -> Figure:
    """A trial with faults has a process of its own, so with every other one armed none begins warmer than another."""
    request = RunRequest(
        applications=("wordcount",),
        load="preloaded",
        events=EVENTS,
        repeat=PAIRS,
        kafka=room.cluster.bootstrap,
        out=Path(room.folder / "runs"),
    )
    records = Records()
    conduct_plan(alternating(request, replace(request, faults=(NEVER,))), records)
    return armed_figure(records.found[::2], records.found[1::2])


def armed_figure(without: Sequence[dict[str, Any]], armed: Sequence[dict[str, Any]]) -> Figure:
    """Throughput lost, in percent of that without the machinery."""
    return lost_figure("with faults armed but idle", without, armed)


def lost_figure(how: str, without: Sequence[dict[str, Any]], burdened: Sequence[dict[str, Any]]) -> Figure:
    """Throughput lost, in percent of that without the burden; pair by pair."""
    rates = [(a["throughput"]["events_per_s"], b["throughput"]["events_per_s"]) for a, b in _pairs(without, burdened)]
    cost = t_interval([100 * (a - b) / a for a, b in rates])
    least = cost.mean - (cost.half or 0.0)
    return Figure(
        what=f"drain of {EVENTS / 1e6:.0f} M, wordcount: throughput lost {how}",
        seen=percent(cost),
        goal=f"not shown to exceed {MOST_PERCENT:g} %",
        reached=least <= MOST_PERCENT,
        raw="; ".join(f"{a / 1000:.0f} → {b / 1000:.0f} k/s" for a, b in rates),
    )


def _pairs(
    one: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]]
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return list(zip(one, other, strict=True))


def _checkpoints(room: Room) -> Figure:
    """A real-time query computes alike however often it writes a checkpoint; a micro-batch is one."""
    request = RunRequest(
        applications=("wordcount",),
        engines=("spark-realtime",),
        load="constant:2000/s",
        for_s=20,
        warmup_s=5,
        repeat=PAIRS,
        settings={"batch-duration": OFTEN},
        kafka=room.cluster.bootstrap,
        out=Path(room.folder / "runs"),
    )
    records = Records()
    conduct_plan(alternating(request, replace(request, settings={"batch-duration": NOT_ONCE})), records)
    return checkpoint_figure(paired_costs(records.found[::2], records.found[1::2]))


def checkpoint_figure(costs: Sequence[PairedCost]) -> Figure:
    """What is shown to cost more or less, and all figures beside it."""
    shown = [f"{each.figure} {percent(each.percent)}" for each in costs if each.shown]
    return Figure(
        what=f"wordcount, spark-realtime, 2,000/s: a checkpoint every {OFTEN} against none (MA4)",
        seen="; ".join(shown) or "no cost shown",
        goal="no goal",
        reached=bool(costs),
        raw="; ".join(f"{each.figure} {percent(each.percent)}" for each in costs),
    )


def percent(interval: Interval) -> str:
    """The mean with its sign, and half of its interval."""
    half = "" if interval.half is None else f" ± {interval.half:.2f}"
    return f"{interval.mean:+.2f}{half} %"
