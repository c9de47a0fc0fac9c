from __future__ import annotations

import socket
from pathlib import Path

import pytest

from streamgauge.log import broker as broker_module
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.log.cluster import Cluster
from streamgauge.model.errors import LogError
from streamgauge.provision.guard import Guard
from streamgauge.provision.guardian import start_mark
from streamgauge.provision.work import WorkFolder

pytestmark = pytest.mark.kafka


def _ports(broker: EmbeddedBroker) -> list[int]:
    return [int(listener.rsplit(":", 1)[1]) for listener in broker.settings["listeners"].split(",")]


def _can_be_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def test_a_broker_leaves_nothing_even_when_its_port_is_taken_at_first(
    guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        free = broker_module._free_ports(3)
        offers = iter([[taken, free[0]], free[1:]])
        monkeypatch.setattr(broker_module, "_free_ports", lambda _count: next(offers))
        with WorkFolder.create("broker") as folder:
            with EmbeddedBroker(folder.path / "broker", guard) as broker:
                assert broker.alive() and _ports(broker) == free[1:]
                Cluster(broker.bootstrap).check()
                pid = broker.pid
                assert not any(map(_can_be_taken, _ports(broker)))
                assert "started" in broker.log_tail(200)
            assert not broker.alive() and start_mark(pid) is None
            assert all(map(_can_be_taken, _ports(broker)))
            broker.stop()
    assert not folder.path.exists()


def test_a_broker_that_cannot_start_says_why(work_folder: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(broker_module.SETTINGS, "message.max.bytes", "many")
    broker = EmbeddedBroker(work_folder / "refused", guard)
    with pytest.raises(LogError, match=r"ended while starting: .*many.*message.max.bytes") as raised:
        broker.start()
    assert "--kafka HOST:PORT" in raised.value.way_out
    assert "\n" not in str(raised.value)
    assert not broker.alive()


def test_the_broker_listens_on_loopback_below_the_ephemeral_ports(broker: EmbeddedBroker) -> None:
    assert all("//127.0.0.1:" in listener for listener in broker.settings["listeners"].split(","))
    assert all(port < 30000 for port in _ports(broker))
