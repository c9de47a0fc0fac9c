"""How a figure changed between two sets of repeats, with a 95 % interval, and whether that shows a difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from streamgauge.measure.figures import Figure
from streamgauge.measure.repeats import t95
from streamgauge.measure.resampling import FEWEST_SECONDS, Spread, log_spreads
from streamgauge.measure.validity import Record

Verdict = Literal["better", "worse", "no difference shown"]
NO_DIFFERENCE: Verdict = "no difference shown"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Repeats:
    """The repeats of one trial, and the latency counts of the repeat where there is only one."""

    records: tuple[Record, ...]
    counts: pa.Table | None = field(default=None, compare=False)

    def values(self, figure: Figure) -> tuple[float, ...]:
        """The figure of every repeat that has it."""
        found = (figure.value(record) for record in self.records)
        return tuple(value for value in found if value is not None)

    def spread_within(self, figure: Figure) -> Spread | None:
        """How much the figure varies over the seconds of the only repeat; None where that cannot be told."""
        if self.counts is None or figure.counted is None:
            return None
        kind, statistic = figure.counted
        if kind not in self._spreads:
            self._spreads[kind] = log_spreads(self.counts, kind)
        return self._spreads[kind].get(statistic)

    @cached_property
    def _spreads(self) -> dict[str, dict[str, Spread]]:
        """Kind of latency → what was resampled: once for all figures of the kind."""
        return {}


@dataclass(frozen=True)
class Change:
    """What became of one figure from baseline to candidate; percents are None where nothing can be said."""

    figure: Figure
    baseline: tuple[float, ...]
    candidate: tuple[float, ...]
    percent: float | None = None
    low_percent: float | None = None
    high_percent: float | None = None
    """Infinite where the baseline cannot be told from zero."""
    basis: Literal["repeats", "seconds"] | None = None
    """What the interval was taken over; seconds where a side has one repeat; None where there is no interval."""
    verdict: Verdict = NO_DIFFERENCE
    note: str = ""

    @property
    def word(self) -> str:
        """The verdict in a word that fits the figure: faster, slower, less, more."""
        if self.verdict == NO_DIFFERENCE:
            return self.verdict
        return self.figure.words[0 if self.verdict == "better" else 1]

    @property
    def centres(self) -> tuple[float | None, float | None]:
        """The geometric mean of each side: the change is their ratio."""
        return centre(self.figure, self.baseline), centre(self.figure, self.candidate)

    @property
    def worse_percent(self) -> float | None:
        """By how much the figure got worse; negative where it got better."""
        if self.percent is None or self.figure.better is None:
            return None
        return self.percent if self.figure.better == "less" else -self.percent

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values; a bound without limit is null."""
        high = self.high_percent
        return {
            "figure": self.figure.name,
            "unit": self.figure.unit,
            "better": self.figure.better,
            "baseline": _side(self.figure, self.baseline),
            "candidate": _side(self.figure, self.candidate),
            "change_percent": self.percent,
            "low_percent": self.low_percent,
            "high_percent": None if high is None or math.isinf(high) else high,
            "interval_over": self.basis,
            "verdict": self.verdict,
            "word": self.word,
            "note": self.note,
        }


def _side(figure: Figure, values: Sequence[float]) -> dict[str, Any]:
    middle = float(np.median(values)) if values else None
    return {"repeats": len(values), "mean": centre(figure, values), "median": middle, "values": list(values)}


def centre(figure: Figure, values: Sequence[float]) -> float | None:
    """The geometric mean of the repeats; that value itself where all are alike."""
    if not values:
        return None
    if len(set(values)) == 1:
        return values[0]
    return None if _least(figure, values) <= 0 else math.exp(float(np.mean(_logs(figure, values))))


def compare(figure: Figure, baseline: Repeats, candidate: Repeats) -> Change:
    """The change of a figure in percent of the baseline, its interval and its verdict.

    On logarithms by Welch's t: a side of several repeats brings their variance, a side of one repeat that over its
    own seconds. The interval is then widened by half a step of the figure's resolution on both sides.
    """
    before, after = baseline.values(figure), candidate.values(figure)
    said = Change(figure, before, after)
    if not before or not after:
        lacking = (baseline if not before else candidate).records
        return _noted(said, figure.why_missing(lacking[0]) if lacking else "no trial")
    if _least(figure, before) <= 0 or _least(figure, after) <= 0:
        return _noted(said, "no ratio: a value is 0")
    moved = float(np.mean(_logs(figure, after)) - np.mean(_logs(figure, before)))
    said = Change(figure, before, after, _percent(moved))
    spreads = [_spread(figure, side, values) for side, values in ((baseline, before), (candidate, after))]
    if spreads[0] is None or spreads[1] is None:
        return _noted(said, _why_no_interval(figure, baseline, candidate))
    half = _half(spreads[0], spreads[1])
    low, high = _widened(figure, before, after, moved - half, moved + half)
    basis: Literal["repeats", "seconds"] = "repeats" if min(len(before), len(after)) > 1 else "seconds"
    return Change(
        figure, before, after, said.percent, _percent(low), _percent(high), basis, _verdict(figure, low, high)
    )


def _noted(change: Change, note: str) -> Change:
    return Change(change.figure, change.baseline, change.candidate, change.percent, note=note)


def _spread(figure: Figure, side: Repeats, values: Sequence[float]) -> Spread | None:
    if len(values) > 1:
        return Spread(float(np.var(_logs(figure, values), ddof=1)) / len(values), len(values) - 1)
    return side.spread_within(figure)


def _why_no_interval(figure: Figure, baseline: Repeats, candidate: Repeats) -> str:
    single = [side for side in (baseline, candidate) if len(side.values(figure)) == 1]
    if figure.counted is not None and all(side.counts is not None for side in single):
        return f"no interval: one repeat of fewer than {FEWEST_SECONDS} s"
    return "no interval: one repeat"


def _half(one: Spread, other: Spread) -> float:
    """Half of Welch's interval, with the degrees of freedom by Satterthwaite."""
    total = one.variance + other.variance
    if total <= 0:
        return 0.0
    degrees = total**2 / (one.variance**2 / one.degrees + other.variance**2 / other.degrees)
    return t95(max(1.0, degrees)) * math.sqrt(total)


def _widened(
    figure: Figure, before: Sequence[float], after: Sequence[float], low: float, high: float
) -> tuple[float, float]:
    """The interval where each side's value may lie half a step off, towards the other and away from it."""
    step = figure.resolution / 2
    if step == 0:
        return low, high
    first, second = (math.exp(float(np.mean(_logs(figure, values)))) for values in (before, after))
    return (
        low + _log((second - step) / second) - _log((first + step) / first),
        high + _log((second + step) / second) - _log((first - step) / first),
    )


def _verdict(figure: Figure, low: float, high: float) -> Verdict:
    if figure.better is None or (low <= _ROUNDING and high >= -_ROUNDING):
        return NO_DIFFERENCE
    return "worse" if (low > 0) == (figure.better == "less") else "better"


def _logs(figure: Figure, values: Sequence[float]) -> Any:
    return np.log(np.maximum(np.asarray(values, dtype=np.float64), figure.resolution / 2))


def _least(figure: Figure, values: Sequence[float]) -> float:
    return max(min(values), figure.resolution / 2)


def _log(value: float) -> float:
    return math.log(value) if value > _ROUNDING else -math.inf


def _percent(log_ratio: float) -> float:
    return math.expm1(log_ratio) * 100 if log_ratio < math.inf else math.inf
