"""A Spark standalone cluster of this machine's own: one Master and some Workers, each a process, loopback only."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import psutil

from streamgauge.model import EngineError
from streamgauge.places.spark_home import spark_class_path, spark_classes, spark_home
from streamgauge.provision.guard import Guard
from streamgauge.provision.java import find_java
from streamgauge.provision.processes import end_process, put_job_behind, start_child

HOST = "127.0.0.1"
SLOTS_PER_WORKER = 16
"""Task slots, not cores: a real-time query holds one slot per task for its whole life."""
DAEMON_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC")
EXECUTOR_MEMORY = "1g"

_START_S = 60.0
_STOP_GRACE_S = 2.0
_MASTER_URL = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = "Registering worker"
_EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
_DAEMONS = {"master": "org.apache.spark.deploy.master.Master", "worker": "org.apache.spark.deploy.worker.Worker"}


class EmbeddedCluster:
    """A cluster that runs from entering to leaving the context; `master` is its address.

    A Worker, its executors and their Python workers descend from one process in a session of its own: the papers' node.
    The Master writes down what it knows, so that one that is started again finds its Workers and the job.
    """

    def __init__(self, workers: int, folder: Path, guard: Guard, failure_timeout_s: float | None = None) -> None:
        self.workers = workers
        self.master = ""
        self._folder = folder
        self._guard = guard
        self.failure_timeout_s = failure_timeout_s
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> EmbeddedCluster:
        """Start the Master, then the Workers, and return when all have registered."""
        try:
            self.start_master()
            for number in range(1, self.workers + 1):
                self._launch_worker(number)
            self._wait(lambda: self._registered() >= self.workers, *self._processes)
        except BaseException:
            self.stop()
            raise
        return self

    def start_master(self) -> int:
        """Start the Master, again at the address that it had; its process id."""
        began = len(_MASTER_URL.findall(self.log_text("master")))
        port = self.master.rpartition(":")[2] or "0"
        self._launch("master", "--host", HOST, "--port", port, "--webui-port", "0")
        self._wait(lambda: len(_MASTER_URL.findall(self.log_text("master"))) > began, "master")
        self.master = _MASTER_URL.findall(self.log_text("master"))[-1]
        return self._processes["master"].pid

    def start_worker(self, number: int) -> int:
        """Start Worker `number` again and return its process id when the Master, where there is one, knows it."""
        known = self._registered()
        self._launch_worker(number)
        role = f"worker-{number}"
        self._wait(lambda: self._registered() > known or "master" not in self.pids(), role)
        return self._processes[role].pid

    def executors(self) -> dict[int, int]:
        """Worker's number → process id of the executor that it started last, where it runs one."""
        found = {}
        for role, pid in self.pids().items():
            if role != "master":
                with contextlib.suppress(psutil.Error):
                    mine = [each for each in psutil.Process(pid).children(recursive=True) if _is_executor(each)]
                    if mine:
                        found[int(role.partition("-")[2])] = max(mine, key=psutil.Process.create_time).pid
        return found

    def _registered(self) -> int:
        return self.log_text("master").count(_REGISTERED)

    def _launch_worker(self, number: int) -> None:
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
            *spark_classes().options(),
            *self._options(role),
            f"-Djava.io.tmpdir={folder}",
            "-cp",
            spark_class_path(),
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
        before = self._processes.get(role)
        if before is not None:
            end_process(before, _STOP_GRACE_S, self._guard)
        with (self._folder / f"{role}.log").open("ab") as log:
            self._processes[role] = start_child(
                command, self._guard, stdout=log, environment=environment, folder=folder
            )
        put_job_behind(self._processes[role].pid)

    def _options(self, role: str) -> list[str]:
        """How long the Master waits for a Worker that is silent (Spark's default is a minute), and where it writes."""
        options = []
        if self.failure_timeout_s is not None:
            options.append(f"-Dspark.worker.timeout={_whole_s(self.failure_timeout_s)}")
        if role == "master":
            recovery = self._folder / "recovery"
            recovery.mkdir(parents=True, exist_ok=True)
            options += ["-Dspark.deploy.recoveryMode=FILESYSTEM", f"-Dspark.deploy.recoveryDirectory={recovery}"]
        return options

    def _wait(self, ready: Callable[[], bool], *roles: str) -> None:
        """Return when it is ready; raise when one of the roles has ended or the time is up."""
        deadline = time.monotonic() + _START_S
        while not ready():
            dead = [role for role in roles if self._processes[role].poll() is not None]
            if dead or time.monotonic() > deadline:
                what = f"{dead[0]} ended while starting" if dead else f"was not ready in {_START_S:.0f} s"
                raise EngineError(f"the embedded cluster: {what}: {self._last_line((dead or roles)[0])}")
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


def failure_settings(failure_timeout_s: float) -> dict[str, str]:
    """Settings with which a driver gives up an executor that is silent for as long as the Master waits for a Worker."""
    beat = f"{max(100, round(failure_timeout_s * 250))}ms"
    return {
        "spark.network.timeout": f"{_whole_s(failure_timeout_s)}s",
        "spark.network.timeoutInterval": beat,
        "spark.executor.heartbeatInterval": beat,
        # By default these follow the first, and a short one would end calls that are merely slow.
        "spark.rpc.askTimeout": "120s",
        "spark.rpc.lookupTimeout": "120s",
    }


def _whole_s(seconds: float) -> int:
    return max(1, round(seconds))


def _is_executor(process: psutil.Process) -> bool:
    try:
        return _EXECUTOR in process.cmdline()
    except psutil.Error:
        return False


def _scala_version(home: Path) -> str:
    """What Spark's own start scripts tell a Worker, which would else look for a build of Spark."""
    jars = [re.match(r"spark-core_([\d.]+)-", jar.name) for jar in (home / "jars").glob("spark-core_*.jar")]
    return next((found[1] for found in jars if found), "")
