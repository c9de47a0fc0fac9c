"""A calibration: both paradigms of every segment, measured once, as a value that is stored with a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamgauge.model.errors import StoreError, UserError
from streamgauge.paradigms.equations import SegmentFigures, assumed_figures
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.range import SegmentPlan
from streamgauge.paradigms.tracking import Known
from streamgauge.store import RunStore, StoredRun
from streamgauge.store.files import read_json

SCHEMA = 1
_AGAIN = "Calibrate the application again"
_MAKE = "streamgauge calibrate APPLICATION makes one; a file of one can be given with --calibration FILE"


@dataclass(frozen=True)
class SegmentCalibration:
    """One segment: its stages with their magnifications, its figures, and the pause at the end of a real-time batch."""

    name: str
    magnifications: Mapping[str, float]
    """Stage → λ, in the order of the chain."""
    figures: SegmentFigures
    pause_s: float = 0.0
    pause_every_s: float = 10.0

    @property
    def magnification(self) -> float:
        """λ of the whole segment."""
        return math.prod(self.magnifications.values())

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "name": self.name,
            "magnifications": dict(self.magnifications),
            "figures": self.figures.as_dict(),
            "pause_s": self.pause_s,
            "pause_every_s": self.pause_every_s,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SegmentCalibration:
        """The segment that `as_dict` gave."""
        return cls(
            values["name"],
            {name: float(each) for name, each in values["magnifications"].items()},
            SegmentFigures.from_dict(values["figures"]),
            float(values["pause_s"]),
            float(values["pause_every_s"]),
        )


@dataclass(frozen=True)
class MeasuredPoint:
    """What a trial at a constant rate really gave."""

    paradigm: Paradigm
    rate_per_s: float
    for_s: float
    p50_ms: float
    p99_ms: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        figures = {"rate_per_s": self.rate_per_s, "for_s": self.for_s, "p50_ms": self.p50_ms, "p99_ms": self.p99_ms}
        return {"paradigm": self.paradigm.value, **figures}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> MeasuredPoint:
        """The point that `as_dict` gave."""
        p99 = values.get("p99_ms")
        return cls(
            Paradigm(values["paradigm"]),
            float(values["rate_per_s"]),
            float(values["for_s"]),
            float(values["p50_ms"]),
            None if p99 is None else float(p99),
        )


@dataclass(frozen=True)
class Calibration:
    """An application's segments in the order of the chain, and the points that a prediction can be held against."""

    application: str
    segments: tuple[SegmentCalibration, ...]
    points: tuple[MeasuredPoint, ...] = ()
    conditions: Mapping[str, Any] = field(default_factory=dict)
    """Under what it was measured: engine settings, partitions, machine."""

    def __post_init__(self) -> None:
        if not self.segments:
            raise UserError(f"the calibration of {self.application} has no segment", _AGAIN)

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "schema": SCHEMA,
            "application": self.application,
            "segments": [segment.as_dict() for segment in self.segments],
            "points": [point.as_dict() for point in self.points],
            "conditions": dict(self.conditions),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], where: str = "the calibration") -> Calibration:
        """The calibration that `as_dict` gave; anything else is one line that names what is wrong."""
        if values.get("schema") != SCHEMA:
            raise StoreError(
                f"{where} has schema version {values.get('schema')}, and this program reads {SCHEMA}", _AGAIN
            )
        try:
            return cls(
                str(values["application"]),
                tuple(map(SegmentCalibration.from_dict, values["segments"])),
                tuple(map(MeasuredPoint.from_dict, values["points"])),
                dict(values.get("conditions") or {}),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreError(f"{where} is damaged: {type(error).__name__} {error}", _AGAIN) from None

    def magnifications(self) -> dict[str, float]:
        """Stage → λ over all segments: what cuts are chosen from."""
        return {stage: each for segment in self.segments for stage, each in segment.magnifications.items()}

    def known(self, plans: Sequence[SegmentPlan] | None = None) -> list[Known]:
        """What the scheduler knows of the segments at its start; plans that were not calibrated so are assumed.

        A calibration of other cuts says nothing of a segment's speeds, but its λ.
        """
        pins = {plan.name: plan.pinned for plan in plans or ()}
        measured = {(s.name, tuple(s.magnifications)): s for s in self.segments}
        if plans is None:
            return [Known(s.name, s.figures, True, s.magnification) for s in self.segments]
        stages = self.magnifications()
        found = []
        for plan in plans:
            segment = measured.get((plan.name, plan.stages))
            if segment is not None:
                found.append(Known(plan.name, segment.figures, True, segment.magnification, pins[plan.name]))
            else:
                found.append(_assumed(plan, stages))
        return found


def read_calibration(application: str, runs: RunStore, given: str | None = None) -> tuple[Calibration, str]:
    """The calibration that is given as a file or a run, or the newest of that application; and where it was."""
    if given is not None:
        file = Path(given)
        if file.is_file():
            return _of(application, read_json(file, _AGAIN), str(file)), str(file)
        stored = runs.open(given)
        if stored.calibration is None:
            raise StoreError(f"the run '{stored.id}' holds no calibration", f"Give another with --calibration. {_MAKE}")
        return _of(application, stored.calibration, f"run {stored.id}"), f"run {stored.id}"
    others: list[str] = []
    for listed in reversed(runs.list()):
        found = None if listed.problem else StoredRun.open(listed.folder).calibration
        if found is not None and found.get("application") == application:
            return _of(application, found, f"run {listed.id}"), f"run {listed.id}"
        if found is not None:
            others.append(str(found.get("application")))
    known = f" (there is one of {', '.join(dict.fromkeys(others))})" if others else ""
    raise StoreError(f"there is no calibration of '{application}' in {runs.root}{known}", _MAKE)


def _of(application: str, document: Mapping[str, Any], where: str) -> Calibration:
    found = Calibration.from_dict(document, where)
    if found.application != application:
        raise UserError(f"{where} is a calibration of '{found.application}', not of '{application}'", _MAKE)
    return found


def _assumed(plan: SegmentPlan, stages: Mapping[str, float]) -> Known:
    known = all(name in stages for name in plan.stages)
    magnification = math.prod(stages[name] for name in plan.stages) if known else None
    return Known(plan.name, assumed_figures(), False, magnification, plan.pinned)
