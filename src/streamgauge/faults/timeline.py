"""From faults to planned instants, the random choices drawn from the seed; what cannot be is said before the start."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from streamgauge.faults import fault_verbs
from streamgauge.faults.grammar import spelled
from streamgauge.model.errors import UserError
from streamgauge.model.fault import RANDOM, Fault, Lasting, PlannedFault
from streamgauge.model.units import duration

DEFAULT_FAILURE_TIMEOUT_S = 60.0
"""As Spark's standalone master waits for a worker that is silent."""

MOST_INSTANTS = 10_000

_NODE = {"executor": "worker"}
"""An executor is a part of its worker: both suspended at once would be one process twice."""


@dataclass(frozen=True)
class Scene:
    """Where faults are to happen: the trial's seed and length, and the processes that it will have."""

    seed: int
    targets: Mapping[str, int]
    """Target → how many processes of it this run starts."""
    place: str
    length_s: float | None = None
    """Seconds from the first measured event to the last; None where nobody knows: a preloaded load."""
    failure_timeout_s: float = DEFAULT_FAILURE_TIMEOUT_S
    """A node that is away for longer has failed for good."""
    restarts: bool = True
    """Whether the supervisor starts a driver again that died."""

    def returns(self, target: str) -> bool:
        """Whether a killed process of the target comes back without the injector."""
        return target in ("executor", "publisher") or (target == "driver" and self.restarts)


def timeline(faults: Sequence[Fault], scene: Scene) -> tuple[PlannedFault, ...]:
    """Every instant of the faults in the order of time; the same seed gives the same choices."""
    planned: list[PlannedFault] = []
    randomly: list[tuple[Fault, float, random.Random]] = []
    for number, fault in enumerate(faults):
        _check_target(fault, scene)
        for repeat, at_s in enumerate(_instants(fault, scene)):
            drawn = random.Random(f"{scene.seed}:{number}:{repeat}:{spelled(fault)}")
            if fault.verb == RANDOM:
                randomly.append((fault, at_s, drawn))
            else:
                planned += [_planned(fault, at_s, drawn, scene)] * fault.count
    planned = _with_ends(sorted(planned, key=lambda each: each.at_s))
    found = _checked(planned, scene)
    for fault, at_s, drawn in sorted(randomly, key=lambda each: each[1]):
        found = _with_random(found, fault, at_s, drawn, scene)
    return tuple(replace(each, lasting=_lasting(each, found, scene)) for each in found)


def _check_target(fault: Fault, scene: Scene) -> None:
    if fault.verb == RANDOM:
        return
    there = scene.targets.get(fault.target, 0)
    if there == 0:
        raise _refused(
            spelled(fault),
            f"there is no {fault.target} of this run at {scene.place}",
            f"There it can hit {', '.join(scene.targets)}",
        )
    if fault.target == "driver" and fault_verbs()[fault.verb].always_back and not scene.restarts:
        raise _refused(spelled(fault), "the supervisor may not restart it", "Leave --no-restart out, or kill it")
    if fault.count > there:
        raise _refused(
            spelled(fault), f"{scene.place} has {there} {fault.target}{'' if there == 1 else 's'}, not {fault.count}"
        )


def _refused(spelling: str, cause: str, way_out: str = "") -> UserError:
    return UserError(f"fault '{spelling}': {cause}", way_out)


def _instants(fault: Fault, scene: Scene) -> Iterator[float]:
    length_s = scene.length_s
    if fault.at is not None:
        at_s = _half(fault, scene) if fault.at == "half" else float(fault.at)
        if length_s is not None and at_s >= length_s:
            raise _after_the_end(fault, at_s, length_s)
        yield at_s
        return
    assert fault.every_s is not None
    first_s = fault.every_s if fault.after_s is None else fault.after_s
    if length_s is None and fault.up_to is None:
        raise _refused(spelled(fault), "how long a preloaded trial takes is not known", "Say how often: 'up to N'")
    if length_s is not None and first_s >= length_s:
        raise _after_the_end(fault, first_s, length_s)
    most = math.inf if fault.up_to is None else fault.up_to
    times = most if length_s is None else min(most, (length_s - first_s) / fault.every_s)
    if times > MOST_INSTANTS:
        raise _refused(
            spelled(fault), f"it would come more than {MOST_INSTANTS:,} times", "Let it come less often, or 'up to N'"
        )
    number = 0
    while number < most and (length_s is None or first_s + number * fault.every_s < length_s):
        yield first_s + number * fault.every_s
        number += 1


def _half(fault: Fault, scene: Scene) -> float:
    if scene.length_s is None:
        raise _refused(
            spelled(fault),
            "half of a preloaded trial is not known before the same trial has run without a fault",
            "Run it without the fault first in the same suite, or give a time",
        )
    return scene.length_s / 2


