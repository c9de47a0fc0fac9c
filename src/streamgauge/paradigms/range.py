"""Where to switch (DO4), and where to cut: ranges of operations that a burst reaches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from streamgauge.model.errors import UserError, unknown
from streamgauge.paradigms.paradigm import Paradigm

LEAST_MAGNIFICATION = 4.0
"""λ from which a stage makes a burst inside.

Every record of a cut is written to a topic and read from it again, which adds about 9 ms and work for both sides: a
stage that only triples its rows, like the words of a search, is cheaper left in one query.
"""


def switch_range(magnifications: Sequence[float], overloaded: int) -> range:
    """The operations p…q, counted from 1: from the overloaded one to the first q with Π λ_m < 1 over m = p−1…q.

    λ_0 is 1: nothing stands before the first operation. Where no product falls below 1 the range ends with the chain.
    """
    if not 1 <= overloaded <= len(magnifications):
        raise ValueError(f"operation {overloaded} is none of 1 to {len(magnifications)}")
    product = magnifications[overloaded - 2] if overloaded > 1 else 1.0
    for last in range(overloaded, len(magnifications) + 1):
        product *= magnifications[last - 1]
        if product < 1:
            return range(overloaded, last + 1)
    return range(overloaded, len(magnifications) + 1)


@dataclass(frozen=True)
class SegmentPlan:
    """A segment before it runs: its name, its stages in order, and the paradigm that it is pinned to."""

    name: str
    stages: tuple[str, ...]
    pinned: Paradigm | None = None


def bursts_inside(magnifications: Mapping[str, float], least: float = LEAST_MAGNIFICATION) -> list[str]:
    """Stages, the last one left out, after which there are many more rows than before."""
    return [name for name in list(magnifications)[:-1] if magnifications[name] >= least]


def choose_cuts(
    magnifications: Mapping[str, float], least: float = LEAST_MAGNIFICATION, allowed: Collection[str] | None = None
) -> tuple[str, ...]:
    """Stages to cut after: before and behind every range that a burst inside would switch; none where there is none.

    `magnifications` is stage → λ in the order of the chain; `allowed` are the stages that a topic may follow.
    """
    names, values = list(magnifications), list(magnifications.values())
    found: set[str] = set()
    for source in bursts_inside(magnifications, least):
        first = names.index(source) + 2
        found.add(source)
        last = switch_range(values, first)[-1]
        if last < len(names):
            found.add(names[last - 1])
    return tuple(name for name in names if name in found and (allowed is None or name in allowed))


def plan_segments(
    stages: Sequence[str],
    cuts: Collection[str] = (),
    pinned: Mapping[str, Paradigm] | None = None,
) -> tuple[SegmentPlan, ...]:
    """The segments that cuts make of a chain; each is named after its last stage.

    Stages of one segment that are pinned to different paradigms are the user's to part with a cut.
    """
    pins = dict(pinned or {})
    for name in [*cuts, *pins]:
        if name not in stages:
            raise unknown("stage", name, list(stages))
    if stages and stages[-1] in cuts:
        raise UserError(f"'{stages[-1]}' is the last stage: there is nothing to cut off after it", "Leave it out")
    found: list[SegmentPlan] = []
    begun: list[str] = []
    for name in stages:
        begun.append(name)
        if name in cuts or name == stages[-1]:
            found.append(SegmentPlan(name, tuple(begun), _pin_of(begun, pins)))
            begun = []
    return tuple(found)


def _pin_of(stages: Sequence[str], pins: Mapping[str, Paradigm]) -> Paradigm | None:
    wanted = {pins[name]: name for name in stages if name in pins}
    if len(wanted) > 1:
        first, second = list(wanted.values())[:2]
        raise UserError(
            f"'{first}' and '{second}' are pinned to different paradigms, but run in one segment",
            f"Cut between them, for example after '{first}'",
        )
    return next(iter(wanted), None)


def parse_pins(text: str) -> dict[str, Paradigm]:
    """'split=data,count=operation' as stage → paradigm."""
    words = {"data": Paradigm.DATA_STREAM, "operation": Paradigm.OPERATION_STREAM}
    found: dict[str, Paradigm] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        stage, equals, word = (each.strip() for each in part.partition("="))
        if not equals or not stage:
            raise UserError(f"'{part}' pins nothing", "Write it like split=data,count=operation")
        if word not in words:
            raise unknown("paradigm", word, list(words))
        found[stage] = words[word]
    return found
