"""Real signals on real processes: each fault has its effect, it is written down, and nothing stays suspended."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

import streamgauge.faults
from streamgauge.faults import injector as injecting
from streamgauge.faults.grammar import parse_fault
from streamgauge.faults.injector import PATIENCE_S, Injector
from streamgauge.faults.registry import Registry
from streamgauge.faults.timeline import Scene, timeline
from streamgauge.model.fault import InjectedFault
from tests.waiting import until

Start = Callable[..., subprocess.Popen[bytes]]
SCENE = Scene(1, {"driver": 1, "broker": 1, "worker": 3, "publisher": 1}, "here", length_s=60)
SLEEP = ["sleep", "60"]
BUSY = "while True: pass"
BUSY_ONCE = "sum(range(10**8))"
# A worker that has an executor in its own process group, and says so when both are there.
WORKER = [
    sys.executable,
    "-c",
    "import subprocess, time; c = subprocess.Popen(['sleep', '60']); print(c.pid, flush=True); time.sleep(60)",
]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts children in groups of their own and ends them, by their numbers."""
    children: list[subprocess.Popen[bytes]] = []

    def started(arguments: list[str] = SLEEP) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE, start_new_session=True)
        children.append(child)
        return child

    yield started
    for child in children:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


def inject(
    registry: Registry, *texts: str, patience_s: float = PATIENCE_S, due: int | None = None
) -> tuple[InjectedFault, ...]:
    """Inject the faults and wait until the first `due` of them, or all, have had their effect and their end."""
    planned = timeline([parse_fault(text) for text in texts], SCENE)
    with Injector(planned, registry, patience_s) as injector:
        injector.start(time.time_ns())
        until(lambda: over(injector, len(planned) if due is None else due))
        return injector.close()


def over(injector: Injector, due: int) -> bool:
    found = injector.injected()
    return len(found) >= due and all(
        each.problem or each.planned_until_ms is None or each.until_ms is not None for each in found
    )


def status(pid: int) -> str:
    return str(psutil.Process(pid).status())


def test_a_killed_process_is_gone_and_the_time_is_written_down(start: Start) -> None:
    registry, child = Registry(), start()
    registry.register("driver", child.pid)
    (found,) = inject(registry, "kill driver at 100ms")
    assert child.wait(PATIENCE_S) == -signal.SIGKILL
    assert (found.effect, found.pid, found.number, found.problem) == ("gone", child.pid, 1, None)
    assert found.done and found.at_ms is not None
    assert found.at_ms >= found.planned_at_ms
    assert InjectedFault.from_dict(json.loads(json.dumps(found.as_dict()))) == found


def test_a_suspended_process_stands_still_for_its_time_and_goes_on(start: Start) -> None:
    registry, child = Registry(), start()
    registry.register("driver", child.pid)
    planned = timeline([parse_fault("suspend driver at 50ms for 1s")], SCENE)
    with Injector(planned, registry) as injector:
        injector.start(time.time_ns())
        until(lambda: status(child.pid) == psutil.STATUS_STOPPED)
        until(lambda: status(child.pid) != psutil.STATUS_STOPPED)
        until(lambda: over(injector, 1))
        (found,) = injector.close()
    assert (found.effect, found.back_effect, found.problem) == ("stopped", "running", None)
    assert found.at_ms is not None and found.until_ms is not None
    assert found.until_ms - found.at_ms >= 1000


def test_a_suspended_process_can_be_continued_by_a_fault_of_its_own(start: Start) -> None:
    registry, child = Registry(), start()
    registry.register("driver", child.pid)
    suspended, continued = inject(registry, "suspend driver at 50ms", "continue driver at 200ms")
    assert (suspended.effect, continued.effect) == ("stopped", "running")
    assert continued.pid == child.pid and status(child.pid) != psutil.STATUS_STOPPED


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_nothing_stays_suspended_when_the_command_is_interrupted(start: Start, error: type[BaseException]) -> None:
    registry, child = Registry(), start()
    registry.register("driver", child.pid)
    planned = timeline([parse_fault("suspend driver at 20ms for 50s")], SCENE)
    with pytest.raises(error), Injector(planned, registry) as injector:
        injector.start(time.time_ns())
        until(lambda: status(child.pid) == psutil.STATUS_STOPPED)
        raise error
    assert status(child.pid) != psutil.STATUS_STOPPED


