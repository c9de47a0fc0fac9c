"""Bytes that process trees moved over TCP, as Linux counts them for each socket."""

from __future__ import annotations

import socket
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from streamgauge.watch.sockets import TcpSocket, dump, open_netlink, socket_inodes
from streamgauge.watch.totals import GrowingTotal

_LOOKS_BEFORE_STRANGER = 2


@dataclass(frozen=True)
class Traffic:
    """Bytes over TCP since a component was first watched; each connection's handshake and end may add a byte."""

    rx_bytes: int
    tx_bytes: int


class NetworkMeter:
    """Sums the sockets of each component; traffic inside one component counts as both sent and received.

    A connection that opens and closes between two readings is not seen, and one that closed keeps what it had at the
    last reading.
    """

    def __init__(self) -> None:
        self._netlink = open_netlink()
        self._owner: dict[int, str] = {}
        self._looks_at_stranger: dict[int, int] = {}
        self._rx: dict[str, GrowingTotal] = {}
        self._tx: dict[str, GrowingTotal] = {}
        self._refused: set[str] = set()

    def add(self, component: str, pids: Iterable[int]) -> None:
        """Count for a component from now on: what its open sockets moved before does not count."""
        rx, tx = self._rx.setdefault(component, GrowingTotal()), self._tx.setdefault(component, GrowingTotal())
        self._looks_at_stranger.clear()
        sockets = self._sockets_by_component({component: pids}).get(component, [])
        rx.settle({s.cookie: s.received_bytes for s in sockets})
        tx.settle({s.cookie: s.acked_bytes for s in sockets})

    def read(self, pids_by_component: Mapping[str, Iterable[int]]) -> dict[str, Traffic]:
        """Totals of the components that were added; a component that cannot be measured is left out."""
        sockets = self._sockets_by_component(pids_by_component)
        if self._netlink is None:
            return {}
        traffic = {}
        for component in pids_by_component:
            mine = sockets.get(component, [])
            received: dict[Hashable, int | float] = {s.cookie: s.received_bytes for s in mine}
            acked: dict[Hashable, int | float] = {s.cookie: s.acked_bytes for s in mine}
            rx_bytes, tx_bytes = self._rx[component].grow(received), self._tx[component].grow(acked)
            if component not in self._refused:
                traffic[component] = Traffic(int(rx_bytes), int(tx_bytes))
        return traffic

    def close(self) -> None:
        """Give the netlink socket back."""
        if self._netlink is not None:
            self._netlink.close()
            self._netlink = None

    def _sockets_by_component(self, pids_by_component: Mapping[str, Iterable[int]]) -> dict[str, list[TcpSocket]]:
        if self._netlink is None:
            return {}
        try:
            sockets = [s for family in (socket.AF_INET, socket.AF_INET6) for s in dump(self._netlink, family)]
        except OSError:
            self.close()
            return {}
        self._find_owners(sockets, pids_by_component)
        found: dict[str, list[TcpSocket]] = {}
        for each in sockets:
            owner = self._owner.get(each.cookie)
            if owner is not None:
                found.setdefault(owner, []).append(each)
        return found

    def _find_owners(self, sockets: list[TcpSocket], pids_by_component: Mapping[str, Iterable[int]]) -> None:
        # Walking a broker's open files is dear, so it is done only while an unknown socket is about.
        looks = {s.cookie: self._looks_at_stranger.get(s.cookie, 0) for s in sockets}
        unknown = {
            s.inode: s.cookie
            for s in sockets
            if s.inode and s.cookie not in self._owner and looks[s.cookie] < _LOOKS_BEFORE_STRANGER
        }
        if not unknown:
            return
        for component, pids in pids_by_component.items():
            for pid in pids:
                try:
                    for inode in unknown.keys() & socket_inodes(pid):
                        self._owner[unknown[inode]] = component
                except PermissionError:
                    self._refused.add(component)
        for cookie in unknown.values():
            looks[cookie] += 1
        self._looks_at_stranger = {c: n for c, n in looks.items() if n and c not in self._owner}
