"""What failures cost over several trials: TPF and LPF (SB8), loss in percent (LO3), paired differences (MA4)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from streamgauge.measure.figures import Figure, get_figure
from streamgauge.measure.repeats import Group, Interval, groups, t_interval
from streamgauge.measure.validity import Record, measured, ranked

_FAULT_MEMBERS = ("faults", "no_restart", "failure_timeout_s")
CHECKPOINT_COSTS = ("events_per_s", "p50", "p99", "cpu", "rss_bytes_mean")
"""What checkpointing may cost (MA4)."""


def penalty_factor(failing: float, all_nodes: float, one_less: float) -> float:
    """T_failure ÷ (½ (T_N + T_{N−1})): 1 is no penalty; of latency, above 1 is one."""
    return failing / (0.5 * (all_nodes + one_less))


@dataclass(frozen=True)
class Penalty:
    """The penalty factors of one trial with a fault against the same on N and on N − 1 nodes without one."""

    application: str
    engine: str
    load: str
    place: str
    fault: str
    events: int | None
    tpf: Interval | None
    lpf: Interval | None

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)


def penalties(records: Sequence[Record]) -> list[Penalty]:
    """Every group of trials with faults that has its partners, repeat against repeat."""
    found = []
    unbroken = {_without_faults(group.first): group for group in groups(records) if not _faults(group.first)}
    for group in groups(records):
        place = str((group.first.get("trial") or {}).get("place", ""))
        fewer = _one_node_less(place)
        if not _faults(group.first) or fewer is None:
            continue
        all_nodes = unbroken.get(_without_faults(group.first))
        one_less = unbroken.get(_without_faults(group.first, place=fewer))
        if all_nodes is None or one_less is None:
            continue
        sides = (group, all_nodes, one_less)
        found.append(
            Penalty(
                application=str(group.first["application"]),
                engine=str(group.first["engine"]),
                load=str(group.first["load"]),
                place=place,
                fault="; ".join(_faults(group.first)),
                events=group.first.get("measured_events"),
                tpf=_factor(sides, lambda record: (record.get("throughput") or {}).get("events_per_s")),
                lpf=_factor(sides, lambda record: (record.get("latency_ms") or {}).get("mean")),
            )
        )
    return found


def _factor(sides: Sequence[Group], figure: Callable[[Record], float | None]) -> Interval | None:
    by_repeat = [
        {_repeat(r): value for r in side.ranked if (value := figure(r)) is not None and value > 0} for side in sides
    ]
    common = sorted(set.intersection(*map(set, by_repeat)))
    if not common:
        return None
    return t_interval([penalty_factor(*(values[repeat] for values in by_repeat)) for repeat in common])


def _repeat(record: Record) -> int:
    return int((record.get("trial") or {}).get("repeat") or 1)


def _faults(record: Record) -> list[str]:
    return list((record.get("trial") or {}).get("faults") or ())


def _one_node_less(place: str) -> str | None:
    found = re.fullmatch(r"cluster:(\d+)", place)
    return f"cluster:{int(found[1]) - 1}" if found is not None and int(found[1]) > 1 else None


def _without_faults(record: Record, **changes: Any) -> str:
    trial = {k: v for k, v in dict(record.get("trial") or {}).items() if k not in ("repeat", "seed", *_FAULT_MEMBERS)}
    return json.dumps({**trial, **changes}, sort_keys=True, default=str)


@dataclass(frozen=True)
class Loss:
    """What a group of repeats lost, in percent of what was expected."""

    repeats: int
    percent: Interval
    lost: int
    expected: int

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)


def loss(records: Iterable[Record]) -> Loss | None:
    """Loss over the repeats that were measured and are valid, right or wrong: a loss is what is asked for."""
    verdicts = [r["verdict"] for r in records if measured(r) and r.get("valid") and r["verdict"]["expected"]]
    if not verdicts:
        return None
    shares = [100 * each["lost"] / each["expected"] for each in verdicts]
    lost, expected = sum(each["lost"] for each in verdicts), sum(each["expected"] for each in verdicts)
    return Loss(len(verdicts), t_interval(shares), lost, expected)


@dataclass(frozen=True)
class PairedCost:
    """What a figure changes with something against without it, in percent, over paired repeats."""

    figure: str
    percent: Interval

    @property
    def shown(self) -> bool:
        """Whether the interval leaves 0 out; never with fewer than two pairs."""
        half = self.percent.half
        return half is not None and abs(self.percent.mean) > half


def paired_costs(
    with_it: Sequence[Record], without: Sequence[Record], names: Sequence[str] = CHECKPOINT_COSTS
) -> list[PairedCost]:
    """Of each figure the mean of 100 · (with − without) ÷ without over the repeats that both sides have ranked."""
    found = []
    for figure in map(get_figure, names):
        one, other = _by_repeat(figure, with_it), _by_repeat(figure, without)
        changes = [100 * (one[r] - other[r]) / other[r] for r in sorted(one.keys() & other.keys()) if other[r]]
        if changes:
            found.append(PairedCost(figure.name, t_interval(changes)))
    return found


def _by_repeat(figure: Figure, records: Sequence[Record]) -> Mapping[int, float]:
    return {_repeat(r): value for r in records if ranked(r) and (value := figure.value(r)) is not None}
