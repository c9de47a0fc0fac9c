"""Bytes between two real processes over loopback must be counted to both, within the bytes of opening and closing."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from typing import Any

import pytest

from streamgauge.watch.network import NetworkMeter, Traffic
from streamgauge.watch.sockets import open_netlink, socket_inodes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux counts bytes per socket")

HANDSHAKE_BYTES = 2
"""Opening and closing each take a sequence number, which the kernel counts as a byte."""
COUNT = 3_000_001


@pytest.fixture
def meter() -> Any:
    meter = NetworkMeter()
    probe = meter.read({})
    assert probe == {}
    if meter._netlink is None:
        pytest.skip("the kernel does not answer questions about sockets here")
    yield meter
    meter.close()


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def transfer(sender: Any, receiver: Any, number: int, count: int) -> None:
    """Move bytes and return when the other side has them all; in pieces that the system can hold on the way."""
    while count:
        piece = min(count, 50_000)
        sender("send", number, piece)
        receiver("receive", number, piece)
        count -= piece


def about(count: int) -> Any:
    return pytest.approx(count, abs=HANDSHAKE_BYTES)


@pytest.mark.parametrize(
    ("bound", "called"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::", "127.0.0.1")],
    ids=["IPv4", "IPv6", "IPv4 in IPv6"],
)
def test_bytes_of_two_processes(actor: Callable[[], Any], meter: NetworkMeter, bound: str, called: str) -> None:
    if ":" in bound and not has_ipv6():
        pytest.skip("no IPv6 on this machine")
    server, client = actor(), actor()
    meter.add("server", [server.pid])
    meter.add("client", [client.pid])
    both = {"server": [server.pid], "client": [client.pid]}
    assert meter.read(both) == {"server": Traffic(0, 0), "client": Traffic(0, 0)}
    port = server("listen", bound)
    client("connect", called, port)
    server("accept")
    transfer(client, server, 0, COUNT)
    transfer(server, client, 0, 70_000)
    traffic = meter.read(both)
    assert traffic["client"].tx_bytes == traffic["server"].rx_bytes + 1 == about(COUNT)
    assert traffic["client"].rx_bytes == about(70_000)
    assert traffic["server"].tx_bytes == about(70_000)
    assert traffic["server"].rx_bytes == about(COUNT)


def test_what_was_moved_before_adding_does_not_count(actor: Callable[[], Any], meter: NetworkMeter) -> None:
    server, client = actor(), actor()
    client("connect", "127.0.0.1", server("listen", "127.0.0.1"))
    server("accept")
    transfer(client, server, 0, 500_000)
    meter.add("client", [client.pid])
    transfer(client, server, 0, 1_000)
    assert meter.read({"client": [client.pid]})["client"] == Traffic(0, 1_000)


def test_a_closed_socket_keeps_its_bytes_and_a_new_one_adds_to_them(
    actor: Callable[[], Any], meter: NetworkMeter
) -> None:
    server, client = actor(), actor()
    meter.add("client", [client.pid])
    port = server("listen", "127.0.0.1")
    client("connect", "127.0.0.1", port)
    server("accept")
    transfer(client, server, 0, 200_000)
    first = meter.read({"client": [client.pid]})["client"]
    assert first.tx_bytes == about(200_000)
    client("close", 0)
    server("close", 0)
    closed = meter.read({"client": [client.pid]})["client"]
    assert closed.tx_bytes == about(200_000)
    assert closed.tx_bytes >= first.tx_bytes
    client("connect", "127.0.0.1", port)
    server("accept")
    transfer(client, server, 1, 100_000)
    assert meter.read({"client": [client.pid]})["client"].tx_bytes == pytest.approx(300_000, abs=2 * HANDSHAKE_BYTES)


def test_a_socket_is_found_after_strangers_were_given_up(actor: Callable[[], Any], meter: NetworkMeter) -> None:
    server, client = actor(), actor()
    client("connect", "127.0.0.1", server("listen", "127.0.0.1"))
    server("accept")
    late = actor()
    meter.add("late", [late.pid])
    for _ in range(4):
        assert meter.read({"late": [late.pid]})["late"] == Traffic(0, 0)
    late("connect", "127.0.0.1", server("listen", "127.0.0.1"))
    server("accept")
    late("send", 0, 12_345)
    server("receive", 1, 12_345)
    assert meter.read({"late": [late.pid]})["late"].tx_bytes == about(12_345)
    meter.add("server", [server.pid])
    transfer(client, server, 0, 4_000)
    assert meter.read({"server": [server.pid]})["server"] == Traffic(4_000, 0)


def test_an_ended_process_holds_no_socket(actor: Callable[[], Any]) -> None:
    ended = actor()
    ended("listen", "127.0.0.1")
    assert len(socket_inodes(ended.pid)) == 1
    ended.end()
    assert socket_inodes(ended.pid) == set()


def test_where_the_kernel_does_not_answer_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert open_netlink() is None
    meter = NetworkMeter()
    meter.add("me", [os.getpid()])
    assert meter.read({"me": [os.getpid()]}) == {}
    meter.close()
