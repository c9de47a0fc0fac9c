"""What a calibration predicts: latency of both paradigms over the rate, where they cross, and a load in simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamgauge.model.load import Load
from streamgauge.paradigms.calibration import Calibration, MeasuredPoint, SegmentCalibration
from streamgauge.paradigms.equations import switch_point
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.settings import SchedulerSettings
from streamgauge.paradigms.simulated_segment import SegmentWorld
from streamgauge.paradigms.simulation import Simulated, simulate, simulate_adaptive

FOR_S = 30.0
"""A rate that cannot be carried has no latency but for how long it lasts: a probe's length."""


@dataclass(frozen=True)
class Prediction:
    """Both paradigms at one constant rate; latencies are medians over the events of `FOR_S`, or what was asked for."""

    rate_per_s: float
    data_ms: float
    data_carries: bool
    operation_ms: float
    operation_carries: bool
    l_switch: float
    """Of the first segment, like L_up and L_down."""
    l_up: float
    l_down: float

    @property
    def better(self) -> Paradigm:
        """The paradigm of the lower latency."""
        return Paradigm.DATA_STREAM if self.data_ms <= self.operation_ms else Paradigm.OPERATION_STREAM

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "rate_per_s": self.rate_per_s,
            "data_stream_ms": self.data_ms,
            "data_stream_carries": self.data_carries,
            "operation_stream_ms": self.operation_ms,
            "operation_stream_carries": self.operation_carries,
            "better": self.better.value,
            "l_switch": self.l_switch,
            "l_up": self.l_up,
            "l_down": self.l_down,
        }


def predict(calibration: Calibration, rate_per_s: float, delta: float = 0.2, for_s: float = FOR_S) -> Prediction:
    """Both paradigms, all segments in the same one, at one rate."""
    latency = dict.fromkeys(Paradigm, 0.0)
    carries = dict.fromkeys(Paradigm, True)
    for paradigm in Paradigm:
        rate = rate_per_s
        for segment in calibration.segments:
            seconds, worked = _segment(segment, rate, paradigm, for_s)
            latency[paradigm] += seconds
            carries[paradigm] &= worked >= rate
            rate = min(rate, worked) * segment.magnification
    point = switch_point(calibration.segments[0].figures, rate_per_s, delta)
    data, operation = Paradigm.DATA_STREAM, Paradigm.OPERATION_STREAM
    return Prediction(
        rate_per_s,
        latency[data] * 1000,
        carries[data],
        latency[operation] * 1000,
        carries[operation],
        point.switch,
        point.up,
        point.down,
    )


def _segment(segment: SegmentCalibration, rate: float, paradigm: Paradigm, for_s: float) -> tuple[float, float]:
    """Median latency at a rate, and the rate that is worked off at most."""
    figures = segment.figures
    if paradigm is Paradigm.OPERATION_STREAM:
        speed = figures.operation_per_s
        behind_s = max(0.0, rate / speed - 1) * for_s / 2
        return figures.operation_latency_s(rate) + behind_s, speed
    speed = figures.data_per_s * (1 - segment.pause_s / segment.pause_every_s)
    if rate >= speed:
        # The queue grows evenly, so the median event waits as long as the one in the middle.
        return figures.data_transfer_s + (rate / speed - 1) * for_s / 2, speed
    recovering_s = segment.pause_s / (1 - rate / figures.data_per_s)
    # Only where more than half of the time is spent on recovering from pauses does the median feel them.
    half = segment.pause_every_s / 2
    waits_s = segment.pause_s * (1 - half / recovering_s) if recovering_s > half else 0.0
    return figures.data_transfer_s + waits_s, speed


def crossing_per_s(calibration: Calibration, low: float, high: float, for_s: float = FOR_S) -> float | None:
    """The lowest rate between the two at which micro-batches are faster; None where there is none."""
    grid = geometric(low, high, 200)
    above = next((at for at, rate in enumerate(grid) if _operation_wins(calibration, rate, for_s)), None)
    if above is None:
        return None
    if above == 0:
        return grid[0]
    under, over = grid[above - 1], grid[above]
    for _ in range(40):
        middle = math.sqrt(under * over)
        under, over = (under, middle) if _operation_wins(calibration, middle, for_s) else (middle, over)
    return over


def _operation_wins(calibration: Calibration, rate: float, for_s: float) -> bool:
    return predict(calibration, rate, for_s=for_s).better is Paradigm.OPERATION_STREAM


def geometric(low: float, high: float, count: int) -> list[float]:
    """Rates from low to high, each the same multiple of the one before."""
    if count < 2 or low == high:
        return [low]
    step = (high / low) ** (1 / (count - 1))
    return [*(low * step**place for place in range(count - 1)), high]


@dataclass(frozen=True)
class HeldAgainst:
    """A measured point with what was predicted for it."""

    point: MeasuredPoint
    predicted_ms: float

    @property
    def off(self) -> float:
        """How far the prediction is off: 0.1 is 10 % too high."""
        return self.predicted_ms / self.point.p50_ms - 1 if self.point.p50_ms else math.inf


def held_against_points(calibration: Calibration) -> list[HeldAgainst]:
    """Every measured point with its prediction."""
    found = []
    for point in calibration.points:
        made = predict(calibration, point.rate_per_s, for_s=point.for_s)
        data = point.paradigm is Paradigm.DATA_STREAM
        found.append(HeldAgainst(point, made.data_ms if data else made.operation_ms))
    return found


@dataclass(frozen=True)
class LoadPrediction:
    """A load in simulation: each fixed paradigm, and the scheduler's choice."""

    load: str
    lasting_s: float
    data: Simulated
    operation: Simulated
    adaptive: Simulated

    @property
    def ratio(self) -> float:
        """The adaptive mean of one-second medians over that of the better fixed paradigm."""
        return self.adaptive.mean_s / min(self.data.mean_s, self.operation.mean_s)

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        means = {"data_stream": self.data, "operation_stream": self.operation, "adaptive": self.adaptive}
        return {
            "load": self.load,
            "for_s": self.lasting_s,
            "mean_of_one_second_medians_ms": {name: found.mean_s * 1000 for name, found in means.items()},
            "ratio": self.ratio,
            "switches": self.adaptive.switches,
            "decisions": [decision.as_dict() for decision in self.adaptive.decisions],
        }


def simulate_load(
    calibration: Calibration, load: Load, lasting_s: float, settings: SchedulerSettings | None = None
) -> LoadPrediction:
    """What the load would do to both paradigms and to the scheduler, warm."""
    worlds = [_world(segment) for segment in calibration.segments]
    fixed = [simulate(load.events_by, lasting_s, worlds, paradigm=paradigm) for paradigm in Paradigm]
    adaptive = simulate_adaptive(load.events_by, lasting_s, worlds, settings, keep_ticks=True)
    return LoadPrediction(load.spelling, lasting_s, fixed[0], fixed[1], adaptive)


def _world(segment: SegmentCalibration) -> SegmentWorld:
    return SegmentWorld(
        segment.name,
        segment.figures,
        segment.magnification,
        boundary_every_s=segment.pause_every_s,
        boundary_pause_s=segment.pause_s,
    )


def predictions(
    calibration: Calibration, rates: Sequence[float], delta: float = 0.2, for_s: float = FOR_S
) -> list[Prediction]:
    """One prediction for each rate."""
    return [predict(calibration, rate, delta, for_s) for rate in rates]
