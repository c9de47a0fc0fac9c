"""The search for the highest rate that holds: doubling, bisection, and repeats at both sides of the edge.

It knows nothing of engines: a probe is a function of a rate, so that it can be tried on simulated ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from streamgauge.measure.sustainability import ProbeOutcome
from streamgauge.model import UserError

Probe = Callable[[float], ProbeOutcome]
LIMITS = {
    "engine": "the engine does not hold the next rate",
    "publisher": "the publisher fell behind at the next rate, so the engine may hold more",
    "asked": "no higher rate was asked for",
    "nothing": "no rate held",
    "probes": "the probes were used up before the edge was sure",
}
DIGITS = 3
BESIDE = 0.98
"""A rate at which the publisher fell behind is given up for one this share of it, once: a machine may have paused."""


@dataclass(frozen=True)
class SearchRange:
    """Where to look, and how closely."""

    start_per_s: float = 1_000.0
    least_per_s: float = 1.0
    most_per_s: float = math.inf
    tolerance: float = 0.1
    """The edge is found when a rate holds and one at most this share above it does not."""
    repeats: int = 3
    """The majority of so many probes decides each side of the edge."""
    most_probes: int = 40

    def __post_init__(self) -> None:
        if not 0 < self.least_per_s <= self.start_per_s <= self.most_per_s:
            raise UserError(
                f"a search from {self.start_per_s:g}/s up to {self.most_per_s:g}/s cannot begin",
                "Start above 0 and not above the highest rate",
            )
        if not 0.01 <= self.tolerance <= 1:
            raise UserError(f"a tolerance of {self.tolerance:.3g} is not between 1% and 100%", "Write it like 10%")
        if self.repeats < 1 or self.most_probes < 1:
            raise UserError("a search needs at least one probe and one repeat")


@dataclass(frozen=True)
class SearchResult:
    """The highest rate that held, how sure it is, and what lies above it."""

    rate_per_s: float | None
    above_per_s: float | None
    """The lowest rate above it that did not hold."""
    limit: Literal["engine", "publisher", "asked", "nothing", "probes"]
    confirmed: bool
    probes: tuple[ProbeOutcome, ...]

    @property
    def why(self) -> str:
        """What kept the rate from being higher, in words."""
        return LIMITS[self.limit]

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "rate_per_s": self.rate_per_s,
            "above_per_s": self.above_per_s,
            "limit": self.limit,
            "why": self.why,
            "confirmed": self.confirmed,
            "probes": [probe.as_dict() for probe in self.probes],
        }


@dataclass
class _Votes:
    holds: int = 0
    breaks: int = 0
    nothing: int = 0

    @property
    def standing(self) -> bool:
        """Whether the rate holds as far as is known; one probe that says nothing is enough against it."""
        return self.nothing == 0 and self.holds > self.breaks

    def decided(self, repeats: int) -> bool:
        return self.nothing > 0 or 2 * self.holds > repeats or 2 * self.breaks > repeats


@dataclass
class _Search:
    probe: Probe
    range: SearchRange
    votes: dict[float, _Votes] = field(default_factory=dict)
    seen: list[ProbeOutcome] = field(default_factory=list)
    given_up: set[float] = field(default_factory=set)

    def edge(self) -> tuple[float | None, float | None]:
        """The highest rate that stands below the lowest that does not, and that one."""
        fallen = min((rate for rate, votes in self.votes.items() if not votes.standing), default=None)
        holding = [r for r, v in self.votes.items() if v.standing and (fallen is None or r < fallen)]
        return max(holding, default=None), fallen

    def next_rate(self) -> float | None:
        """The rate to probe next, or the one beside it where it was given up; None when the edge is found."""
        while (rate := self._wanted()) in self.given_up:
            beside = rounded(BESIDE * rate)
            if beside not in self.votes:
                return beside
            self.votes[rate] = _Votes(nothing=1)
        return rate

    def _wanted(self) -> float | None:
        low, high = self.edge()
        if high is None:
            return self._higher(low)
        if low is None:
            return self._lower(high)
        between = rounded(math.sqrt(low * high))
        if high / low > 1 + self.range.tolerance and low < between < high:
            return between
        return self._undecided(low, high)

    def _higher(self, low: float | None) -> float | None:
        if low is None:
            return min(rounded(self.range.start_per_s), self.range.most_per_s)
        if low >= self.range.most_per_s:
            return self._undecided(low)
        return min(rounded(2 * low), self.range.most_per_s)

    def _lower(self, high: float) -> float | None:
        lower = rounded(high / 2)
        return lower if lower >= self.range.least_per_s and lower < high else self._undecided(high)

    def _undecided(self, *rates: float) -> float | None:
        return next((rate for rate in rates if not self.votes[rate].decided(self.range.repeats)), None)

    def take(self, rate: float) -> None:
        outcome = self.probe(rate)
        self.seen.append(outcome)
        if outcome.says == "nothing" and self._may_give_up(rate):
            self.given_up.add(rate)
            self.votes.pop(rate, None)
            return
        votes = self.votes.setdefault(rate, _Votes())
        match outcome.says:
            case "holds":
                votes.holds += 1
            case "breaks":
                votes.breaks += 1
            case _:
                votes.nothing += 1

    def _may_give_up(self, rate: float) -> bool:
        """Whether there is a rate beside it that has not been tried, above what holds."""
        beside = rounded(BESIDE * rate)
        below = max(
            (r for r, votes in self.votes.items() if votes.standing and r < rate), default=self.range.least_per_s
        )
        return rate not in {rounded(BESIDE * r) for r in self.given_up} and below < beside < rate

    def result(self, complete: bool) -> SearchResult:
        low, high = self.edge()
        limit: Literal["engine", "publisher", "asked", "nothing", "probes"] = "engine"
        if low is None:
            limit = "nothing"
        elif not complete:
            limit = "probes"
        elif high is None:
            limit = "asked"
        elif self.votes[high].nothing:
            limit = "publisher"
        return SearchResult(low, high, limit, complete and low is not None, tuple(self.seen))


def search(probe: Probe, where: SearchRange) -> SearchResult:
    """The highest rate that holds, by doubling from the start, then bisection, then repeats at both sides of the edge.

    A rate at which the publisher fell behind, even once, is never the result; it is the limit if the publisher falls
    behind at the rate beside it too.
    """
    state = _Search(probe, where)
    for _ in range(where.most_probes):
        rate = state.next_rate()
        if rate is None:
            return state.result(complete=True)
        state.take(rate)
    return state.result(complete=state.next_rate() is None)


def rounded(rate_per_s: float) -> float:
    """A rate with three digits that count: rates that differ by less are not told apart."""
    digits = DIGITS - 1 - math.floor(math.log10(rate_per_s))
    return float(round(rate_per_s, digits))
