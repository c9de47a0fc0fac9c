"""Faults and recoveries in words: one spelling for the console and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamgauge.measure.repeats import Interval
from streamgauge.measure.validity import Record
from streamgauge.model.units import duration
from streamgauge.report.words import NOTHING, count, per_second

CLASSES = {
    "precise": "outputs as without a fault",
    "rollback": "nothing lost, outputs repeated or imprecise",
    "gap": "something lost",
}


def has_faults(record: Record) -> bool:
    """Whether something was to go wrong in the trial."""
    return bool((record.get("trial") or {}).get("faults"))


def faults_of(record: Record) -> str:
    """The faults that a trial asked for, as they are spelled."""
    return "; ".join((record.get("trial") or {}).get("faults") or ())


def seconds(value: float | None) -> str:
    """A time of recovery; a dash where there is none."""
    return NOTHING if value is None else f"{value:.1f} s" if value < 100 else duration(value)


def since_start_s(record: Record, at_ms: float) -> float:
    """An instant in seconds since the trial's first measured event."""
    return (at_ms - float(record.get("started_at_ms") or at_ms)) / 1000


def injection_words(record: Record, injected: Mapping[str, Any]) -> str:
    """'kill worker 2 at 30.0 s (planned 30.0 s): gone; back at 40.1 s', or why it could not be injected."""
    which = f" {injected['number']}" if injected.get("number") and injected["target"] in ("worker", "executor") else ""
    planned = f"{since_start_s(record, injected['planned_at_ms']):.1f} s"
    what = f"{injected['verb']} {injected['target']}{which}"
    if injected.get("at_ms") is None:
        return f"{what}, planned at {planned}: not injected, {injected.get('problem') or 'no reason was recorded'}"
    parts = [f"{what} at {since_start_s(record, injected['at_ms']):.1f} s (planned {planned}): {injected['effect']}"]
    if injected.get("until_ms") is not None:
        parts.append(f"back at {since_start_s(record, injected['until_ms']):.1f} s")
    if injected.get("problem"):
        parts.append(str(injected["problem"]))
    return "; ".join(parts) + f" ({injected['lasting']})"


def recovery_words(each: Mapping[str, Any]) -> str:
    """One disturbance in a sentence: what was noticed, how long nothing came, when all was as before."""
    gap = each.get("output_gap_s")
    parts = [
        "nobody noticed" if each.get("detect_s") is None else f"noticed after {seconds(each['detect_s'])}",
        "output did not come back" if gap is None else f"longest silence {seconds(gap)} ({_usual(each)})",
        _back(each),
        _backlog(each),
    ]
    if each.get("events_reprocessed"):
        parts.append(f"at least {count(each['events_reprocessed'])} events taken again")
    return ", ".join(part for part in parts if part)


def _usual(each: Mapping[str, Any]) -> str:
    usual = each.get("usual_gap_s")
    return "no output before to compare with" if usual is None else f"before the fault {seconds(usual)}"


def _back(each: Mapping[str, Any]) -> str:
    if each.get("band_ms") is None:
        return "too little before the fault to say when latency was as before"
    back = each.get("latency_back_s")
    if back is None:
        return "latency did not come back"
    return "latency stayed as it was" if back == 0 else f"latency as before after {seconds(back)}"


def _backlog(each: Mapping[str, Any]) -> str:
    drained, rate = each.get("drained_s"), each.get("catch_up_per_s")
    if drained is None:
        return f"the backlog of {count(each.get('backlog_peak'))} events was not drained"
    if rate is None:
        return ""
    return (
        f"backlog of {count(each['backlog_peak'])} events drained after {seconds(drained)} at up to {per_second(rate)}"
    )


def kept_words(record: Record) -> str:
    """What was lost and repeated, in the words of the guarantee: 'nothing lost; 12 outputs repeated, allowed'."""
    verdict = record.get("verdict") or {}
    bad = [
        f"{count(verdict[k])} {k.replace('_', ' ')}"
        for k in ("lost", "wrong", "unexpected", "out_of_order")
        if verdict.get(k)
    ]
    again = verdict.get("duplicated") or 0
    allowed = "allowed" if verdict.get("duplicates_allowed") else "forbidden"
    repeated = f"{count(again)} outputs repeated, {allowed}" if again else "nothing repeated"
    return f"{', '.join(bad) or 'nothing lost or wrong'}; {repeated}"


def spread(interval: Interval | None, unit: str = "", digits: int = 2) -> str:
    """A mean with half of its interval."""
    if interval is None:
        return NOTHING
    mean = f"{interval.mean:.{digits}f}"
    return f"{mean}{unit}" if interval.half is None else f"{mean} ± {interval.half:.{digits}f}{unit}"


def broken_off_words(record: Record, switch: Mapping[str, Any]) -> str:
    """A switch in the middle of which the job ended: 'the switch of count to data stream at 8.1 s was broken off'."""
    at = seconds(since_start_s(record, switch["stopped_s"] * 1000))
    return f"the switch of {switch['segment']} to {switch['to']} at {at} was broken off"


def story(record: Record) -> list[str]:
    """A trial with faults in sentences, in the order of time."""
    lines = [injection_words(record, each) for each in record.get("faults") or ()]
    recovery = record.get("recovery") or {}
    lines += [f"after '{each['fault']}': {recovery_words(each)}" for each in recovery.get("each") or ()]
    lines += [broken_off_words(record, each) for each in (record.get("scheduler") or {}).get("broken_off") or ()]
    restarts = (record.get("verdict") or {}).get("restarts") or 0
    if recovery:
        lines.append(f"{kept_words(record)}; {recovery['class']} recovery: {CLASSES[recovery['class']]}")
        lines.append(f"restarted {count(restarts)} time{'' if restarts == 1 else 's'} by the supervisor")
    return lines


def faulty(records: Sequence[Record]) -> list[Record]:
    """The records in which something was to go wrong."""
    return [record for record in records if has_faults(record)]
