"""The search on trials: what is planned, stored and told for each probe. Kafka and Spark are simulated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamgauge.lab import probing
from streamgauge.lab import run as lab_run
from streamgauge.lab.probing import SearchRequest, batch_interval_s, conduct_search, planned_probe
from streamgauge.lab.request import PlannedTrial
from streamgauge.lab.search import SearchRange
from streamgauge.measure.sustainability import ProbeOutcome
from streamgauge.model import LogError, UserError
from streamgauge.store import RunStore, trial_record
from tests.lab.listening import Remembering
from tests.measure.probes import PROBE_S, simulated_tables
from tests.report.sample_run import record as sample


class Hearing(Remembering):
    """Remembers the probes too."""

    def __init__(self) -> None:
        super().__init__()
        self.probes: list[tuple[int, ProbeOutcome]] = []

    def probed(self, number: int, outcome: ProbeOutcome) -> None:
        """Remember a probe."""
        self.probes.append((number, outcome))


class SimulatedEngine:
    """Serves so many events a second, with batches of a second; publishes at most so many."""

    def __init__(self, capacity: float, publisher: float = float("inf")) -> None:
        self.capacity, self.publisher = capacity, publisher
        self.error: dict[str, Any] | None = None
        self.broker_dies_at = float("inf")
        self.trials: list[PlannedTrial] = []
        self.discarded: list[PlannedTrial] = []
        self.dead = False
        self.answered_s: float | None = None

    @contextmanager
    def laboratory(self, *_: Any) -> Iterator[Any]:
        yield self

    def describe_log(self) -> dict[str, Any]:
        return {"kind": "embedded"}

    def discard(self, lab: Any, planned: PlannedTrial, phase: Any) -> float | None:
        self.discarded.append(planned)
        return self.answered_s

    def conduct(self, lab: Any, planned: PlannedTrial, number: int, listener: Any, writer: Any, keep: bool) -> Any:
        self.trials.append(planned)
        rate = float(planned.trial.load.removeprefix("constant:").removesuffix("/s"))
        self.dead = rate >= self.broker_dies_at
        if self.error is not None:
            record = trial_record(planned.trial, "failed", error=self.error)
            writer.add_trial(record)
            return record
        latency, throughput, p50, drain = simulated_tables(rate, self.capacity, 1.0)
        facts = sample(planned.trial.application, planned.trial.engine)
        facts["latency_ms"]["p50"] = p50
        facts["throughput"]["drain_s"] = drain
        facts["publisher"] |= {"kept_up": rate <= self.publisher, "kept_up_reason": "90 ms late"}
        record = {**facts, "trial": planned.trial.as_dict(), "load": planned.trial.load}
        folder = writer.add_trial(record, {"latency": latency, "throughput": throughput})
        (folder / "progress.jsonl").write_text(json.dumps({"durationMs": {"triggerExecution": 1000}}) + "\n")
        return record


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> SimulatedEngine:
    made = SimulatedEngine(20_000)
    monkeypatch.setattr(lab_run, "Laboratory", made.laboratory)
    monkeypatch.setattr(probing, "conduct_trial", made.conduct)
    monkeypatch.setattr(probing, "discard_trial", made.discard)
    monkeypatch.setattr(probing, "log_is_gone", lambda lab: made.dead)
    monkeypatch.setattr(probing, "check_before", lambda plan: None)
    monkeypatch.setattr(probing, "describe_machine", lambda: {"cores": 2})
    return made


def request(out: Path, **change: Any) -> SearchRequest:
    made = SearchRequest("wordcount", "spark-microbatch", where=SearchRange(1_000), for_s=PROBE_S, out=out)
    return replace(made, **change)


def test_every_probe_is_a_stored_trial_and_the_edge_is_found(simulated: SimulatedEngine, tmp_path: Path) -> None:
    listener = Hearing()
    outcome = conduct_search(request(tmp_path), listener)
    assert outcome.exit_code == 0
    assert outcome.result.rate_per_s is not None
    assert 18_000 <= outcome.result.rate_per_s <= 21_000
    stored = RunStore(tmp_path).open(outcome.run)
    assert (stored.run["status"], stored.run["trials"], len(stored.trials)) == ("complete",) + (
        len(listener.probes),
    ) * 2
    found = stored.run["search"]
    assert (found["slo"], found["limit"], found["confirmed"]) == ("p50<10s,drain<10s,cpu<80%", "engine", True)
    assert found["rate_per_s"] == outcome.result.rate_per_s
    assert [probe["rate_per_s"] for probe in found["probes"]] == [probe.rate_per_s for _, probe in listener.probes]
    assert [number for number, _ in listener.probes] == list(range(1, len(listener.probes) + 1))
    described = [json.dumps(each.trial.as_dict(), sort_keys=True) for each in simulated.trials]
    assert len(set(described)) == len(described), "repeats of one rate are told apart"


def test_a_probe_is_a_constant_load_over_all_inputs_together(tmp_path: Path) -> None:
    one = planned_probe(request(tmp_path), 1_000, 1)
    assert (one.trial.load, one.trial.events - one.trial.warmup_events) == ("constant:1000/s", 30_000)
    assert (one.warmup_s, one.timeout_s, one.settling_s) == (5.0, 60.0, 60.0)
    two = planned_probe(request(tmp_path, application="traffic-flow", stop_after="tumbling"), 1_000, 3)
    assert (two.trial.load, two.trial.repeat, two.trial.stop_after) == ("constant:500/s", 3, "tumbling")


def test_the_process_is_warmed_by_a_full_log_before_the_first_probe(simulated: SimulatedEngine, tmp_path: Path) -> None:
    conduct_search(request(tmp_path), Hearing())
    (warming,) = simulated.discarded
    assert (warming.trial.load, warming.trial.events, warming.settling_s) == ("preloaded", 50_000, 60.0)
    conduct_search(request(tmp_path, warmup_s=0.0), Hearing())
    assert len(simulated.discarded) == 1


def test_a_search_without_a_first_rate_begins_at_half_of_what_is_drained(
    simulated: SimulatedEngine, tmp_path: Path
) -> None:
    simulated.answered_s = 2.0
    left_open, bounded = Hearing(), Hearing()
    outcome = conduct_search(request(tmp_path, finds_start=True), left_open)
    assert left_open.probes[0][1].rate_per_s == 12_500, "50,000 events in two seconds, and the half of that"
    assert RunStore(tmp_path).open(outcome.run).run["search"]["start_per_s"] == 12_500
    conduct_search(request(tmp_path, finds_start=True, where=SearchRange(1_000, most_per_s=8_000)), bounded)
    assert bounded.probes[0][1].rate_per_s == 8_000
    given, unseen = Hearing(), Hearing()
    conduct_search(request(tmp_path), given)
    simulated.answered_s = None
    conduct_search(request(tmp_path, finds_start=True), unseen)
    assert given.probes[0][1].rate_per_s == unseen.probes[0][1].rate_per_s == 1_000


def test_a_publisher_that_falls_behind_limits_the_search(simulated: SimulatedEngine, tmp_path: Path) -> None:
    simulated.publisher = 5_000
    outcome = conduct_search(request(tmp_path), Hearing())
    assert outcome.result.limit == "publisher"
    assert outcome.result.rate_per_s is not None and 4_500 <= outcome.result.rate_per_s <= 5_000


def test_an_engine_that_holds_nothing_is_exit_code_99(simulated: SimulatedEngine, tmp_path: Path) -> None:
    simulated.error = {"kind": "EngineError", "cause": "it died", "exit_code": 5}
    outcome = conduct_search(request(tmp_path, where=SearchRange(100, least_per_s=50)), Hearing())
    assert (outcome.result.rate_per_s, outcome.exit_code) == (None, 99)
    assert outcome.result.probes[0].reasons == ("it died",)


def test_a_mistake_of_the_user_ends_the_search(simulated: SimulatedEngine, tmp_path: Path) -> None:
    simulated.error = {"kind": "UserError", "cause": "the oracle of 'count' failed", "exit_code": 2}
    with pytest.raises(UserError, match="the oracle of 'count' failed"):
        conduct_search(request(tmp_path), Hearing())
    assert len(simulated.trials) == 1
    assert RunStore(tmp_path).open("latest").run["status"] == "failed"


def test_a_broker_that_dies_ends_the_search_and_keeps_its_probes(simulated: SimulatedEngine, tmp_path: Path) -> None:
    simulated.broker_dies_at = 4_000
    with pytest.raises(LogError, match="the broker is gone"):
        conduct_search(request(tmp_path), Hearing())
    stored = RunStore(tmp_path).open("latest")
    assert (stored.run["status"], len(stored.trials)) == ("failed", 3)


def test_what_an_engine_cannot_run_is_said_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="spark-continuous cannot run wordcount: stage 'count' uses aggregate"):
        conduct_search(request(tmp_path, engine="spark-continuous"), Hearing())
    assert list(tmp_path.iterdir()) == []


def test_the_interval_is_that_of_the_batches(tmp_path: Path) -> None:
    path = tmp_path / "progress.jsonl"
    path.write_text("".join(json.dumps({"durationMs": {"triggerExecution": ms}}) + "\n" for ms in (500, 2500, 3000)))
    micro = planned_probe(request(tmp_path), 100, 1)
    assert batch_interval_s(micro, path) == 2.5
    slow = planned_probe(request(tmp_path, settings={"trigger": "5s"}), 100, 1)
    assert batch_interval_s(slow, path) == 5.0
    assert batch_interval_s(micro, tmp_path / "none") == 0.0
    assert batch_interval_s(planned_probe(request(tmp_path, engine="spark-realtime"), 100, 1), path) == 0.0
