"""The curve of a load over a trial that is only wished for, and the instants of its faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamgauge.faults.grammar import parse_fault
from streamgauge.faults.timeline import Scene, timeline
from streamgauge.lab.planning import publishing_load
from streamgauge.lab.request import DEFAULT_MEASURED_S, DEFAULT_WARMUP_S
from streamgauge.model import Load, StreamgaugeError, UserError
from streamgauge.places import fault_targets
from streamgauge.report.series import Mark

LONGEST_S = 31 * 86_400.0
MOST_MARKS = 60


@dataclass(frozen=True)
class Curve:
    """Rates between edges, in seconds since the first measured event; negative ones are of the warm-up."""

    edges_s: list[float]
    rates_per_s: list[float]
    length_s: float


def curve(load: Load, for_s: float | None, events: int | None, warmup_s: float | None, bins: int) -> Curve:
    """The load as it would be published, each rate the mean over its stretch: a short burst is not passed over."""
    starts_s = load.job_starts_at_s or 0.0
    warm_s = 0.0 if starts_s else (DEFAULT_WARMUP_S if warmup_s is None else warmup_s)
    published = publishing_load(load.spelling, warm_s)
    if events:
        length_s = float(published.due_s([published.events_by(warm_s) + events - 1])[0]) - warm_s
    else:
        length_s = (for_s or DEFAULT_MEASURED_S) + starts_s
    if not 0 < length_s + warm_s <= LONGEST_S:
        raise UserError("the trial would take more than a month", "Give a shorter time, fewer events or a higher rate")
    edges_s = np.linspace(0.0, warm_s + max(length_s, 1e-3), bins + 1)
    due = np.array([published.events_by(float(at)) for at in edges_s])
    rates = np.diff(due) / np.diff(edges_s)
    return Curve(list(np.round(edges_s - warm_s, 3)), list(np.round(rates, 3)), length_s)


def fault_marks(faults: Sequence[str], found: Curve, seed: int, place: str) -> list[Mark]:
    """Where the faults would come; those that cannot be laid out are left to the plan to refuse."""
    marks: list[Mark] = []
    for text in faults:
        try:
            targets = fault_targets(place, own_broker=True)
            scene = Scene(seed=seed, targets=targets, place=place, length_s=found.length_s)
            planned = timeline([parse_fault(text)], scene)
        except StreamgaugeError:
            continue
        marks += [Mark(each.at_s, each.until_s, f"{each.verb} {each.target}", "fault") for each in planned]
    return marks[:MOST_MARKS]
