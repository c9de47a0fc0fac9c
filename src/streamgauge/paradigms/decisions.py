"""Decisions as they are kept: each with everything that it was made of, one JSON object to a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from streamgauge.model.errors import StoreError
from streamgauge.model.units import duration, rate
from streamgauge.paradigms.equations import SegmentFigures, SwitchPoint
from streamgauge.paradigms.paradigm import How, Paradigm

_SEQUENCES = ("magnifications", "range", "switched")


@dataclass(frozen=True)
class Decision:
    """To switch, or not to although the queue was long enough; figures are those of the moment it was made."""

    at_s: float
    """Seconds since the epoch."""
    segment: str
    """The segment that was overloaded, or that returns."""
    action: str
    """switch or stay."""
    paradigm: Paradigm
    """The paradigm that it was in."""
    to: Paradigm
    how: How | None
    reason: str
    arrival_per_s: float
    """V."""
    afterwards_per_s: float
    """The rate that is expected after a burst."""
    queue: float
    """L."""
    age_s: float
    k: float
    c_s: float
    interval_s: float
    """T."""
    l_switch: float
    l_up: float
    l_down: float
    delta: float
    data_per_s: float
    """PD."""
    operation_per_s: float
    """PO."""
    schedule_s: float
    operation_transfer_s: float
    data_transfer_s: float
    magnifications: tuple[float, ...]
    """λ of every segment."""
    range: tuple[str, ...]
    """Segments of the switch range."""
    switched: tuple[str, ...]
    """Those of them that really were told to switch: not pinned, and not there already."""
    cost_stay: float | None
    """Expected seconds of latency × seconds of time."""
    cost_switch: float | None
    burst_s: float
    """For how long more has arrived than the data stream works off."""
    gap_s: float
    """Expected time without a query."""
    max_records_per_batch: int | None = None

    @property
    def words(self) -> str:
        """One line, as `-v` shows it while a trial runs."""
        what = f"{self.segment}: {self.action}"
        if self.action == "switch":
            also = [name for name in self.switched if name != self.segment]
            what += f" to {self.to.value}{f' with {chr(44).join(also)}' if also else ''}"
            what += f" ({self.how.value})" if self.how else ""
        else:
            what += f" in {self.paradigm.value}"
        figures = (
            f"V {rate(self.arrival_per_s)}, L {self.queue:,.0f} of {self.l_down:,.0f}…{self.l_up:,.0f}, "
            f"K {self.k:.2f}, C {duration(max(0.0, self.c_s))}"
        )
        return f"{what}: {self.reason} [{figures}]"

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            **found,
            **{name: list(found[name]) for name in _SEQUENCES},
            "paradigm": self.paradigm.value,
            "to": self.to.value,
            "how": self.how.value if self.how else None,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Decision:
        """The decision that `as_dict` gave."""
        try:
            known = {field.name: values[field.name] for field in fields(cls)}
            return cls(
                **{
                    **known,
                    **{name: tuple(known[name]) for name in _SEQUENCES},
                    "paradigm": Paradigm(known["paradigm"]),
                    "to": Paradigm(known["to"]),
                    "how": None if known["how"] is None else How(known["how"]),
                }
            )
        except (KeyError, ValueError, TypeError) as error:
            raise StoreError(f"a stored decision cannot be read: {error}", "Run the trial again") from None


def to_lines(decisions: Iterable[Decision]) -> str:
    """One JSON object to a line."""
    return "".join(json.dumps(each.as_dict(), ensure_ascii=False) + "\n" for each in decisions)


def from_lines(text: str) -> Iterator[Decision]:
    """The decisions of such lines; a last line that was cut off is left out, as a killed job leaves one."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except json.JSONDecodeError:
            if number == len(lines):
                return
            raise StoreError(f"line {number} of the decisions is damaged", "Run the trial again") from None
        yield Decision.from_dict(values)


def inputs_of(figures: SegmentFigures, point: SwitchPoint, delta: float) -> dict[str, float]:
    """The figures of a moment under the names that a decision gives them."""
    return {
        "k": point.k,
        "c_s": point.c_s,
        "interval_s": point.interval_s,
        "l_switch": point.switch,
        "l_up": point.up,
        "l_down": point.down,
        "delta": delta,
        "data_per_s": figures.data_per_s,
        "operation_per_s": figures.operation_per_s,
        "schedule_s": figures.schedule_s,
        "operation_transfer_s": figures.operation_transfer_s,
        "data_transfer_s": figures.data_transfer_s,
    }
