"""Draining a preloaded log: the laboratory beside a bare program, and the log's own reader beside identity."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.listening import Quiet, check_right
from bench.publishing import kafka_tool
from bench.room import BareProcess, Figure, Room, ratio_interval
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.model import Trial

EVENTS = 3_000_000
PAIRS = 5


class Alternating(Quiet):
    """After each trial of the laboratory lets the bare program drain the same events once."""

    def __init__(self, bare: BareProcess, topic: str) -> None:
        self._bare, self._topic = bare, topic
        self.pairs: list[tuple[float, float]] = []

    def planned(self, run: str, trials: list[Trial]) -> None:
        """The bare program's discarded pass, as the laboratory has one."""
        self._bare.drain_per_s(self._topic, EVENTS)

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """One pair; a wrong answer ends the benchmark."""
        check_right(trial, record)
        inside = record["throughput"]["events_per_s"]
        self.pairs.append((inside, self._bare.drain_per_s(self._topic, EVENTS)))
        print(f"  {trial.application}: lab {inside:,.0f}/s, bare {self.pairs[-1][1]:,.0f}/s", flush=True)


def draining(room: Room) -> None:
    """Identity and wordcount on spark-microbatch, warm, in pairs; then what carrying the origin costs."""
    topic = room.topic("drain")
    room.publish(topic, "preloaded", EVENTS)
    request = RunRequest(
        applications=(),
        load="preloaded",
        events=EVENTS,
        repeat=PAIRS,
        kafka=room.cluster.bootstrap,
        out=Path(room.folder / "runs"),
    )
    identity: list[float] = []
    for name in ("identity", "wordcount"):
        bare = BareProcess(room, name, "spark-microbatch")
        try:
            alternating = Alternating(bare, topic)
            conduct_run(replace(request, applications=(name,)), alternating)
        finally:
            bare.close()
        inside, outside = zip(*alternating.pairs, strict=True)
        identity = list(inside) if name == "identity" else identity
        ratio, low, high = ratio_interval([a / b for a, b in alternating.pairs])
        raw = f"lab {_rates(inside)}; bare {_rates(outside)}"
        what = f"drain of 3 M, {name}, spark-microbatch: lab ÷ bare"
        room.figures.append(Figure(what, f"{ratio:.2f}× [{low:.2f}, {high:.2f}]", "≥ 0.97×", ratio >= 0.97, raw))
        _cost_of_origin(room, name, topic, list(outside))
    _raw_read(room, topic, identity)


def _cost_of_origin(room: Room, name: str, topic: str, with_origin: list[float]) -> None:
    bare = BareProcess(room, name, "spark-microbatch", origin=False)
    try:
        rates = [bare.drain_per_s(topic, EVENTS) for _ in range(PAIRS + 1)][1:]
    finally:
        bare.close()
    ratio, low, high = ratio_interval([a / b for a, b in zip(with_origin, rates, strict=True)])
    what = f"{name}: bare with origin ÷ bare without (what measuring costs)"
    raw = f"with {_rates(with_origin)}; without {_rates(rates)}"
    room.figures.append(Figure(what, f"{ratio:.2f}× [{low:.2f}, {high:.2f}]", "no goal", True, raw))


def _raw_read(room: Room, topic: str, identity: list[float]) -> None:
    rates = []
    for _ in range(3):
        said = kafka_tool(
            "org.apache.kafka.tools.ConsumerPerformance",
            *("--topic", topic, "--messages", str(EVENTS), "--bootstrap-server", room.cluster.bootstrap),
            *("--timeout", "60000", "--fetch-size", "10485760"),
        )
        columns = said.strip().splitlines()[-1].split(",")
        rates.append(float(columns[9]))
    ratio = max(rates) / max(identity)
    raw = f"ConsumerPerformance {_rates(rates)} (fetch time); identity {_rates(identity)}"
    what = "raw read of the log ÷ drain of identity"
    room.figures.append(Figure(what, f"{ratio:.1f}×", "≥ 3×", ratio >= 3, raw))


def _rates(rates: Any) -> str:
    return " ".join(f"{r / 1000:.0f}" for r in rates) + " k/s"
