"""A Spark standalone cluster of this machine's own: one Master and some Workers, each a process, loopback only."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from streamgauge.model import EngineError
from streamgauge.provision.guard import Guard
from streamgauge.provision.java import find_java
from streamgauge.provision.processes import end_process, start_child

HOST = "127.0.0.1"
SLOTS_PER_WORKER = 16
"""Task slots, not cores: a real-time query holds one slot per task for its whole life."""
DAEMON_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC")
EXECUTOR_MEMORY = "1g"

_START_S = 60.0
_STOP_GRACE_S = 2.0
_MASTER_URL = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = "Registering worker"
_DAEMONS = {"master": "org.apache.spark.deploy.master.Master", "worker": "org.apache.spark.deploy.worker.Worker"}


class EmbeddedCluster:
    """A cluster that runs from entering to leaving the context; `master` is its address.

    A Worker, its executors and their Python workers descend from one process in a session of its own: the papers' node.
    """

    def __init__(self, workers: int, folder: Path, guard: Guard, failure_timeout_s: float | None = None) -> None:
        self.workers = workers
        self.master = ""
        self._folder = folder
        self._guard = guard
        self._failure_timeout_s = failure_timeout_s
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> EmbeddedCluster:
        """Start the Master, then the Workers, and return when all have registered."""
        try:
            self._launch("master", "--host", HOST, "--port", "0", "--webui-port", "0")
            self._wait("master", lambda: _MASTER_URL.search(self.log_text("master")) is not None)
            found = _MASTER_URL.search(self.log_text("master"))
            assert found is not None
            self.master = found[1]
            for number in range(1, self.workers + 1):
                self.start_worker(number)
            self._wait("master", lambda: self.log_text("master").count(_REGISTERED) >= self.workers)
        except BaseException:
            self.stop()
            raise
        return self

    def start_worker(self, number: int) -> None:
        """Start Worker `number`, the first time or again."""
        work = self._folder / f"worker-{number}"
        slots = ("--cores", str(SLOTS_PER_WORKER), "--memory", EXECUTOR_MEMORY)
        ports = ("--host", HOST, "--port", "0", "--webui-port", "0", "--work-dir", str(work))
        self._launch(f"worker-{number}", *ports, *slots, self.master)

    def pids(self) -> dict[str, int]:
        """Process id by role: `master`, `worker-1` …; those that are alive."""
        return {role: child.pid for role, child in self._processes.items() if child.poll() is None}

    def stop(self) -> None:
        """End all of it, Workers first; stopping twice is allowed."""
        while self._processes:
            _, child = self._processes.popitem()
            end_process(child, _STOP_GRACE_S, self._guard)

    def log_text(self, role: str) -> str:
        """What a process has written."""
        path = self._folder / f"{role}.log"
        return path.read_text(errors="replace") if path.is_file() else ""

    def _launch(self, role: str, *arguments: str) -> None:
        java, home = find_java(), spark_home()
        folder = self._folder / role
        folder.mkdir(parents=True, exist_ok=True)
        command = [
            str(java.path),
            *DAEMON_FLAGS,
            *self._failure_timeout(),
            f"-Djava.io.tmpdir={folder}",
            "-cp",
            f"{home / 'jars'}/*",
            _DAEMONS[role.partition("-")[0]],
            *arguments,
        ]
        environment = {
            **os.environ,
            **java.environment(),
            "SPARK_HOME": str(home),
            "SPARK_SCALA_VERSION": _scala_version(home),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "PYSPARK_PYTHON": sys.executable,
        }
        with (self._folder / f"{role}.log").open("ab") as log:
            self._processes[role] = start_child(
                command, self._guard, stdout=log, environment=environment, folder=folder
            )

    def _failure_timeout(self) -> list[str]:
        """How long the Master waits for a Worker's heartbeat before it gives it up; Spark's default is a minute."""
        if self._failure_timeout_s is None:
            return []
        return [f"-Dspark.worker.timeout={max(1, round(self._failure_timeout_s))}"]

    def _wait(self, role: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _START_S
        while not ready():
            dead = [name for name, child in self._processes.items() if child.poll() is not None]
            if dead or time.monotonic() > deadline:
                what = f"{dead[0]} ended while starting" if dead else f"was not ready in {_START_S:.0f} s"
                raise EngineError(f"the embedded cluster: {what}: {self._last_line(dead[0] if dead else role)}")
            time.sleep(0.05)

    def _last_line(self, role: str) -> str:
        lines = [line for line in self.log_text(role).splitlines() if line.strip() and not line.startswith("\t")]
        return lines[-1][:300] if lines else "it wrote nothing"

    def __enter__(self) -> EmbeddedCluster:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def spark_home() -> Path:
    """The folder of the installed PySpark, which holds all of Spark's jars."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise EngineError("PySpark is not installed", "Run `make setup`")
    return Path(found.origin).parent


def _scala_version(home: Path) -> str:
    """What Spark's own start scripts tell a Worker, which would else look for a build of Spark."""
    jars = [re.match(r"spark-core_([\d.]+)-", jar.name) for jar in (home / "jars").glob("spark-core_*.jar")]
    return next((found[1] for found in jars if found), "")
