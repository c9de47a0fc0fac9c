"""The supervisor by a clock of the test's own: it restarts, waits, gives up, and tells what it did."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.engines.supervisor import (
    NO_RESTART,
    Known,
    NoSlotsError,
    Policy,
    Seen,
    Supervisor,
    decide,
    wait_s,
)
from streamgauge.model.errors import EngineError

POLICY = Policy(limit=3, first_wait_s=1, longest_wait_s=4, healthy_s=10, slots_wait_s=20)


@dataclass
class FakeJob:
    """A job that dies when told and starts again unless told otherwise."""

    running: bool = True
    free: bool = True
    missing: list[str] = field(default_factory=list)
    refuses: list[Exception] = field(default_factory=list)
    started: int = 0

    def alive(self) -> bool:
        return self.running

    def cause(self) -> str:
        return "the JVM is gone"

    def slots_free(self) -> bool:
        return self.free

    def lacking(self) -> list[str]:
        return self.missing

    def restart(self) -> None:
        self.started += 1
        if self.refuses:
            raise self.refuses.pop(0)
        self.running = True


@dataclass
class Stage:
    """A job, its supervisor and a clock that moves when told."""

    job: FakeJob = field(default_factory=FakeJob)
    policy: Policy = POLICY
    now_s: float = 0.0

    def __post_init__(self) -> None:
        self.supervisor = Supervisor(self.job, self.policy, lambda: self.now_s, lambda: round(self.now_s * 1000))

    def until(self, end_s: float) -> Stage:
        """Look every tenth of a second."""
        while self.now_s < end_s - 1e-9:
            self.now_s = round(self.now_s + 0.1, 3)
            self.supervisor.look()
        return self

    @property
    def told(self) -> list[tuple[str, int]]:
        return [(notice.what, notice.at_ms) for notice in self.supervisor.notices]


def test_a_job_that_died_is_started_again_after_a_moment() -> None:
    stage = Stage().until(5)
    stage.job.running = False
    stage.until(8)
    assert stage.told == [("died", 5_100), ("restarts", 6_100), ("runs", 6_100)]
    assert (stage.supervisor.state, stage.supervisor.restarts, stage.job.started) == ("running", 1, 1)
    assert stage.supervisor.notices[0].detail == "the JVM is gone"


def test_a_job_that_keeps_dying_is_waited_for_longer_and_then_left() -> None:
    stage = Stage(FakeJob(refuses=[EngineError("no")] * 9))
    stage.job.running = False
    stage.until(60)
    assert stage.told == [
        ("died", 100),
        ("restarts", 1_100),
        ("refused", 1_100),
        ("died", 1_200),
        ("restarts", 3_200),
        ("refused", 3_200),
        ("died", 3_300),
        ("restarts", 7_300),
        ("refused", 7_300),
        ("died", 7_400),
        ("gave-up", 7_400),
    ]
    assert stage.supervisor.state == "down" and stage.job.started == 3
    assert stage.supervisor.notices[-1].detail == "it failed 4 times"


def test_with_no_restart_it_stays_down() -> None:
    stage = Stage(policy=NO_RESTART).until(1)
    stage.job.running = False
    stage.until(30)
    assert stage.told == [("died", 1_100), ("gave-up", 1_100)]
    assert stage.job.started == 0
    assert stage.supervisor.notices[-1].detail == "it may not be restarted: the JVM is gone"


def test_waiting_for_slots_is_no_failure() -> None:
    stage = Stage()
    stage.job.running = stage.job.free = False
    stage.until(15)
    assert stage.told == [("died", 100), ("waits-for-slots", 1_100)]
    stage.job.free = True
    stage.until(16)
    assert stage.told[2:] == [("restarts", 15_100), ("runs", 15_100)]
    assert stage.supervisor.restarts == 1


def test_a_restart_that_finds_no_slots_is_no_failure_either() -> None:
    stage = Stage(
        FakeJob(refuses=[NoSlotsError("CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT")] * 5), Policy(limit=1, first_wait_s=1)
    )
    stage.job.running = False
    stage.until(30)
    assert stage.supervisor.state == "running" and stage.job.running
    assert [what for what, _ in stage.told].count("waits-for-slots") == 5
    assert stage.supervisor.restarts == 1


def test_slots_are_not_waited_for_for_ever() -> None:
    stage = Stage()
    stage.job.running = stage.job.free = False
    stage.until(60)
    assert stage.supervisor.state == "down"
    assert stage.told[-1] == ("gave-up", 21_100)


def test_what_recovery_needs_is_asked_before_a_restart() -> None:
    stage = Stage(FakeJob(missing=["the log begins at 7", "its program has changed"]))
    stage.job.running = False
    stage.until(5)
    assert stage.job.started == 0 and stage.supervisor.state == "down"
    assert stage.supervisor.notices[-1].detail == "it cannot recover: the log begins at 7; its program has changed"


def test_a_job_that_was_healthy_for_long_is_restarted_quickly_again() -> None:
    stage = Stage(policy=Policy(limit=9, first_wait_s=1, longest_wait_s=8, healthy_s=10))
    for died_at in (1, 3, 30):
        stage.until(died_at)
        stage.job.running = False
        stage.until(died_at + 0.1)
    stage.until(40)
    restarts = [at for what, at in stage.told if what == "restarts"]
    assert restarts == [2_100, 5_100, 31_100]


@pytest.mark.parametrize(("failures", "waits"), [(1, 1), (2, 2), (3, 4), (4, 4), (1000, 4)])
def test_the_wait_doubles_up_to_the_longest(failures: int, waits: float) -> None:
    assert wait_s(POLICY, failures) == waits


_LOOKS = st.lists(st.tuples(st.booleans(), st.booleans(), st.floats(0, 5)), max_size=60)


@given(_LOOKS, st.integers(0, 4))
def test_it_never_restarts_more_often_than_the_limit_nor_before_its_time(looks: list, limit: int) -> None:
    policy = Policy(limit=limit, first_wait_s=1, longest_wait_s=4, healthy_s=10, slots_wait_s=20)
    known, now_s = Known(), 0.0
    for alive, free, passed_s in looks:
        now_s += passed_s
        before = known
        known, action, _ = decide(policy, known, Seen(alive, free), now_s)
        if action == "restart":
            assert free and not alive and now_s >= before.retry_at_s
        if before.state == "down":
            assert (known, action) == (before, "none")
    assert known.restarts <= limit
    assert known.failures <= limit + 1
