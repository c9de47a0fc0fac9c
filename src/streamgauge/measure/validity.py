"""Whether a trial may be ranked: rules that invalidate it, never ones that move what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Record = Mapping[str, Any]

WARMUP_FACTOR, WARMUP_SLACK_MS = 2, 20
FALLING_SLACK_MS = 100
OVERLOAD_FACTOR, OVERLOAD_SLACK_MS = 3, 500


@dataclass(frozen=True)
class TrialFacts:
    """What the rules look at; medians are of event latency in milliseconds, None where there was none."""

    publisher_kept_up: bool
    publisher_detail: str
    """Why the publisher did not keep up, with its numbers."""
    events_published: int
    events_in_log: int
    ended_in_time: bool
    output_still_growing: bool
    load_is_paced: bool
    """Whether events come by a schedule; where all lie in the log already, each waits for those before it."""
    load_is_constant: bool
    warmup_events: int
    warmup_p50_ms: float | None
    """Over the last half of the warm-up: long enough that one pause of a real-time batch does not decide it."""
    measured_p50_ms: float | None
    first_third_p50_ms: float | None
    last_third_p50_ms: float | None
    negative_latencies: int = 0
    faults_missed: list[str] = field(default_factory=list)
    """Faults that could not be injected or undone, each with its reason."""
    stayed_down: bool = False
    """Whether the job was down at the end, and nobody was to bring it back."""


@dataclass(frozen=True)
class Validity:
    """Reasons for which the trial is not ranked, and warnings that a reader of its figures should know."""

    reasons: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    warmup: dict[str, Any] = field(default_factory=dict)
    """What the rule of the warm-up saw, for the record."""

    @property
    def valid(self) -> bool:
        """A trial is valid when no reason speaks against it."""
        return not self.reasons


def assess(facts: TrialFacts) -> Validity:
    """Apply every rule, so that a reader sees all that was wrong at once."""
    reasons: list[str] = []
    warnings: list[str] = []
    if not facts.publisher_kept_up:
        reasons.append(f"the publisher fell behind its schedule: {facts.publisher_detail}")
    if facts.events_in_log != facts.events_published:
        reasons.append(f"{facts.events_published} events were published, but {facts.events_in_log} are in the log")
    if facts.stayed_down:
        reasons.append("the job stayed down, so the input was not consumed")
    elif not facts.ended_in_time:
        reasons.append("the input was not consumed in the time allowed")
    reasons += [f"a fault could not be injected: {each}" for each in facts.faults_missed]
    if facts.output_still_growing:
        reasons.append("the output was still growing at the end")
    warmup = _judge_warmup(facts, reasons, warnings)
    _warn_of_overload(facts, warnings)
    if facts.negative_latencies:
        warnings.append(f"{facts.negative_latencies} latencies were below 0 ms and count as 0")
    return Validity(reasons, warnings, warmup)


def _judge_warmup(facts: TrialFacts, reasons: list[str], warnings: list[str]) -> dict[str, Any]:
    last, measured = facts.warmup_p50_ms, facts.measured_p50_ms
    record: dict[str, Any] = {
        "events": facts.warmup_events,
        "last_half_p50_ms": last,
        "measured_p50_ms": measured,
        "settled": None,
    }
    if not facts.load_is_constant or facts.warmup_events == 0:
        return record
    if last is None or measured is None:
        warnings.append("whether the warm-up settled is unknown: it or the measured window had no event latency")
        return record
    limit = WARMUP_FACTOR * measured + WARMUP_SLACK_MS
    falling = _still_falling(facts)
    record["settled"] = last <= limit and not falling
    if falling:
        reasons.append(falling)
    if last > limit:
        reasons.append(
            f"the warm-up did not settle: the median event latency of its last half was {last:g} ms, "
            f"above {WARMUP_FACTOR} × the measured {measured:g} ms + {WARMUP_SLACK_MS} ms"
        )
    return record


def _still_falling(facts: TrialFacts) -> str | None:
    """A backlog from the start-up may outlive the warm-up: then latency falls through the measured window."""
    first, last = facts.first_third_p50_ms, facts.last_third_p50_ms
    if first is None or last is None or first <= WARMUP_FACTOR * last + FALLING_SLACK_MS:
        return None
    return (
        f"the warm-up did not settle: the median event latency still fell from {first:g} ms in the first third of the "
        f"measured events to {last:g} ms in the last"
    )


def _warn_of_overload(facts: TrialFacts, warnings: list[str]) -> None:
    first, last = facts.first_third_p50_ms, facts.last_third_p50_ms
    if first is None or last is None or not facts.load_is_paced:
        return
    if last > OVERLOAD_FACTOR * first + OVERLOAD_SLACK_MS:
        warnings.append(
            f"overloaded: the median event latency rose from {first:g} ms in the first third of the measured events "
            f"to {last:g} ms in the last"
        )


def correct(record: Record) -> bool | None:
    """Whether the trial's answer was right; None where there is no verdict."""
    verdict = record.get("verdict")
    return None if verdict is None else bool(verdict["correct"])


def measured(record: Record) -> bool:
    """Whether the trial ran to its end and has figures."""
    return record.get("status", "done") == "done" and bool(record.get("latency_ms"))


def ranked(record: Record) -> bool:
    """Whether the trial's figures may be compared: measured, valid and right."""
    return measured(record) and bool(record.get("valid")) and correct(record) is not False


def why_not_measured(record: Record) -> str | None:
    """Why a trial has no figures: its gap or its error, in one line; None where it has."""
    gap = record.get("gap")
    if gap:
        return f"gap ({gap['kind']}): {gap['reason']}"
    if record.get("status") == "failed" or record.get("error"):
        return "failed: " + one_line(record.get("error") or "no reason was recorded")
    return None


def one_line(value: Any) -> str:
    """A text, or an error's cause and way out, without line breaks."""
    if isinstance(value, Mapping):
        value = ". ".join(str(value[k]) for k in ("cause", "way_out") if value.get(k))
    return " ".join(str(value).split())
