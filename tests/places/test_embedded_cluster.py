"""The processes of an embedded cluster: who they are, how one comes back, and that none is left."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from streamgauge.model import EngineError
from streamgauge.places import EmbeddedCluster, failure_settings, parse_place
from streamgauge.provision.guard import Guard
from tests.places.a_cluster import embedded
from tests.waiting import until


def test_a_worker_that_is_killed_with_its_executor_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, guard = embedded(tmp_path, monkeypatch, 2)
    with cluster:
        assert cluster.master == "spark://127.0.0.1:7077"
        first = cluster.pids()
        assert set(first) == {"master", "worker-1", "worker-2"}
        until(lambda: set(cluster.executors()) == {1, 2})
        executor = cluster.executors()[2]
        assert psutil.Process(executor).ppid() == first["worker-2"]
        os.killpg(first["worker-2"], signal.SIGKILL)
        until(lambda: "worker-2" not in cluster.pids())
        assert set(cluster.executors()) <= {1}
        pid = cluster.start_worker(2)
        assert cluster.pids() == {**first, "worker-2": pid} and pid != first["worker-2"]
        assert guard.watched == set(cluster.pids().values())
        until(lambda: set(cluster.executors()) == {1, 2})
    assert guard.watched == set() and not any(map(psutil.pid_exists, (*first.values(), pid)))


def test_an_executor_that_is_killed_is_followed_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, _ = embedded(tmp_path, monkeypatch, 1)
    with cluster:
        until(cluster.executors)
        before = cluster.executors()[1]
        os.kill(before, signal.SIGKILL)
        until(lambda: cluster.executors().get(1, before) != before)


def test_a_master_comes_back_at_its_address_with_what_it_knew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, _ = embedded(tmp_path, monkeypatch, 1, failure_timeout_s=9.6)
    with cluster:
        first = cluster.pids()["master"]
        os.kill(first, signal.SIGKILL)
        until(lambda: "master" not in cluster.pids())
        pid = cluster.start_master()
        assert cluster.pids()["master"] == pid != first and cluster.master == "spark://127.0.0.1:7077"
        said, of_worker = (psutil.Process(cluster.pids()[role]).cmdline() for role in ("master", "worker-1"))
        assert said[said.index("--port") + 1] == "7077"
        assert "-Dspark.deploy.recoveryMode=FILESYSTEM" in said and "-Dspark.worker.timeout=10" in said
        assert "-Dspark.worker.timeout=10" in of_worker and "-Dspark.deploy.recoveryMode=FILESYSTEM" not in of_worker


def test_a_worker_that_ends_while_starting_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, guard = embedded(tmp_path, monkeypatch, 1)
    with cluster:
        java = tmp_path / "java"
        java.write_text("#!/bin/sh\necho no memory\n")
        with pytest.raises(EngineError, match="worker-1 ended while starting: no memory"):
            cluster.start_worker(1)
    assert guard.watched == set()


def test_driver_and_master_give_up_after_the_same_time() -> None:
    assert failure_settings(10) == {
        "spark.network.timeout": "10s",
        "spark.network.timeoutInterval": "2500ms",
        "spark.executor.heartbeatInterval": "2500ms",
        "spark.rpc.askTimeout": "120s",
        "spark.rpc.lookupTimeout": "120s",
    }
    assert failure_settings(0.2)["spark.network.timeout"] == "1s", "Spark counts whole seconds"


def test_one_worker_of_several_is_kept_spare() -> None:
    one, three = parse_place("cluster:1"), parse_place("cluster:3")
    assert (one.slots, one.spare_slots, three.slots, three.spare_slots) == (16, 0, 32, 16)
    assert parse_place("local[4]").spare_slots == 0


@pytest.mark.spark
def test_a_real_cluster_is_broken_and_mended(tmp_path: Path) -> None:
    with Guard() as guard, EmbeddedCluster(2, tmp_path, guard, failure_timeout_s=10) as cluster:
        first = cluster.pids()
        os.killpg(first["worker-1"], signal.SIGKILL)
        until(lambda: "worker-1" not in cluster.pids())
        assert cluster.start_worker(1) == cluster.pids()["worker-1"] != first["worker-1"]
        address = cluster.master
        os.killpg(first["master"], signal.SIGKILL)
        until(lambda: "master" not in cluster.pids())
        cluster.start_master()
        assert cluster.master == address and set(cluster.pids()) == set(first)
        until(lambda: "I have been elected leader! New state: RECOVERING" in cluster.log_text("master"))
    assert not any(map(psutil.pid_exists, first.values()))
