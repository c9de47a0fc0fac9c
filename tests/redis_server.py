"""A real Redis, or Valkey, for tests: found on the machine or installed, on loopback, nothing kept on disk."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from streamgauge.model.errors import LogError
from streamgauge.provision.guard import Guard
from streamgauge.provision.processes import end_process, start_child

HOST = "127.0.0.1"
PROGRAMS = ("redis-server", "valkey-server")
INSTALL_S = 120
START_S = 10
ATTEMPTS = 3


@contextlib.contextmanager
def running_redis(folder: Path, guard: Guard) -> Iterator[str]:
    """The URL of a server of our own; the test is skipped where no server can be had."""
    program = server_program()
    for attempt in range(ATTEMPTS):
        port = _free_port()
        arguments = [program, "--port", str(port), "--bind", HOST, "--dir", str(folder)]
        arguments += ["--save", "", "--appendonly", "no", "--logfile", str(folder / f"server-{attempt}.log")]
        process = start_child(arguments, guard)
        try:
            if _answers(process, f"redis://{HOST}:{port}/0"):
                yield f"redis://{HOST}:{port}/0"
                return
        finally:
            end_process(process, 5, guard)
    logs = "\n".join(log.read_text()[-2000:] for log in sorted(folder.glob("server-*.log")))
    raise AssertionError(f"{program} did not start\n{logs}")


@cache
def server_program() -> str:
    """The server's program: the machine's own, or that of Debian's package where it may be installed."""
    found = _found()
    if found is None:
        why = _install()
        found = _found()
        if found is None:
            pytest.skip(f"no Redis: neither {' nor '.join(PROGRAMS)} is installed, and {why}")
    return found


def _found() -> str | None:
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


def _install() -> str:
    """Try Debian's package manager, and say in words why there is still no server if there is none."""
    if shutil.which("apt-get") is None:
        return "there is no apt-get to install one with"
    if os.geteuid() != 0:
        return "only root may install one"
    # RUNLEVEL=1 keeps the package from starting a service of its own.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    commands = [["apt-get", "install", "-y", "--no-install-recommends", "redis-server"]]
    commands = [*commands, ["apt-get", "update"], *commands]
    deadline = time.monotonic() + INSTALL_S
    for command in commands:
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, timeout=max(1.0, deadline - time.monotonic())
            )
        except subprocess.TimeoutExpired:
            return f"installing one took more than {INSTALL_S} s"
        if command[1] == "install" and done.returncode == 0:
            return "its package has no server"
    return "apt-get could not install one"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _answers(process: subprocess.Popen[bytes], url: str) -> bool:
    from streamgauge.log.redis_store import RedisStore

    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(LogError):
            RedisStore(url).check()
            return process.poll() is None
        time.sleep(0.05)
    return False
