"""An embedded cluster without Java: its Master, Workers and executors are real processes that compute nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamgauge.places import EmbeddedCluster, embedded_cluster

# What stands for `java`: it says what Spark's processes say. A Worker registers, and starts an executor after a moment.
JAVA = """#!{python}
import subprocess, sys, time
from pathlib import Path
if "org.apache.spark.deploy.master.Master" in sys.argv:
    port = sys.argv[sys.argv.index("--port") + 1]
    print("Starting Spark master at spark://127.0.0.1:" + ("7077" if port == "0" else port), flush=True)
else:
    with open("../master.log", "a") as log:
        log.write("Registering worker\\n")
    backend = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
    while True:
        subprocess.run([sys.executable, "-c", "import time; time.sleep(60)", backend])
time.sleep(60)
"""


class NoGuard:
    """Remembers what it watches."""

    def __init__(self) -> None:
        self.watched: set[int] = set()

    def watch(self, pid: int) -> None:
        self.watched.add(pid)

    def release(self, pid: int) -> None:
        self.watched.discard(pid)


def embedded(
    folder: Path, monkeypatch: pytest.MonkeyPatch, workers: int, failure_timeout_s: float | None = None
) -> tuple[EmbeddedCluster, NoGuard]:
    """A cluster in that folder, not yet started."""
    folder.mkdir(parents=True, exist_ok=True)
    java = folder / "java"
    java.write_text(JAVA.format(python=sys.executable))
    java.chmod(0o755)
    found = SimpleNamespace(path=java, environment=lambda: {})
    monkeypatch.setattr(embedded_cluster, "find_java", lambda: found)
    guard: Any = NoGuard()
    return EmbeddedCluster(workers, folder / "cluster", guard, failure_timeout_s), guard
