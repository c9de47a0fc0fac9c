"""A standalone cluster of Flink for tests: JobManager and TaskManager on loopback, from the engine's environment."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from streamgauge.engines.flink.environment import ENVIRONMENT
from streamgauge.provision.guard import Guard
from streamgauge.provision.processes import end_process, start_child
from tests.waiting import until

HOST = "127.0.0.1"
START_S = 90.0


@contextlib.contextmanager
def standalone_cluster(folder: Path, guard: Guard, slots: int = 4) -> Iterator[str]:
    """The address of its REST interface as a place, once its slots are there."""
    home = next(ENVIRONMENT.folder.glob("lib/python3*/site-packages/pyflink"))
    rest = _configure(home, folder, slots)
    surroundings = {
        **os.environ,
        "FLINK_HOME": str(home),
        "FLINK_CONF_DIR": str(folder),
        "FLINK_LOG_DIR": str(folder),
        "FLINK_PID_DIR": str(folder),
    }
    daemons = [
        start_child(["bash", str(home / "bin" / script), "start-foreground"], guard, environment=surroundings)
        for script in ("jobmanager.sh", "taskmanager.sh")
    ]
    try:
        until(lambda: _slots_there(rest) == slots, START_S)
        yield f"flink://{HOST}:{rest}"
    finally:
        for daemon in daemons:
            end_process(daemon, 10, guard)


def _configure(home: Path, folder: Path, slots: int) -> int:
    """Write the cluster's configuration; Java's own options stay as Flink ships them."""
    rest, rpc = _free_port(), _free_port()
    shipped = (home / "conf/config.yaml").read_text()
    opened = next(line.split("all:", 1)[1].strip() for line in shipped.splitlines() if line.strip().startswith("all:"))
    settings = {
        "env.java.opts.all": opened,
        "jobmanager.rpc.address": HOST,
        "jobmanager.rpc.port": rpc,
        "jobmanager.bind-host": HOST,
        "jobmanager.memory.process.size": "1g",
        "rest.address": HOST,
        "rest.bind-address": HOST,
        "rest.port": rest,
        "taskmanager.host": HOST,
        "taskmanager.bind-host": HOST,
        "taskmanager.numberOfTaskSlots": slots,
        "taskmanager.memory.process.size": "1700m",
        "io.tmp.dirs": str(folder),
    }
    (folder / "config.yaml").write_text("".join(f"{key}: {value}\n" for key, value in settings.items()))
    for logging in ("log4j-console.properties", "log4j.properties"):
        (folder / logging).write_text((home / "conf" / logging).read_text())
    return rest


def _slots_there(rest: int) -> int:
    try:
        with urllib.request.urlopen(f"http://{HOST}:{rest}/overview", timeout=2) as answer:
            return int(json.load(answer)["slots-total"])
    except OSError:
        return 0


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])
