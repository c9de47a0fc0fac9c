"""A real PostgreSQL for tests: found on the machine, on loopback, its data in a folder that is thrown away."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.provision.guard import Guard
from streamgauge.provision.processes import end_process, start_child

HOST = "127.0.0.1"
USER = "streamgauge"
INSTALLED = "/usr/lib/postgresql"
START_S = 20
_OWNERS = ("postgres", "nobody")
"""Root may not run the server: one of these does."""


@contextlib.contextmanager
def running_postgres(guard: Guard) -> Iterator[str]:
    """The URL of a database of our own; the test is skipped where no server can be had."""
    programs = server_programs()
    with tempfile.TemporaryDirectory(prefix="streamgauge-postgres-") as name:
        folder, as_owner = _owned(Path(name))
        data, port = folder / "data", _free_port()
        made = [*as_owner, str(programs / "initdb"), "-D", str(data), "-U", USER, "-A", "trust", "--no-sync"]
        subprocess.run([*made, "-E", "UTF8", "--locale=C"], check=True, capture_output=True, cwd=folder, timeout=60)
        serve = [*as_owner, str(programs / "postgres"), "-D", str(data), "-p", str(port), "-h", HOST, "-F"]
        with (folder / "server.log").open("wb") as log:
            process = start_child([*serve, "-k", str(folder)], guard, stdout=log, folder=folder)
        try:
            ask = [str(programs / "pg_isready"), "-q", "-h", HOST, "-p", str(port)]
            deadline = time.monotonic() + START_S
            while subprocess.run(ask).returncode != 0:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(f"postgres did not start\n{(folder / 'server.log').read_text()[-2000:]}")
                time.sleep(0.05)
            yield f"postgresql://{USER}@{HOST}:{port}/postgres"
        finally:
            end_process(process, 5, guard)


def server_programs() -> Path:
    """The folder of the server's programs, in the path or where Debian puts the newest."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path(INSTALLED).glob("*/bin"), reverse=True)
    for folder in folders:
        if all((folder / name).exists() for name in ("initdb", "postgres", "pg_isready")):
            return folder
    pytest.skip("no PostgreSQL: initdb and postgres are not installed")


def _owned(folder: Path) -> tuple[Path, list[str]]:
    """The folder, given to whom the server will run as, and what to put before its commands."""
    if os.geteuid() != 0:
        return folder, []
    if shutil.which("setpriv") is None:
        pytest.skip("no PostgreSQL: root may not run it, and there is no setpriv to run it as another")
    for name in _OWNERS:
        with contextlib.suppress(KeyError):
            owner = pwd.getpwnam(name)
            os.chown(folder, owner.pw_uid, owner.pw_gid)
            return folder, ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups"]
    pytest.skip("no PostgreSQL: there is no user to run it as")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
