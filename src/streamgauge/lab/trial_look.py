"""What can be seen of a trial while it is conducted, every half second, and what has happened since the look before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge.engines.spark.adaptive_engine import AdaptiveEngine
from streamgauge.lab.job_process import StatusReader
from streamgauge.lab.planning import resolved
from streamgauge.log.tail import Tail
from streamgauge.model import LogError
from streamgauge.model.fault import InjectedFault
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.watch.flow import Flow, FlowSeen, consumed_by_commits
from streamgauge.watch.newest import NewestLatency, NewestRate

if TYPE_CHECKING:
    from streamgauge.lab.conduct import Conductor

SWITCHING = "switching"
_FLOWING = ("warming up", "measuring", "draining")

Told = tuple[str, dict[str, Any]]
"""A kind of line, and what it says."""


class TrialLook:
    """Looks at one trial; used by one thread, and never waits for the conductor."""

    def __init__(self, conductor: Conductor) -> None:
        self._conductor = conductor
        self._flow: Flow | None = None
        self._rates = {name: NewestRate() for name in ("in", "out", "consumed")}
        self._latency = NewestLatency()
        self._faults: dict[int, InjectedFault] = {}
        self._notices = self._decisions = 0
        self._switches: dict[Path, StatusReader] = {}
        self._paced = conductor.load.job_starts_at_s is not None
        self._inputs = len(conductor.application.inputs)

    def sample(self, at_s: float, phase: str, done: float, total: float, *, watched: bool) -> dict[str, Any]:
        """The trial at this moment; what has to be asked of the log only where somebody watches."""
        seen = self._seen(phase, watched)
        published, consumed = self._published(seen), self._consumed(seen)
        p50_ms, p99_ms = self._latency.note(at_s, seen.latencies_ms if seen else ())
        late_ms = self._conductor.publishers.late_ms() if self._paced else None
        done, total = self._progress(phase, done, total, consumed)
        return {
            "phase": phase,
            "done": round(done),
            "total": round(total),
            "in_per_s": rounded(self._rates["in"].note(at_s, published)),
            "out_per_s": rounded(self._rates["out"].note(at_s, seen.written if seen else None)),
            "consumed_per_s": rounded(self._rates["consumed"].note(at_s, consumed)),
            "backlog": None if consumed is None or published is None else max(0, published - consumed),
            "p50_ms": p50_ms,
            "p99_ms": p99_ms,
            "late_ms": late_ms,
            "use": {
                name: [round(each.cpu_cores, 3), each.rss_bytes, each.heap_used_bytes]
                for name, each in self._conductor.sampler.latest().items()
            },
            "watched": seen is not None,
        }

    def happened(self) -> Iterator[Told]:
        """What has happened since: faults, what the supervisor did, decisions and switches of the engine."""
        yield from self._new_faults()
        job = self._conductor.drill.job
        notices = [] if job is None else list(job.notices)
        for each in notices[self._notices :]:
            words = f"{each.what.replace('-', ' ')}{f': {each.detail}' if each.detail else ''}"
            yield "event", {"kind": "supervisor", "text": f"the job {words}", "at_ms": each.at_ms}
        self._notices = len(notices)
        measured = self._conductor.measured
        if measured is None:
            return
        decisions = list(measured.decisions)
        for each in decisions[self._decisions :]:
            yield "event", {"kind": "decision", "text": each["words"]}
        self._decisions = len(decisions)
        for attempt in list(measured.attempts):
            path = attempt.keeps.switches
            if path is not None:
                yield from self._new_switches(path, (attempt.started or {}).get("starting_ms"))

    def close(self) -> None:
        """Let the log go."""
        if self._flow is not None:
            self._flow.close()
            self._flow = None

    def _seen(self, phase: str, watched: bool) -> FlowSeen | None:
        conductor = self._conductor
        handle, done = conductor.measured, conductor.done
        may = watched and phase in _FLOWING and conductor.trial.sink is None and not conductor.drill.broker_hit
        if not may or handle is None or done is None:
            self.close()
            return None
        if self._flow is None:
            cluster, started_ms = conductor.lab.cluster, int(handle.started["starting_ms"])
            self._flow = Flow(
                cluster, done.inputs, list(done.outputs.values()), lambda topic: Tail(cluster, topic), started_ms
            )
        try:
            return self._flow.look(handle.attempts[-1].committed)
        except LogError:
            return None

    def _published(self, seen: FlowSeen | None) -> int | None:
        if seen is not None:
            return seen.published
        done = self._conductor.done
        # Publishers that have told how it went are forgotten.
        ended = sum(each.events for each in done.publishers.values()) if done is not None else 0
        return ended or self._conductor.publishers.published()

    def _consumed(self, seen: FlowSeen | None) -> int | None:
        if seen is not None:
            return seen.consumed
        handle, done = self._conductor.measured, self._conductor.done
        if handle is None or done is None:
            return None
        return consumed_by_commits(done.inputs, handle.attempts[-1].committed)

    def _progress(self, phase: str, done: float, total: float, consumed: int | None) -> tuple[float, float]:
        """Of a paced load the warm-up and the measured events apart; of a drain what is consumed of all."""
        trial = self._conductor.trial
        warm = trial.warmup_events * self._inputs
        if total and self._paced and phase == "warming up":
            return min(done, warm), warm
        if total and self._paced and phase == "measuring":
            return max(0.0, done - warm), total - warm
        if not total and phase in ("measuring", "draining") and consumed is not None:
            whole = trial.events * self._inputs
            return min(consumed, whole), whole
        return done, total

    def _new_faults(self) -> Iterator[Told]:
        injector = self._conductor.drill.injector
        known = {_place(each): each for each in (*injector.awaited(), *injector.injected())}
        for number, (_, each) in enumerate(sorted(known.items())):
            before = self._faults.get(number)
            if each == before:
                continue
            self._faults[number] = each
            yield "fault", {"fault": number, **_instants(each)}
            words = fault_words(before, each)
            if words:
                yield "event", {"kind": "fault", "text": words}

    def _new_switches(self, path: Path, started_ms: int | None) -> Iterator[Told]:
        if path not in self._switches:
            self._switches[path] = StatusReader(path)
            for segment, paradigm in first_paradigms(self._conductor).items():
                yield "band", {"segment": segment, "paradigm": paradigm, "from_ms": started_ms}
        for step in self._switches[path].new():
            segment, to = step["segment"], step["to"]
            if step["what"] == "began":
                band = {"segment": segment, "paradigm": SWITCHING, "from_ms": round(1000 * step["stopped_s"])}
                yield "band", band
                continue
            yield "band", {"segment": segment, "paradigm": to, "from_ms": round(1000 * step["reading_s"])}
            why = f": {step['failure']}" if step.get("failure") else ""
            text = f"{segment}: runs as {to} after a gap of {step['gap_s']:.1f} s ({step['how']}){why}"
            yield "event", {"kind": "switch", "text": text}


def first_paradigms(conductor: Conductor) -> dict[str, str]:
    """Segment → the paradigm in which it is started; empty of an engine that has only one."""
    engine, trial = conductor.engine, conductor.trial
    if not isinstance(engine, AdaptiveEngine):
        return {}
    _, segments = engine.plan(resolved(trial.found_at, trial.stop_after), trial.settings)
    return {each.name: (each.pinned or Paradigm.DATA_STREAM).value for each in segments}


def fault_words(before: InjectedFault | None, now: InjectedFault) -> str:
    """What has just become of a fault, in a few words; empty while it is only awaited."""
    which = f" {now.number}" if now.number is not None and now.target in ("worker", "executor") else ""
    what = f"{now.verb} {now.target}{which}"
    if now.problem is not None:
        return f"{what}: {now.problem}"
    if now.until_ms is not None and (before is None or before.until_ms is None):
        return f"{what} is over: the {now.target} is {now.back_effect or 'back'}"
    if now.at_ms is not None and (before is None or before.at_ms is None):
        late = f", {now.at_ms - now.planned_at_ms:,} ms after its time"
        return f"{what}: the {now.target} is {now.effect}{late}"
    return ""


def rounded(value: float | None) -> float | None:
    """A rate, short."""
    return None if value is None else round(value, 1)


def _place(fault: InjectedFault) -> tuple[Any, ...]:
    """What tells the faults of a timeline apart before and after they are injected."""
    return fault.planned_at_ms, fault.verb, fault.target, fault.fault, fault.planned_until_ms or 0


def _instants(fault: InjectedFault) -> Mapping[str, Any]:
    return {
        "label": f"{fault.verb} {fault.target}",
        "planned_at_ms": fault.planned_at_ms,
        "planned_until_ms": fault.planned_until_ms,
        "at_ms": fault.at_ms,
        "until_ms": fault.until_ms,
        "problem": fault.problem,
    }
