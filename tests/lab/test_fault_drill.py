"""The faults of a trial while it is conducted, on real processes: who is hit, who is brought back, what is told."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from streamgauge.lab.fault_drill import Endured, FaultDrill
from streamgauge.lab.planning import plan_trials, publishing_load
from streamgauge.lab.publishers import Publication, TrialPublishers
from streamgauge.lab.request import RunRequest
from streamgauge.load.process import PublisherProcess
from streamgauge.load.specification import PublisherSpec
from streamgauge.model.fault import InjectedFault
from streamgauge.model.job import Job
from streamgauge.places import EmbeddedCluster
from tests.load.test_resuming import SPEC
from tests.places.a_cluster import embedded
from tests.waiting import until

REQUEST = RunRequest(applications=("grep",), for_s=5, warmup_s=1)


@dataclass
class Children:
    """Real processes, ended after the test by their numbers."""

    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(["sleep", "60"], start_new_session=True)
        self.started.append(child)
        return child

    def end(self) -> None:
        for child in self.started:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


class Publisher(PublisherProcess):
    """A publisher as the drill sees one: a real process, and what it was told."""

    def __init__(self, spec: PublisherSpec, process: subprocess.Popen[bytes]) -> None:
        super().__init__(spec, process, Path("none"))
        self.process = process

    @property
    def start_at_epoch_ns(self) -> int | None:
        return self.spec.start_at_epoch_ns


class Guard:
    """Remembers what it was told to let go."""

    def __init__(self) -> None:
        self.watched: list[int] = []
        self.released: list[int] = []

    def watch(self, pid: int) -> None:
        self.watched.append(pid)

    def release(self, pid: int) -> None:
        self.released.append(pid)


class Publishers(TrialPublishers):
    """The publishers of a trial, of which each is a process that publishes nothing."""

    def __init__(self, children: Children, lab: Any, trial: Any, sampler: Any) -> None:
        super().__init__(lab, trial, {}, Path("none"), sampler, 0.0)
        self._children = children
        self.specs: list[PublisherSpec] = []
        spec = replace(SPEC, start_at_epoch_ns=time.time_ns())
        self._running["searches"] = Publication([self._start(spec, "searches")])

    def _start(self, spec: PublisherSpec, label: str) -> PublisherProcess:
        self.specs.append(spec)
        return Publisher(spec, self._children.start())

    @property
    def only(self) -> Any:
        (found,) = self.processes()
        return found


class Broker:
    """A broker as the laboratory has one."""

    def __init__(self, children: Children) -> None:
        self._children = children
        self.process = children.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def start_again(self) -> int:
        self.process = self._children.start()
        return self.pid


class Sampler:
    """Remembers what it is to watch."""

    def __init__(self) -> None:
        self.added: list[tuple[str, int]] = []

    def add(self, component: str, pid: int) -> None:
        self.added.append((component, pid))


@dataclass
class Lab:
    broker: Any
    cluster: Any = None
    workers: Any = None
    guard: Guard = field(default_factory=Guard)


@pytest.fixture
def children() -> Iterator[Children]:
    found = Children()
    yield found
    found.end()


def drill(children: Children, *faults: str) -> tuple[FaultDrill, Publishers]:
    (planned,) = plan_trials(RunRequest(**{**vars(REQUEST), "faults": faults}))
    load = publishing_load(planned.trial.load, planned.warmup_s)
    lab: Any = Lab(Broker(children))
    sampler: Any = Sampler()
    found = FaultDrill(lab, planned.trial, load, 0.0, sampler)
    publishers = Publishers(children, lab, planned.trial, sampler)
    found.publishers_started(publishers)
    return found, publishers


def conducted(found: FaultDrill, publishers: Publishers, over: Callable[[], bool]) -> tuple[InjectedFault, ...]:
    """Look after the trial as a conductor does until it is `over`, and a few times more."""

    def looked() -> bool:
        assert found.publishing(publishers), "events are still to come"
        found.begin(publishers)
        return over()

    until(looked)
    for _ in range(5):
        assert looked()
    return found.close().injected


def test_a_publisher_that_is_killed_is_followed_by_one_that_goes_on(children: Children) -> None:
    found, publishers = drill(children, "kill publisher at 100ms")
    first = publishers.only
    (fault,) = conducted(found, publishers, lambda: len(publishers.specs) == 2)
    assert fault.done and fault.pid == first.pid
    _, spec = publishers.specs
    assert spec.resumes and spec.start_at_epoch_ns == first.start_at_epoch_ns
    assert publishers.only.poll() is None
    assert ("publisher", publishers.only.pid) in found.sampler.added  # type: ignore[attr-defined]
    assert found.lab.guard.released == [first.pid]  # type: ignore[attr-defined]


def test_a_publisher_that_is_killed_for_a_time_stays_away_for_it(children: Children) -> None:
    found, publishers = drill(children, "kill publisher at 50ms for 300ms")
    (fault,) = conducted(found, publishers, lambda: len(publishers.specs) == 2)
    assert fault.done
    assert fault.until_ms is not None and fault.at_ms is not None and fault.until_ms - fault.at_ms >= 300


def test_a_broker_that_is_restarted_is_away_until_it_is_back_and_then_watched(children: Children) -> None:
    found, publishers = drill(children, "restart broker at 100ms")
    first = found.lab.broker
    assert first is not None
    pid = first.pid
    assert not found.broker_away
    found.begin(publishers)
    assert found.broker_away and not found.broker_hit
    (fault,) = conducted(found, publishers, lambda: bool(found.sampler.added))  # type: ignore[attr-defined]
    assert fault.done and fault.pid == pid != first.pid
    assert not found.broker_away and not found.broker_hit
    assert found.sampler.added == [("broker", first.pid)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("fault", "away_s"),
    [
        ("restart broker at 1s", 30),
        ("kill broker at 1s for 4s", 34),
        ("suspend broker at 1s for 4s", 4),
        ("kill driver at 1s", 0),
    ],
)
def test_a_publisher_waits_for_a_broker_that_has_to_start_again(children: Children, fault: str, away_s: float) -> None:
    found, _ = drill(children, fault)
    assert found.longest_away_s == pytest.approx(away_s)


def test_what_is_suspended_goes_on_when_the_drill_is_closed(children: Children) -> None:
    found, publishers = drill(children, "suspend broker at 50ms for 4s")
    broker = found.lab.broker
    assert broker is not None
    found.begin(publishers)
    until(lambda: found.broker_hit)
    assert psutil.Process(broker.pid).status() == psutil.STATUS_STOPPED
    assert found.longest_away_s == pytest.approx(4)
    endured = found.close()
    assert psutil.Process(broker.pid).status() != psutil.STATUS_STOPPED
    assert endured.hit == {"broker"} and endured.missed == []


def test_what_could_not_be_injected_is_told(children: Children) -> None:
    found, publishers = drill(children, "kill driver at 100ms", "suspend broker at 4s for 1s")
    found.begin(publishers)
    time.sleep(0.2)
    assert found.close().missed == [
        "kill driver at 100ms: there was no driver running to kill",
        "suspend broker at 4s for 1s: the trial ended before its time",
    ]


def test_a_trial_without_faults_is_left_alone(children: Children) -> None:
    found, publishers = drill(children)
    assert not found.active and not found.breaks("driver")
    found.begin(publishers)
    assert not found.injector.started and found.publishing(publishers)
    publishers.only.process.kill()
    publishers.only.process.wait()
    assert not found.publishing(publishers)
    assert found.close().injected == ()


@contextmanager
def in_cluster(
    folder: Path, monkeypatch: pytest.MonkeyPatch, children: Children, *faults: str
) -> Iterator[tuple[Any, EmbeddedCluster]]:
    """A drill in a cluster of three whose job is supervised, and the cluster."""
    (planned,) = plan_trials(RunRequest(**{**vars(REQUEST), "faults": faults, "place": "cluster:3"}))
    with embedded(folder, monkeypatch, 3)[0] as cluster:
        until(lambda: len(cluster.executors()) == 3)
        lab: Any = Lab(None, workers=cluster)
        sampler: Any = Sampler()
        found = FaultDrill(lab, planned.trial, publishing_load(planned.trial.load, 0.0), 0.0, sampler)
        driver: Any = SimpleNamespace(pid=children.start().pid)
        handle: Any = SimpleNamespace(started={}, job=JOB, failure=None)
        found.supervise(driver, handle)
        yield found, cluster


def gone(pid: int) -> bool:
    """Whether a process has ended; an orphan's corpse lies for a while where nobody collects it at once."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