def test_a_worker_is_hit_with_its_executors(start: Start) -> None:
    registry, worker = Registry(), start(WORKER)
    assert worker.stdout is not None
    executor = int(worker.stdout.readline())
    registry.register("worker", worker.pid, 1)
    planned = timeline([parse_fault("suspend worker at 20ms for 1s"), parse_fault("kill worker at 2s")], SCENE)
    with Injector(planned, registry) as injector:
        injector.start(time.time_ns())
        until(lambda: status(worker.pid) == status(executor) == psutil.STATUS_STOPPED)
        until(lambda: psutil.STATUS_STOPPED not in (status(worker.pid), status(executor)))
        until(lambda: over(injector, 2))
        assert [each.effect for each in injector.close()] == ["stopped", "gone"]
    assert worker.wait(PATIENCE_S) == -signal.SIGKILL
    assert not psutil.pid_exists(executor) or status(executor) == psutil.STATUS_ZOMBIE


def test_an_executor_is_hit_without_its_worker(start: Start) -> None:
    registry, worker = Registry(), start(WORKER)
    assert worker.stdout is not None
    executor = int(worker.stdout.readline())
    registry.register("driver", executor)
    assert inject(registry, "kill driver at 10ms")[0].effect == "gone"
    assert worker.poll() is None


def test_what_descends_from_a_worker_in_a_group_of_its_own_is_hit_too(start: Start) -> None:
    """Spark's Python workers make themselves a group, and an executor leads none."""
    nested = "import os, time; os.setpgid(0, 0); print(os.getpid(), flush=True); time.sleep(60)"
    executor = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {nested!r}]).wait()"
    worker = start(
        [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {executor!r}])"]
    )
    assert worker.stdout is not None
    python_worker = psutil.Process(int(worker.stdout.readline()))
    middle = python_worker.parent()
    assert middle is not None and os.getpgid(python_worker.pid) == python_worker.pid
    registry = Registry()
    registry.register("worker", worker.pid)
    registry.looked_up_by("executor", lambda: {1: middle.pid})
    scene = Scene(1, {"worker": 1, "executor": 1}, "here", length_s=60)
    texts = ("suspend worker at 20ms for 1s", "kill executor at 2s")
    family = (worker.pid, middle.pid, python_worker.pid)
    planned = timeline([parse_fault(text) for text in texts], scene)
    with Injector(planned, registry) as injector:
        injector.start(time.time_ns())
        until(lambda: {status(each) for each in family} == {psutil.STATUS_STOPPED})
        until(lambda: psutil.STATUS_STOPPED not in {status(each) for each in family})
        until(lambda: over(injector, 2))
        suspended, killed = injector.close()
    assert (suspended.effect, killed.effect, killed.pid) == ("stopped", "gone", middle.pid)
    assert not python_worker.is_running() or python_worker.status() == psutil.STATUS_ZOMBIE


def test_a_process_that_comes_later_is_looked_up_when_it_is_to_be_hit(start: Start) -> None:
    registry, first = Registry(), start()
    there = {2: first.pid}
    registry.looked_up_by("executor", lambda: there)
    scene = Scene(1, {"executor": 3}, "here", length_s=60)
    planned = timeline([parse_fault("kill executor at 10ms"), parse_fault("kill executor at 300ms")], scene)
    with Injector(planned, registry) as injector:
        injector.start(time.time_ns())
        until(lambda: over(injector, 1))
        second = start()
        there[2] = second.pid
        there[3] = 2**22 + 12345
        until(lambda: over(injector, 2))
        found = injector.close()
    assert [(each.number, each.pid, each.effect) for each in found] == [(2, first.pid, "gone"), (2, second.pid, "gone")]


def test_several_workers_at_once_are_different_ones(start: Start) -> None:
    registry = Registry()
    for number in (1, 2, 3):
        registry.register("worker", start().pid, number)
    found = inject(registry, "suspend 2 workers at 20ms for 100ms", "kill 3 workers at 300ms")
    assert len({each.pid for each in found[:2]}) == 2
    assert {each.number for each in found[2:]} == {1, 2, 3}
    assert all(each.done for each in found)


def test_what_is_restarted_is_ended_in_order_and_started_by_its_owner(start: Start) -> None:
    registry, first = Registry(), start()
    registry.register("broker", first.pid)
    registry.restarted_by("broker", lambda number: start().pid)
    ended, killed = inject(registry, "restart broker at 20ms", "kill broker at 300ms")
    assert first.wait(PATIENCE_S) == -signal.SIGTERM
    assert (ended.effect, ended.back_effect) == ("gone", "running")
    assert killed.done and killed.pid not in (None, first.pid)


