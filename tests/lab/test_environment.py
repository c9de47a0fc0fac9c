"""The embedded cluster of a laboratory: shared while place and failure time-out are the same, ended when it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.engines import get_engine
from streamgauge.lab import environment
from streamgauge.lab.environment import Laboratory, session_settings
from streamgauge.places import parse_place


class Cluster:
    """Says what became of it."""

    made: list[Cluster]

    def __init__(self, workers: int, folder: Path, guard: Any, failure_timeout_s: float | None) -> None:
        self.workers, self.failure_timeout_s = workers, failure_timeout_s
        self.master, self.runs = f"spark://127.0.0.1:{7000 + len(self.made)}", False
        self.made.append(self)

    def start(self) -> None:
        self.runs = True

    def stop(self) -> None:
        self.runs = False


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    Cluster.made = []
    monkeypatch.setattr(environment, "EmbeddedCluster", Cluster)
    found: Any = Laboratory("run", lambda text: None)
    found.folder, found.guard = tmp_path, None
    return found


def test_a_cluster_is_shared_until_another_is_wanted(lab: Laboratory) -> None:
    three = parse_place("cluster:3")
    first = lab._master(three, None)
    assert lab._master(three, None) == first
    assert lab._master(three, 10.0) != first, "how long it waits for a silent worker is fixed when it starts"
    assert lab._master(parse_place("cluster:2"), 10.0) == Cluster.made[2].master
    assert lab._master(parse_place("local[4]"), 10.0) == "local[4]"
    assert [each.runs for each in Cluster.made] == [False, False, False] and lab.workers is None


def test_a_cluster_that_was_ended_is_followed_by_another(lab: Laboratory) -> None:
    three = parse_place("cluster:3")
    first = lab._master(three, 10.0)
    lab.end_workers()
    lab.end_workers()
    assert lab._master(three, 10.0) != first
    assert [each.runs for each in Cluster.made] == [False, True]


def test_the_failure_time_out_is_the_drivers_too_and_a_user_may_set_more() -> None:
    engine, three = get_engine("spark-realtime"), parse_place("cluster:3")
    found = session_settings(engine, three, {"spark.network.timeout": "7s"}, 10.0)
    assert (found["spark.network.timeout"], found["spark.executor.heartbeatInterval"]) == ("7s", "2500ms")
    for place, timeout_s in ((three, None), (parse_place("local"), 10.0)):
        assert session_settings(engine, place, {}, timeout_s) == engine.session_settings({})
