"""The supervisor: starts a job again that died, from its checkpoint, as YARN or systemd would.

Deciding is apart from doing: `decide` is a function of what is known and of what is seen now, and `Supervisor` asks it
at every look and does what it says to whatever `Supervised` it was given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Protocol

from streamgauge.model.errors import EngineError

State = Literal["running", "backing-off", "waiting-for-slots", "down"]
Action = Literal["none", "restart"]


@dataclass(frozen=True)
class Policy:
    """How a job that died is treated."""

    limit: int = 10
    """Failures after which it stays down; 0 is never to restart."""
    first_wait_s: float = 0.25
    longest_wait_s: float = 8.0
    """The wait doubles with every failure up to this."""
    healthy_s: float = 30.0
    """A job that has run for so long has recovered: its failures are forgotten for the wait, not for the limit."""
    slots_wait_s: float = 120.0
    """How long free slots are waited for; that is no failure of the job."""


NO_RESTART = Policy(limit=0)


@dataclass(frozen=True)
class Notice:
    """Something that the supervisor saw or did."""

    what: Literal["died", "waits-for-slots", "restarts", "runs", "refused", "gave-up"]
    at_ms: int
    detail: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Seen:
    """What is seen of the job at one look."""

    alive: bool
    slots_free: bool = True
    """Whether there are as many free slots as the job needs; unknown counts as yes."""
    cause: str = ""


@dataclass(frozen=True)
class Known:
    """What a supervisor remembers between two looks."""

    state: State = "running"
    failures: int = 0
    restarts: int = 0
    since_s: float = 0.0
    """When the state began."""
    in_a_row: int = 0
    """Failures since the job was last healthy."""
    retry_at_s: float = 0.0


def wait_s(policy: Policy, in_a_row: int) -> float:
    """How long to wait before the restart after so many failures in a row: doubled each time, up to the longest."""
    return float(min(policy.longest_wait_s, policy.first_wait_s * 2.0 ** min(in_a_row - 1, 60)))


def decide(policy: Policy, known: Known, seen: Seen, now_s: float) -> tuple[Known, Action, str]:
    """The next state, what is to be done now, and why in words; after a restart the job must be reported anew."""
    if known.state == "down":
        return known, "none", ""
    if seen.alive:
        if known.state != "running":
            return replace(known, state="running", since_s=now_s), "none", "it runs"
        if known.in_a_row and now_s - known.since_s >= policy.healthy_s:
            return replace(known, in_a_row=0), "none", ""
        return known, "none", ""
    if known.state == "running":
        return _after_death(policy, known, seen, now_s)
    if known.state == "waiting-for-slots" and now_s - known.since_s >= policy.slots_wait_s and not seen.slots_free:
        return replace(known, state="down", since_s=now_s), "none", "there were no free slots for too long"
    if now_s < known.retry_at_s:
        return known, "none", ""
    if not seen.slots_free:
        if known.state == "waiting-for-slots":
            return known, "none", ""
        return replace(known, state="waiting-for-slots", since_s=now_s), "none", "it waits for free slots"
    return replace(known, state="running", restarts=known.restarts + 1, since_s=now_s), "restart", ""


def _after_death(policy: Policy, known: Known, seen: Seen, now_s: float) -> tuple[Known, Action, str]:
    healthy = now_s - known.since_s >= policy.healthy_s
    failures, in_a_row = known.failures + 1, 1 if healthy else known.in_a_row + 1
    if failures > policy.limit:
        why = f"it may not be restarted: {seen.cause}" if policy.limit == 0 else f"it failed {failures} times"
        return replace(known, state="down", failures=failures, since_s=now_s), "none", why
    pause_s = wait_s(policy, in_a_row)
    waiting = Known("backing-off", failures, known.restarts, now_s, in_a_row, now_s + pause_s)
    return waiting, "none", seen.cause


class NoSlotsError(EngineError):
    """A restart was refused because too few slots are free: no failure of the job."""


class Supervised(Protocol):
    """A job that can be started again from its checkpoint."""

    def alive(self) -> bool:
        """Whether its process and all its queries run."""
        ...

    def cause(self) -> str:
        """Why it is not alive, in one line."""
        ...

    def slots_free(self) -> bool:
        """Whether as many slots are free as it needs."""
        ...

    def lacking(self) -> list[str]:
        """What a restart from the checkpoint would need and does not have, in words; none where it may be tried."""
        ...

    def restart(self) -> None:
        """Start it from its checkpoint; raise NoSlotsError where slots are lacking, EngineError where it fails."""
        ...


class Supervisor:
    """Looks after one job; `look` is called again and again, and `notices` tell what happened."""

    def __init__(
        self, job: Supervised, policy: Policy, clock_s: Callable[[], float], wall_ms: Callable[[], int]
    ) -> None:
        self._job, self._policy, self._clock_s, self._wall_ms = job, policy, clock_s, wall_ms
        self._known = Known(since_s=clock_s())
        self.notices: list[Notice] = []

    @property
    def restarts(self) -> int:
        """How often the job was started again."""
        return self._known.restarts

    @property
    def state(self) -> State:
        """What the job is doing as far as the supervisor knows."""
        return self._known.state

    def look(self) -> State:
        """Look at the job once and do what is to be done."""
        alive = self._job.alive()
        cause = "" if alive else self._job.cause()
        # The slots of a job that runs are its own.
        free = alive or self._known.state in ("running", "down") or self._job.slots_free()
        before = self._known
        self._known, action, why = decide(self._policy, before, Seen(alive, free, cause), self._clock_s())
        self._tell(before.state, why)
        if action == "restart":
            self._restart(before)
        return self._known.state

    def _tell(self, before: State, why: str) -> None:
        after = self._known.state
        if after == before:
            return
        if before == "running":
            self._note("died", self._job.cause())
        if after == "waiting-for-slots":
            self._note("waits-for-slots", why)
        elif after == "down":
            self._note("gave-up", why)

    def _restart(self, before: Known) -> None:
        lacking = self._job.lacking()
        if lacking:
            self._known = replace(before, state="down")
            self._note("gave-up", "it cannot recover: " + "; ".join(lacking))
            return
        self._note("restarts", f"restart {self._known.restarts}")
        try:
            self._job.restart()
            self._note("runs")
        except NoSlotsError as error:
            since_s = before.since_s if before.state == "waiting-for-slots" else self._clock_s()
            retry_at_s = self._clock_s() + self._policy.first_wait_s
            self._known = replace(before, state="waiting-for-slots", since_s=since_s, retry_at_s=retry_at_s)
            self._note("waits-for-slots", error.cause)
        except EngineError as error:
            # The next look finds it dead and counts that as a failure.
            self._note("refused", error.cause)

    def _note(self, what: Any, detail: str = "") -> None:
        self.notices.append(Notice(what, self._wall_ms(), detail))
