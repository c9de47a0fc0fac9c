"""Whether a service lasts (SB7): the share of its time in which it answered, what it did twice, and its memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.measure.trend import SIGNIFICANT, Trend, trend_of
from streamgauge.measure.window import Window
from streamgauge.model.verdict import Verdict

SLOT_S = 5
"""Longer than a batch takes, so that a service which answers batch by batch is there all the time."""
MATTERS = 0.1
"""Memory grows where its rise is beyond chance and more than this share of its level."""


@dataclass(frozen=True)
class Durability:
    """Figures of a soak; None where there was too little to take them from."""

    slot_s: int
    slots: int
    available: int
    longest_outage_s: int
    """Slots in a row without an answer."""
    reprocessed: int
    """Outputs that had been written before."""
    reprocessed_share: float
    """Of all outputs."""
    memory_bytes: float | None
    """The median of the job's resident memory."""
    memory_bytes_per_h: float | None
    memory_rise_bytes: float | None
    memory_p_value: float | None

    @property
    def index(self) -> float | None:
        """The share of the slots in which the service was available."""
        return self.available / self.slots if self.slots else None

    @property
    def memory_grows(self) -> bool | None:
        """Whether memory rises beyond chance, and by an amount that matters."""
        if self.memory_rise_bytes is None or self.memory_bytes is None or self.memory_p_value is None:
            return None
        matters = self.memory_rise_bytes > MATTERS * self.memory_bytes
        return matters and self.memory_p_value < SIGNIFICANT

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"index": self.index, **asdict(self), "memory_grows": self.memory_grows}


def measure_durability(
    throughput: pa.Table, resources: pa.Table, window: Window, verdict: Verdict, *, start_ms: int
) -> Durability:
    """Over the time in which measured events came; `throughput` is of seconds since `start_ms`."""
    available = availability(
        throughput["in_events"].to_numpy(), throughput["consumed_events"].to_numpy(), _seconds(window, start_ms)
    )
    memory = _memory(resources, start_ms, max(window.end_ms, start_ms))
    known = memory.points > 0
    return Durability(
        slot_s=SLOT_S,
        slots=len(available),
        available=int(available.sum()),
        longest_outage_s=SLOT_S * _longest_run(~available),
        reprocessed=verdict.duplicated,
        reprocessed_share=verdict.duplicated / verdict.seen if verdict.seen else 0.0,
        memory_bytes=memory.level if known else None,
        memory_bytes_per_h=memory.slope * 3600 if known else None,
        memory_rise_bytes=memory.rise if known else None,
        memory_p_value=memory.p_value,
    )


def availability(in_events: NDArray[Any], consumed: NDArray[Any], seconds: int) -> NDArray[np.bool_]:
    """Of each whole slot of the first `seconds`: whether input was answered in it, or none was waiting as it began.

    Both are events of each second, to the end of the draining: what was answered beyond what came had been waiting
    before the first second.
    """
    before = max(int(np.sum(consumed)) - int(np.sum(in_events)), 0)
    slots = min(seconds, len(in_events)) // SLOT_S
    whole = slots * SLOT_S
    came, answered = (np.asarray(v)[:whole].reshape(slots, SLOT_S).sum(axis=1) for v in (in_events, consumed))
    waiting = before + np.cumsum(came - answered) - (came - answered)
    return np.asarray((answered > 0) | (waiting <= 0), dtype=np.bool_)


def _seconds(window: Window, start_ms: int) -> int:
    return max((window.end_ms - start_ms) // 1000 + 1, 0)


def _memory(resources: pa.Table, start_ms: int, end_ms: int) -> Trend:
    mine = resources.filter(pc.equal(resources["component"], "job"))
    at = mine["at_ms"].to_numpy().astype(np.float64)
    inside = (at >= start_ms) & (at <= end_ms)
    memory = np.asarray(mine["rss_bytes"].to_pandas(), np.float64)
    return trend_of((at[inside] - start_ms) / 1000, memory[inside])


def _longest_run(flags: NDArray[np.bool_]) -> int:
    longest = current = 0
    for flag in flags:
        current = current + 1 if flag else 0
        longest = max(longest, current)
    return longest
