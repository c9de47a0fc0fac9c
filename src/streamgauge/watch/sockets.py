"""This machine's TCP sockets with their byte counts, asked of Linux through netlink."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass

_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY = 4, 20
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_REQUEST_AND_DUMP = 0x301
_INET_DIAG_INFO = 2
_TCP_TIME_WAIT, _TCP_LISTEN, _TCP_NEW_SYN_RECV = 6, 10, 12
_STATES = 0xFFF & ~(1 << _TCP_TIME_WAIT | 1 << _TCP_LISTEN | 1 << _TCP_NEW_SYN_RECV)

_HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port
_REQUEST = struct.Struct("=BBBxI48x")  # family, protocol, extensions, states, any socket
_MESSAGE = struct.Struct("=4x40xQ16xI")  # …, cookie, …, inode
_ATTRIBUTE = struct.Struct("=HH")
_BYTES_AT = 120  # tcpi_bytes_acked and tcpi_bytes_received in struct tcp_info, Linux 4.2 and later
_BYTES = struct.Struct("=QQ")


@dataclass(frozen=True)
class TcpSocket:
    """One socket; its cookie is unique where an inode may be given out again, and an inode of 0 belongs to nobody."""

    cookie: int
    inode: int
    acked_bytes: int
    received_bytes: int


def open_netlink() -> socket.socket | None:
    """A socket to ask the kernel with, or None where there is no netlink."""
    if sys.platform != "linux":
        return None
    try:
        netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG)
    except OSError:
        return None
    netlink.settimeout(1.0)
    return netlink


def dump(netlink: socket.socket, family: int) -> Iterator[TcpSocket]:
    """Every connected socket of a family; OSError when the kernel refuses."""
    request = _REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (_INET_DIAG_INFO - 1), _STATES)
    header = _HEADER.pack(_HEADER.size + len(request), _SOCK_DIAG_BY_FAMILY, _REQUEST_AND_DUMP, family, 0)
    netlink.send(header + request)
    while True:
        answer = netlink.recv(1 << 16)
        at = 0
        while at + _HEADER.size <= len(answer):
            length, kind, _, _, _ = _HEADER.unpack_from(answer, at)
            if kind == _NLMSG_DONE:
                return
            if kind == _NLMSG_ERROR:
                raise OSError(-struct.unpack_from("=i", answer, at + _HEADER.size)[0], "the kernel refused the dump")
            found = _parse(answer, at + _HEADER.size, at + length)
            if found is not None:
                yield found
            at += (length + 3) & ~3


def _parse(answer: bytes, start: int, end: int) -> TcpSocket | None:
    cookie, inode = _MESSAGE.unpack_from(answer, start)
    at = start + _MESSAGE.size
    while at + _ATTRIBUTE.size <= end:
        length, kind = _ATTRIBUTE.unpack_from(answer, at)
        if kind == _INET_DIAG_INFO and length >= _ATTRIBUTE.size + _BYTES_AT + _BYTES.size:
            acked, received = _BYTES.unpack_from(answer, at + _ATTRIBUTE.size + _BYTES_AT)
            return TcpSocket(cookie, inode, acked, received)
        at += max(4, (length + 3) & ~3)
    return None


def socket_inodes(pid: int) -> set[int]:
    """Inodes of the sockets that a process holds; empty when it has ended."""
    inodes = set()
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208
            try:
                target = os.readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115
            except FileNotFoundError:
                continue
            if target.startswith("socket:["):
                inodes.add(int(target[8:-1]))
    except (FileNotFoundError, ProcessLookupError):
        pass
    return inodes
