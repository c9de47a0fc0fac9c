"""What a run tells while it runs, of a conductor that a test moves by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamgauge.engines.supervisor import Notice
from streamgauge.lab import trial_look
from streamgauge.lab.live import LiveRun, outcome
from streamgauge.lab.trial_look import fault_words, first_paradigms
from streamgauge.load import parse_load
from streamgauge.log.tail import TailRecord
from streamgauge.model import LogError, Trial
from streamgauge.model.fault import InjectedFault
from streamgauge.model.job import InputTopic
from streamgauge.paradigms.keeping import KeptFiles
from streamgauge.store import trial_record
from streamgauge.store.live import LIVE, LiveReader, LiveWriter, renew_watch
from streamgauge.watch.sampler import Sample

TRIAL = Trial("wordcount", "spark-adaptive", "constant:100/s", 1, events=1_500, warmup_events=500)
FAULT = InjectedFault("kill driver at 5s", "kill", "driver", None, None, "transient", 20_000, None, None)


class Injector:
    """Faults as a test says they are."""

    def __init__(self) -> None:
        self.planned: tuple[InjectedFault, ...] = ()
        self.done: tuple[InjectedFault, ...] = ()

    def awaited(self) -> tuple[InjectedFault, ...]:
        return self.planned

    def injected(self) -> tuple[InjectedFault, ...]:
        return self.done


class Log:
    """Two topics that grow as a test says; `away` while the broker is."""

    def __init__(self) -> None:
        self.ends = {"in": {0: 0, 1: 0}, "out": {0: 0}}
        self.asked, self.away = 0, False

    def partitions(self, topic: str) -> list[int]:
        return sorted(self.ends[topic])

    def ends_of(self, partitions: Any, timeout_s: float = 30) -> dict[str, dict[int, int]]:
        self.asked += 1
        if self.away:
            raise LogError("away")
        return {topic: dict(self.ends[topic]) for topic in partitions}


class Tail:
    """What the outputs end in."""

    records: list[TailRecord] = []
    open = 0

    def __init__(self, cluster: Any, topic: str) -> None:
        Tail.open += 1

    def look(self, ends: Any) -> list[TailRecord]:
        return Tail.records

    def close(self) -> None:
        Tail.open -= 1


class Job:
    """The measured job as far as it has told."""

    def __init__(self, keeps: KeptFiles) -> None:
        self.started = {"starting_ms": 1_000}
        self.committed: dict[str, Any] = {"q": {"in": {0: 0, 1: 0}}}
        self.decisions: list[dict[str, Any]] = []
        self.keeps = keeps
        self.attempts = [self]


@pytest.fixture
def conductor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(trial_look, "Tail", Tail)
    monkeypatch.setattr(trial_look, "first_paradigms", lambda conductor: {"count": "data stream"})
    Tail.records, Tail.open = [], 0
    sample = Sample(0, "job", 1.23456, 2**28, None, None, 2**27, None, None, None)
    return SimpleNamespace(
        trial=TRIAL,
        load=parse_load("constant:100/s"),
        application=SimpleNamespace(inputs={"lines": None}),
        sampler=SimpleNamespace(latest=lambda: {"job": sample}),
        publishers=SimpleNamespace(published=lambda: 700, late_ms=lambda: 3.5),
        drill=SimpleNamespace(injector=Injector(), job=None, broker_hit=False),
        lab=SimpleNamespace(cluster=Log()),
        measured=None,
        done=None,
        switches=tmp_path / "switches",
    )


@pytest.fixture
def live(tmp_path: Path) -> tuple[LiveRun, LiveReader]:
    run = LiveRun(LiveWriter(tmp_path))
    return run, LiveReader(tmp_path)


def start_job(conductor: Any) -> Job:
    conductor.done = SimpleNamespace(inputs={"lines": InputTopic("in")}, outputs={"count": "out"}, publishers={})
    conductor.measured = Job(KeptFiles(switches=conductor.switches))
    return conductor.measured


def said(reader: LiveReader, what: str) -> list[dict[str, Any]]:
    return [each for each in reader.new() if each["what"] == what]


def test_a_trial_is_told_from_its_plan_to_its_outcome(live: Any, conductor: Any, tmp_path: Path) -> None:
    run, reader = live
    run.planned("r1", [TRIAL, replace(TRIAL, partitions=4)])
    run.note("starting Kafka")
    run.begin(1, TRIAL, conductor)
    for done in (100.0, 600.0):
        run.phase(1, "warming up" if done < 500 else "measuring", done, 1_500.0)
        run.beat()
    record = trial_record(TRIAL, "failed", error={"cause": "it broke", "exit_code": 5})
    run.finished(1, record)
    run.beat()
    told = reader.new()
    assert [each["what"] for each in told] == [
        *("plan", "event", "trial", "event", "sample", "event", "sample", "outcome")
    ]
    assert [each["details"] for each in told[0]["trials"]] == ["2 partitions", "4 partitions"]
    assert [each["text"] for each in told if each["what"] == "event"] == ["starting Kafka", "warming up", "measuring"]
    samples = [each for each in told if each["what"] == "sample"]
    assert [(each["done"], each["total"]) for each in samples] == [(100, 500), (100, 1_000)]
    assert samples[0]["use"] == {"job": [1.235, 2**28, 2**27]} and samples[0]["late_ms"] == 3.5
    assert samples[0]["watched"] is False and samples[0]["out_per_s"] is None
    assert (told[-1]["trial"], told[-1]["good"]) == (1, False)
    assert run.taken_cost_s() > 0 and run.taken_cost_s() == 0, "what looking costs is in the trial's record"
    run.close("failed")
    assert not (tmp_path / LIVE).exists() and said(reader, "end")[0]["status"] == "failed"


def test_the_log_is_asked_only_while_somebody_watches(live: Any, conductor: Any, tmp_path: Path) -> None:
    run, reader = live
    run.begin(1, TRIAL, conductor)
    run.phase(1, "measuring", 700, 1_500)
    job, log = start_job(conductor), conductor.lab.cluster
    job.committed = {"q": {"in": {0: 300, 1: 200}}}
    run.beat()
    assert log.asked == 0 and Tail.open == 0
    unwatched = said(reader, "sample")[0]
    assert unwatched["backlog"] == 200, "published as the publisher tells it, less what is committed"
    renew_watch(tmp_path)
    log.ends = {"in": {0: 400, 1: 350}, "out": {0: 50}}
    Tail.records = [TailRecord(0, 49, 5_000, (4_980, 0, 349, 0))]
    run.beat()
    watched = said(reader, "sample")[0]
    assert (watched["watched"], watched["p50_ms"], watched["backlog"]) == (True, 20, 750 - 350 - 200)
    assert (log.asked, Tail.open) == (1, 1)
    log.away = True
    run.beat()
    assert said(reader, "sample")[0]["watched"] is False, "a broker that is away costs a look and nothing else"
    (tmp_path / "watched").unlink()
    run.beat()
    assert (log.asked, Tail.open) == (2, 0), "who goes takes the consumer along"
    renew_watch(tmp_path)
    log.away = False
    run.beat()
    assert (log.asked, Tail.open) == (3, 1)
    conductor.drill.broker_hit = True
    run.beat()
    assert (log.asked, Tail.open) == (3, 0), "a broker that a fault has hit is left alone"
    conductor.drill.broker_hit = False
    run.beat()
    run.phase(1, "verifying", 0, 0)
    run.beat()
    assert Tail.open == 0


def test_draining_is_told_by_what_is_consumed(live: Any, conductor: Any) -> None:
    run, reader = live
    run.begin(1, TRIAL, conductor)
    start_job(conductor).committed = {"q": {"in": {0: 600, 1: 600}}}
    run.phase(1, "draining", 0, 0)
    run.beat()
    sample = said(reader, "sample")[0]
    assert (sample["done"], sample["total"]) == (1_200, 1_500)


def test_faults_are_told_when_awaited_when_injected_and_when_over(live: Any, conductor: Any) -> None:
    run, reader = live
    run.begin(1, TRIAL, conductor)
    injector = conductor.drill.injector
    injector.planned = (FAULT,)
    run.beat()
    run.beat()
    first = reader.new()
    assert [each["what"] for each in first].count("fault") == 1, "what has not changed is not told again"
    assert [each["planned_at_ms"] for each in first if each["what"] == "fault"] == [20_000]
    injector.done = (replace(FAULT, at_ms=20_004, effect="gone", pid=7),)
    run.beat()
    injector.done = (replace(FAULT, at_ms=20_004, effect="gone", pid=7, until_ms=23_000, back_effect="running"),)
    conductor.drill.job = SimpleNamespace(notices=[Notice("died", 20_100, "killed"), Notice("runs", 23_000)])
    run.beat()
    told = reader.new()
    assert [(each["fault"], each["at_ms"], each["until_ms"]) for each in told if each["what"] == "fault"] == [
        (0, 20_004, None),
        (0, 20_004, 23_000),
    ]
    assert [each["text"] for each in told if each["what"] == "event"] == [
        "kill driver: the driver is gone, 4 ms after its time",
        "kill driver is over: the driver is running",
        "the job died: killed",
        "the job runs",
    ]
    assert fault_words(None, replace(FAULT, problem="there was none")) == "kill driver: there was none"


def test_paradigms_and_switches_become_bands(live: Any, conductor: Any) -> None:
    run, reader = live
    run.begin(1, TRIAL, conductor)
    job = start_job(conductor)
    run.beat()
    assert [(e["segment"], e["paradigm"], e["from_ms"]) for e in said(reader, "band")] == [
        ("count", "data stream", 1_000)
    ]
    steps: list[dict[str, Any]] = [
        {"what": "began", "segment": "count", "to": "operation stream", "how": "drain", "stopped_s": 9.5},
        {"what": "done", "segment": "count", "to": "operation stream", "how": "drain", "reading_s": 10.25},
    ]
    steps[1] |= {"gap_s": 0.75, "failure": ""}
    conductor.switches.write_text("".join(json.dumps(each) + "\n" for each in steps))
    job.decisions.append({"words": "count: switch to operation stream"})
    run.beat()
    told = reader.new()
    assert [(e["paradigm"], e["from_ms"]) for e in told if e["what"] == "band"] == [
        ("switching", 9_500),
        ("operation stream", 10_250),
    ]
    assert [e["text"] for e in told if e["what"] == "event"] == [
        "count: switch to operation stream",
        "count: runs as operation stream after a gap of 0.8 s (drain)",
    ]


def test_what_goes_wrong_in_looking_costs_a_beat(live: Any, conductor: Any) -> None:
    run, reader = live
    run.begin(1, TRIAL, conductor)
    conductor.publishers.late_ms = lambda: 1 / 0
    run.beat()
    assert said(reader, "sample") == []
    conductor.publishers.late_ms = lambda: 1.0
    run.beat()
    assert len(said(reader, "sample")) == 1


def test_a_laboratory_that_nobody_listens_to_tells_nothing(conductor: Any) -> None:
    quiet = LiveRun()
    with quiet:
        quiet.planned("r", [TRIAL])
        quiet.begin(1, TRIAL, conductor)
        quiet.phase(1, "measuring", 0, 0)
        quiet.beat()
    quiet.close("complete")


def test_first_paradigms_are_the_engines_own() -> None:
    from streamgauge.engines import get_engine

    def of(engine: str, **settings: str) -> dict[str, str]:
        trial = replace(TRIAL, engine=engine, settings=settings)
        return first_paradigms(SimpleNamespace(engine=get_engine(engine), trial=trial))  # type: ignore[arg-type]

    assert of("spark-microbatch") == {}
    assert set(of("spark-adaptive").values()) == {"data stream"}
    assert set(of("spark-adaptive", **{"pinned.count": "operation"}).values()) == {"operation stream"}


def test_an_outcome_is_a_word_and_whether_it_is_well() -> None:
    gap = trial_record(TRIAL, "gap", gap={"kind": "never", "reason": "it has no joins"})
    assert outcome(gap)[1] is None