JOB = Job("grep", "spark-microbatch", {}, {}, {}, "b:1", "checkpoint", "status")


def test_a_worker_of_a_cluster_is_hit_whole_and_brought_back_by_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: Children
) -> None:
    faults = ("kill worker at 50ms for 100ms",)
    with in_cluster(tmp_path, monkeypatch, children, *faults) as (found, cluster):
        before, executors = cluster.pids(), cluster.executors()
        found.begin_at(time.time_ns())
        until(lambda: any(each.until_ms for each in found.injector.injected()))
        endured = found.close()
        (fault,) = endured.injected
        assert fault.done and fault.number is not None and fault.pid == before[f"worker-{fault.number}"]
        assert gone(executors[fault.number]), "a node is a worker with its executors"
        after = cluster.pids()
        assert {role for role in after if after[role] != before[role]} == {f"worker-{fault.number}"}
        assert ("job", after[f"worker-{fault.number}"]) in found.sampler.added
        assert endured.broke_the_cluster


def test_an_executor_of_a_cluster_is_hit_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: Children
) -> None:
    faults = ("kill executor at 50ms", "restart master at 200ms")
    with in_cluster(tmp_path, monkeypatch, children, *faults) as (found, cluster):
        before, executors = cluster.pids(), cluster.executors()
        found.begin_at(time.time_ns())
        until(lambda: any(each.until_ms for each in found.injector.injected()))
        killed, restarted = found.close().injected
        assert killed.done and killed.number is not None and killed.pid == executors[killed.number]
        assert restarted.done and restarted.pid == before["master"] != cluster.pids()["master"]
        assert {role for role in before if before[role] != cluster.pids()[role]} == {"master"}


def test_a_fault_beside_the_cluster_leaves_it_to_the_trials_after() -> None:
    hit = InjectedFault("kill driver at 1s", "kill", "driver", 1, 7, "transient", 5, 5, "gone")
    assert not Endured((hit,)).broke_the_cluster
    assert Endured((replace(hit, target="executor"),)).broke_the_cluster
    assert not Endured((replace(hit, target="worker", at_ms=None),)).broke_the_cluster