def _after_the_end(fault: Fault, at_s: float, length_s: float) -> UserError:
    return _refused(
        spelled(fault),
        f"{duration(at_s)} is not before the end of the trial, which is measured for {duration(length_s)}",
        "Give an earlier time, or a longer trial",
    )


def _planned(fault: Fault, at_s: float, drawn: random.Random, scene: Scene) -> PlannedFault:
    order = list(range(1, scene.targets[fault.target] + 1))
    drawn.shuffle(order)
    away_s = fault.for_s
    if away_s is None and fault_verbs()[fault.verb].always_back:
        away_s = 0.0
    until_s = None if away_s is None else at_s + away_s
    return PlannedFault(
        spelled(fault), fault.verb, fault.target, at_s, until_s, tuple(order), "transient", fault.busiest
    )


def _with_ends(planned: Sequence[PlannedFault]) -> list[PlannedFault]:
    """Every `continue` has something to continue, which it is the end of."""
    for each in planned:
        if not fault_verbs()[each.verb].of_stopped:
            continue
        if not any(_suspended_at(other, each.at_s) for other in planned if other.target == each.target):
            raise _refused(each.fault, f"no {each.target} is suspended at {duration(each.at_s)}", "Suspend it first")
    return list(planned)


def _suspended_at(planned: PlannedFault, at_s: float) -> bool:
    stops = fault_verbs()[planned.verb].effect == "stopped"
    return stops and planned.at_s < at_s and (planned.until_s is None or at_s < planned.until_s)


def _away(each: PlannedFault, planned: Sequence[PlannedFault], scene: Scene) -> tuple[float, float]:
    """From when to when the process of a planned fault is not there, or does not move."""
    if each.until_s is not None:
        return each.at_s, each.until_s
    effect = fault_verbs()[each.verb].effect
    if effect == "running" or (effect == "gone" and scene.returns(each.target)):
        return each.at_s, each.at_s
    later = (
        other.at_s
        for other in planned
        if effect == "stopped"
        and other.target == each.target
        and other.at_s > each.at_s
        and fault_verbs()[other.verb].of_stopped
    )
    return each.at_s, min(later, default=math.inf)


def _checked(planned: list[PlannedFault], scene: Scene) -> list[PlannedFault]:
    """Refuse a fault for which no process is left: all are gone for good, or stand still already."""
    active: list[tuple[float, PlannedFault]] = []
    for each in planned:
        active = [(end, other) for end, other in active if end > each.at_s]
        reason = _conflict(each, [other for _, other in active], scene)
        if reason is not None:
            raise _refused(each.fault, *reason)
        active.append((_away(each, planned, scene)[1], each))
    return planned


def _conflict(each: PlannedFault, active: Sequence[PlannedFault], scene: Scene) -> tuple[str, str] | None:
    verb = fault_verbs()[each.verb]
    if verb.of_stopped:
        return None
    node = _NODE.get(each.target, each.target)
    there = scene.targets[each.target]
    same = [other for other in active if _NODE.get(other.target, other.target) == node]
    gone = [other for other in same if fault_verbs()[other.verb].effect == "gone"]
    stopped = [other for other in same if fault_verbs()[other.verb].effect == "stopped"]
    if len(gone) >= there:
        return (
            f"no {each.target} is left at {duration(each.at_s)}: '{gone[-1].fault}' has taken the last",
            "Bring it back with 'for TIME', or leave one of them out",
        )
    if verb.effect == "stopped" and len(gone) + len(stopped) >= there:
        return (
            f"it overlaps with '{stopped[-1].fault}': every {node} is suspended already at {duration(each.at_s)}",
            "One process cannot be suspended twice at once: give a shorter 'for', or a later time",
        )
    return None


def _with_random(
    planned: list[PlannedFault], fault: Fault, at_s: float, drawn: random.Random, scene: Scene
) -> list[PlannedFault]:
    """The plan with one random fault more; at an instant where nothing is possible, without."""
    choices = [
        (verb.name, target, away)
        for verb in fault_verbs().values()
        for target, away in (verb.at_random or {}).items()
        if target in scene.targets and (target != "driver" or verb.effect != "gone" or scene.restarts)
    ]
    drawn.shuffle(choices)
    for verb, target, away in choices:
        for_s = None if away is None else round(drawn.uniform(*away), 1)
        one = replace(_planned(Fault(verb, target, at=at_s, for_s=for_s), at_s, drawn, scene), fault=spelled(fault))
        tried = sorted([*planned, one], key=lambda each: each.at_s)
        try:
            return _checked(tried, scene)
        except UserError:
            continue
    return planned


def _lasting(each: PlannedFault, planned: Sequence[PlannedFault], scene: Scene) -> Lasting:
    """Transient is what is back before the failure time-out has passed."""
    start_s, end_s = _away(each, planned, scene)
    return "transient" if end_s - start_s < scene.failure_timeout_s else "permanent"
