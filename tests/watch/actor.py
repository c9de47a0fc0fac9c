"""A process that does what its standard input says, one line at a time, and answers each with one line."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time

children: list[subprocess.Popen[str]] = []
connections: list[socket.socket] = []
listener: socket.socket | None = None


def burn(seconds: str) -> None:
    until_s = time.process_time() + float(seconds)
    while time.process_time() < until_s:
        sum(range(1000))


def spawn() -> int:
    child = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    children.append(child)
    return child.pid


def tell(number: str, *words: str) -> object:
    child = children[int(number)]
    assert child.stdin and child.stdout
    print(*words, file=child.stdin, flush=True)
    return json.loads(child.stdout.readline())


def end(number: str) -> int:
    child = children[int(number)]
    assert child.stdin
    child.stdin.close()
    return child.wait()


def end_unwaited(number: str) -> None:
    """End a child and return when it has ended, leaving it to be waited for later."""
    child = children[int(number)]
    assert child.stdin
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)


def run(*command: str) -> int:
    child = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    children.append(child)
    assert child.stdout
    child.stdout.readline()
    return child.pid


def used() -> float:
    return sum(os.times()[:4])


def listen(host: str) -> int:
    global listener
    listener = socket.create_server(
        (host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET, dualstack_ipv6=host == "::"
    )
    return int(listener.getsockname()[1])


def accept() -> None:
    assert listener
    connections.append(listener.accept()[0])


def connect(host: str, port: str) -> None:
    connections.append(socket.create_connection((host, int(port))))


def send(number: str, count: str) -> None:
    connections[int(number)].sendall(b"x" * int(count))


def receive(number: str, count: str) -> None:
    left = int(count)
    while left:
        left -= len(connections[int(number)].recv(min(left, 1 << 16)))


def close(number: str) -> None:
    connections[int(number)].close()


if __name__ == "__main__":
    for line in sys.stdin:
        verb, *words = line.split()
        print(json.dumps(globals()[verb](*words)), flush=True)
