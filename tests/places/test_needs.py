"""A cluster that is there is asked for what a run needs of it, before anything starts."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.model import UserError
from streamgauge.places import check_needs, driver_address, needs, on_this_machine, parse_place

LOCATION = {"checkpoint-location": "hdfs://files/checkpoints"}
SHARED = {**LOCATION, "spark.driver.host": "192.0.2.1"}


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine at which something answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> str:
    """A cluster of other machines, which answers."""
    monkeypatch.setattr(needs, "_check_answers", lambda *_: None)
    return "spark://192.0.2.7:7077"


def check(place: str, kafka: str | None = "192.0.2.8:9092", settings: dict[str, str] | None = None) -> None:
    check_needs(parse_place(place), kafka, SHARED if settings is None else settings)


@pytest.mark.parametrize("place", ["local", "local[4]", "cluster:3"])
def test_a_place_of_the_runs_own_needs_nothing(place: str) -> None:
    check(place, None, {})


def test_a_cluster_of_this_machine_needs_only_to_be_there(port: int) -> None:
    check(f"spark://127.0.0.1:{port}", None, {})
    check(f"spark://localhost:{port},127.0.0.1:{port}", None, {})


def test_one_that_does_not_answer_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        free = listening.getsockname()[1]
    with pytest.raises(UserError, match=f"nothing answers at 127.0.0.1:{free}"):
        check(f"spark://127.0.0.1:{free}")


def test_other_machines_need_a_log_that_they_reach(far: str) -> None:
    check(far)
    with pytest.raises(UserError, match=r"cannot reach the embedded broker.*--kafka HOST:PORT"):
        check(far, None)
    with pytest.raises(UserError, match="--kafka localhost:9092 is an address of this machine alone"):
        check(far, "localhost:9092")
    check(far, "127.0.0.1:9092,192.0.2.8:9092")


@pytest.mark.parametrize("location", ["", "memory", "a/folder"])
def test_other_machines_need_a_checkpoint_that_they_see(far: str, location: str) -> None:
    with pytest.raises(UserError, match="needs a checkpoint that all its machines see"):
        check(far, settings={**SHARED, "checkpoint-location": location})


def test_yarn_needs_the_configuration_of_hadoop_and_the_drivers_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(UserError, match="Set HADOOP_CONF_DIR"):
        check("yarn")
    monkeypatch.setenv("YARN_CONF_DIR", str(tmp_path))
    with pytest.raises(UserError, match=r"--set spark\.driver\.host=ADDRESS"):
        check("yarn", settings=LOCATION)
    check("yarn")


def test_kubernetes_needs_an_image(far: str) -> None:
    assert far
    with pytest.raises(UserError, match=r"--set spark\.kubernetes\.container\.image=IMAGE"):
        check("k8s://https://127.0.0.1:6443")
    check("k8s://https://192.0.2.7:6443", settings={**SHARED, "spark.kubernetes.container.image": "spark:4"})


@pytest.mark.parametrize(
    ("master", "found"),
    [
        ("spark://one:7077,two:7078", [("one", 7077), ("two", 7078)]),
        ("spark://[::1]:7077", [("::1", 7077)]),
        ("k8s://https://here:6443", [("here", 6443)]),
        ("k8s://here", [("here", 443)]),
        ("k8s://http://here", [("here", 80)]),
        ("flink://here:8081", [("here", 8081)]),
        ("yarn", []),
        ("local[8]", []),
    ],
)
def test_the_addresses_of_masters(master: str, found: list[tuple[str, int]]) -> None:
    assert needs.addresses(master) == found


def test_what_runs_on_this_machine() -> None:
    assert all(map(on_this_machine, ("local[2]", "spark://127.0.0.1:1", "spark://localhost:1", "spark://[::1]:1")))
    assert not any(map(on_this_machine, ("yarn", "spark://192.0.2.7:1", "spark://127.0.0.1:1,far:1", "k8s://far")))


def test_the_drivers_address_is_that_of_the_way_to_the_master() -> None:
    assert driver_address("spark://127.0.0.1:7077") == "127.0.0.1"
