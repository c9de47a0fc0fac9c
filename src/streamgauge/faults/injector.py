"""The injector: at each planned instant it hits a registered process, looks at the effect, and writes both down."""

from __future__ import annotations

import heapq
import signal
import threading
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from types import TracebackType

from streamgauge.faults import fault_verbs
from streamgauge.faults.registry import OwnVictim, Registry
from streamgauge.model.fault import FaultVerb, InjectedFault, PlannedFault, State

PATIENCE_S = 30.0
"""How long a fault waits for its target: an executor or a driver may be on its way back from the fault before."""
EFFECT_S = 5.0
_RETRY_S = 0.05
_LOOK_S = 0.002
_NS = 1_000_000_000
_PER_MS = 1_000_000


@dataclass(order=True)
class _Due:
    at_ns: int
    number: int
    ends: bool = field(compare=False)
    """Whether this is the end of the fault, or the fault itself."""


class Injector:
    """Injects a timeline from `start` to `close`; after `close` nothing that it suspended stands still.

    Faults are injected by one thread, so none waits for the conductor; what an owner starts again, it starts in
    threads beside it, so that a slow start delays no other fault.
    """

    def __init__(self, planned: Sequence[PlannedFault], registry: Registry, patience_s: float = PATIENCE_S) -> None:
        self._planned = tuple(planned)
        self._registry = registry
        self._patience_s = patience_s
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._zero_ns = 0
        self._victims: dict[int, OwnVictim] = {}
        self._injected: dict[int, InjectedFault] = {}
        self._backs: list[Future[None]] = []
        self._pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="bring-back")
        self._thread: threading.Thread | None = None

    def start(self, zero_epoch_ns: int) -> None:
        """Begin; `zero_epoch_ns` is the instant of the first measured event by the wall clock."""
        self._zero_ns = zero_epoch_ns
        self._registry.count_work({each.target for each in self._planned if each.busiest})
        self._thread = threading.Thread(target=self._run, name="injector", daemon=True)
        self._thread.start()

    @property
    def started(self) -> bool:
        """Whether the instants are counted already."""
        return self._thread is not None

    def awaited(self) -> tuple[InjectedFault, ...]:
        """Every fault of the timeline at its planned instant, as if nothing had been done yet; none before `start`."""
        return tuple(self._missed(each, None) for each in self._planned) if self.started else ()

    def injected(self) -> tuple[InjectedFault, ...]:
        """What has become of the faults whose time has come."""
        with self._lock:
            return tuple(self._injected[number] for number in sorted(self._injected))

    def close(self) -> tuple[InjectedFault, ...]:
        """End; what is suspended goes on, and what was not injected says so. Closing twice is allowed."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        self._pool.shutdown(wait=True)
        self._go_on()
        for number, planned in enumerate(self._planned):
            if number not in self._injected:
                came = self.started and time.time_ns() >= self._instant_ns(planned.at_s)
                problem = _lacking(planned, fault_verbs()[planned.verb]) if came else "the trial ended before its time"
                self._note(number, self._missed(planned, problem))
        return self.injected()

    def __enter__(self) -> Injector:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        waiting = [_Due(self._instant_ns(each.at_s), number, False) for number, each in enumerate(self._planned)]
        heapq.heapify(waiting)
        while waiting and not self._closing.is_set():
            due = waiting[0]
            wait_s = (due.at_ns - time.time_ns()) / _NS
            if wait_s > 0:
                self._closing.wait(wait_s)
                continue
            heapq.heappop(waiting)
            for more in self._end(due) if due.ends else self._begin(due):
                heapq.heappush(waiting, more)

    def _begin(self, due: _Due) -> list[_Due]:
        """Inject one fault; what it gives is due later: its end, or another attempt."""
        planned = self._planned[due.number]
        verb = fault_verbs()[planned.verb]
        victim = self._registry.find(planned.target, planned.order, _hit(verb), busiest=planned.busiest)
        if victim is None:
            if time.time_ns() - self._instant_ns(planned.at_s) < self._patience_s * _NS:
                return [replace(due, at_ns=time.time_ns() + round(_RETRY_S * _NS))]
            self._note(due.number, self._missed(planned, _lacking(planned, verb)))
            return []
        at_ns = time.time_ns()
        verb.strike(victim)
        effect = _seen(victim, verb.effect)
        problem = None if effect == verb.effect else f"the {planned.target} is {effect} and should be {verb.effect}"
        process = victim.process
        self._victims[due.number] = victim
        self._note(
            due.number,
            replace(
                self._missed(planned, problem),
                number=process.number,
                pid=process.pid,
                at_ms=at_ns // _PER_MS,
                effect=effect,
            ),
        )
        if planned.until_s is None:
            return []
        # The time away counts from when it went away, however late that was.
        return [_Due(at_ns + round((planned.until_s - planned.at_s) * _NS), due.number, True)]

    def _end(self, due: _Due) -> list[_Due]:
        self._backs.append(self._pool.submit(self._bring_back, due.number))
        return []

    def _bring_back(self, number: int) -> None:
        planned, victim = self._planned[number], self._victims[number]
        verb = fault_verbs()[planned.verb]
        assert verb.bring_back is not None
        problem = None
        effect: State | None = None
        try:
            verb.bring_back(victim)
            if verb.effect == "stopped":
                # One that was killed meanwhile has nothing to go on with.
                effect = _seen(victim, "running", "gone")
                problem = None if effect != "stopped" else f"the {planned.target} did not go on"
            else:
                there = self._registry.find(planned.target, [victim.process.number], ("running", "stopped"))
                effect = "running" if there is not None else "gone"
                problem = None if there is not None else f"the {planned.target} did not come back"
        except Exception as error:
            problem = f"the {planned.target} could not be brought back: {error}"
        with self._lock:
            known = self._injected[number]
            self._injected[number] = replace(
                known, until_ms=time.time_ns() // _PER_MS, back_effect=effect, problem=known.problem or problem
            )

    def _go_on(self) -> None:
        """Let everything that this injector suspended go on, whoever suspended it last."""
        for number, victim in self._victims.items():
            if fault_verbs()[self._planned[number].verb].effect == "stopped" and victim.state() == "stopped":
                victim.send(signal.SIGCONT)
                _seen(victim, "running", "gone")

    def _instant_ns(self, at_s: float) -> int:
        return self._zero_ns + round(at_s * _NS)

    def _note(self, number: int, injected: InjectedFault) -> None:
        with self._lock:
            self._injected[number] = injected

    def _missed(self, planned: PlannedFault, problem: str | None) -> InjectedFault:
        until_s = planned.until_s
        return InjectedFault(
            fault=planned.fault,
            verb=planned.verb,
            target=planned.target,
            number=None,
            pid=None,
            lasting=planned.lasting,
            planned_at_ms=self._instant_ns(planned.at_s) // _PER_MS,
            at_ms=None,
            effect=None,
            planned_until_ms=None if until_s is None else self._instant_ns(until_s) // _PER_MS,
            problem=problem,
        )


def _hit(verb: FaultVerb) -> Collection[State]:
    """The states in which a process can be hit: one that stands still cannot be suspended, but can be killed."""
    states: tuple[State, ...] = ("running", "stopped")
    if verb.of_stopped:
        states = ("stopped",)
    elif verb.effect == "stopped":
        states = ("running",)
    return states


def _lacking(planned: PlannedFault, verb: FaultVerb) -> str:
    state = "suspended" if verb.of_stopped else "running"
    return f"there was no {planned.target} {state} to {planned.verb}"


def _seen(victim: OwnVictim, *wanted: State) -> State:
    """The victim's state, waited for until it is a wanted one or the time is up."""
    deadline = time.monotonic() + EFFECT_S
    found = victim.state()
    while found not in wanted and time.monotonic() < deadline:
        time.sleep(_LOOK_S)
        found = victim.state()
    return found