def test_a_transient_kill_is_started_again_after_its_time(start: Start) -> None:
    registry = Registry()
    registry.register("worker", start().pid, 1)
    registry.restarted_by("worker", lambda number: start().pid)
    (found,) = inject(registry, "kill worker at 20ms for 150ms")
    assert (found.effect, found.back_effect, found.lasting) == ("gone", "running", "transient")
    assert found.at_ms is not None and found.until_ms is not None and found.until_ms - found.at_ms >= 150


def test_a_restart_that_fails_is_a_problem(start: Start) -> None:
    registry = Registry()
    registry.register("broker", start().pid)

    def refuse(number: int) -> int:
        raise OSError("the port is taken")

    registry.restarted_by("broker", refuse)
    (found,) = inject(registry, "restart broker at 20ms")
    assert not found.done and found.problem == "the broker could not be brought back: the port is taken"


def test_a_fault_without_a_target_or_after_the_end_was_not_injected(start: Start) -> None:
    missed, late = inject(Registry(), "kill driver at 10ms", "kill broker at 50s", patience_s=0.1, due=1)
    assert (missed.done, missed.problem) == (False, "there was no driver running to kill")
    assert (late.done, late.at_ms, late.problem) == (False, None, "the trial ended before its time")


def test_a_fault_waits_for_its_target(start: Start) -> None:
    registry = Registry()
    planned = timeline([parse_fault("kill driver at 10ms")], SCENE)
    with Injector(planned, registry, PATIENCE_S) as injector:
        injector.start(time.time_ns())
        time.sleep(0.2)
        child = start()
        registry.register("driver", child.pid)
        until(lambda: over(injector, 1))
        (found,) = injector.close()
    assert found.done and found.at_ms is not None and found.at_ms - found.planned_at_ms >= 190


def test_only_processes_that_this_run_started_can_be_registered() -> None:
    for pid in (1, os.getppid(), os.getpid(), 2**22 + 12345):
        with pytest.raises(ValueError, match="was not started by this run"):
            Registry().register("driver", pid)


def test_a_number_that_was_given_to_another_process_is_not_hit(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    registry, child = Registry(), start()
    monkeypatch.setattr("streamgauge.faults.registry.start_mark", lambda pid: "another@1")
    registry.register("driver", child.pid)
    (found,) = inject(registry, "kill driver at 10ms", patience_s=0.1)
    assert not found.done and child.poll() is None


def test_no_process_is_looked_up_by_anything_but_its_number() -> None:
    """What could find a stranger's process stands nowhere in the room."""
    room = Path(streamgauge.faults.__file__).parent
    forbidden = {"process_iter", "pids", "pgrep", "pkill", "killall", "cmdline", "name_contains", "Popen", "system"}
    for path in room.glob("*.py"):
        names = {n.attr for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Attribute)}
        assert not names & forbidden, path


def test_an_effect_that_does_not_come_is_a_problem(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    registry, child = Registry(), start()
    registry.register("driver", child.pid)
    monkeypatch.setattr(injecting, "EFFECT_S", 0.05)
    monkeypatch.setattr("streamgauge.faults.registry.OwnVictim.send", lambda self, number: None)
    (found,) = inject(registry, "kill driver at 10ms")
    assert not found.done and found.problem == "the driver is running and should be gone"


def test_the_busiest_is_the_one_that_works_itself_or_through_its_executor(start: Start) -> None:
    """All are chosen from in an order that the seed draws, in which the one that works is not the first."""
    busy = [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"]
    (planned,) = timeline([parse_fault("kill busiest worker at 400ms")], SCENE)
    registry, working = Registry(), planned.order[-1]
    workers = {number: start(busy if number == working else SLEEP) for number in (1, 2, 3)}
    for number, worker in workers.items():
        registry.register("worker", worker.pid, number)
    (found,) = inject(registry, "kill busiest worker at 400ms")
    assert (found.number, found.pid, found.problem) == (working, workers[working].pid, None)


def test_what_was_done_before_the_trial_makes_none_the_busiest(start: Start) -> None:
    registry = Registry()
    rests = start([sys.executable, "-c", f"import time; {BUSY_ONCE}; print('done', flush=True); time.sleep(60)"])
    assert rests.stdout is not None and rests.stdout.readline() == b"done\n"
    works = start([sys.executable, "-c", BUSY])
    for number, child in enumerate((rests, works), 1):
        registry.register("worker", child.pid, number)
    registry.count_work(["worker"])
    until(lambda: psutil.Process(works.pid).cpu_times().user > 0.2)
    victim = registry.find("worker", [1, 2], ("running",), busiest=True)
    assert victim is not None and victim.process.number == 2
