"""An embedded Kafka broker: one process, loopback only, its data in a folder that is thrown away."""

from __future__ import annotations

import base64
import itertools
import random
import re
import socket
import subprocess
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from streamgauge.model.errors import LogError
from streamgauge.provision.class_archive import ClassArchive, ending_grace_s
from streamgauge.provision.guard import Guard
from streamgauge.provision.jars import Progress, jar_paths
from streamgauge.provision.java import find_java
from streamgauge.provision.processes import end_process, start_child

HOST = "127.0.0.1"
JVM_FLAGS = (
    "-Xms256m",
    "-Xmx768m",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-Djava.awt.headless=true",
)
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "log.message.timestamp.type": "LogAppendTime",
    "auto.create.topics.enable": "false",
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "log.retention.ms": "-1",
    "log.initial.task.delay.ms": "1000",
    "log.segment.delete.delay.ms": "1000",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "message.max.bytes": "16777216",
    "replica.fetch.max.bytes": "16777216",
    "socket.send.buffer.bytes": "1048576",
    "socket.receive.buffer.bytes": "1048576",
    "num.network.threads": "3",
    "num.io.threads": "4",
    "controlled.shutdown.enable": "false",
}
"""Settings that every embedded broker has; flushing is left to the operating system."""

_START_S = 60.0
_ATTEMPTS = 4
_STOP_GRACE_S = 5.0
# Below every system's ephemeral range: a client that tries a closed port of that range again and again can be given
# the same port as its own source, connect to itself, and so take the port from the broker that is starting.
_PORTS = range(15000, 30000)

_LOG_LAYOUT = """\
rootLogger.level=info
rootLogger.appenderRef.file.ref=file
appender.file.type=File
appender.file.name=file
appender.file.fileName={file}
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d %p %m (%c)%n
"""


class EmbeddedBroker:
    """A broker that runs from entering to leaving the context; its settings are in `settings` and `jvm_flags`."""

    def __init__(self, folder: Path, guard: Guard, progress: Progress | None = None) -> None:
        self._folder = folder
        self._guard = guard
        self._progress = progress
        self._process: subprocess.Popen[bytes] | None = None
        self._log_file = folder / "broker.log"
        self._console_file = folder / "broker.out"
        self.jvm_flags = JVM_FLAGS
        self.settings: dict[str, str] = {}
        self.bootstrap = ""
        self.pid = 0
        self._cluster_id = ""

    def start(self) -> EmbeddedBroker:
        """Start the broker and return when it answers; a port that got taken meanwhile is replaced."""
        jars = jar_paths("broker", self._progress)
        for attempt in range(1, _ATTEMPTS + 1):
            self._cluster_id = self._prepare(attempt)
            self._launch(jars)
            try:
                self._wait_until_ready(self._cluster_id)
                return self
            except LogError:
                port_was_taken = "Address already in use" in self._log_text()
                self.stop()
                if not port_was_taken or attempt == _ATTEMPTS:
                    raise
            except BaseException:
                self.stop()
                raise
        raise AssertionError("unreachable")

    def stop(self) -> None:
        """End the broker; stopping twice is allowed. The folder stays with its owner."""
        if self._process is not None:
            end_process(self._process, ending_grace_s(_STOP_GRACE_S), self._guard)
            self._process = None

    def start_again(self) -> int:
        """Start a broker that has ended, at the same port and on the same data, and give its new process id."""
        self.stop()
        self._launch(jar_paths("broker", self._progress))
        self._wait_until_ready(self._cluster_id)
        return self.pid

    def alive(self) -> bool:
        """Whether the broker's process is running."""
        return self._process is not None and self._process.poll() is None

    def log_tail(self, lines: int = 20) -> str:
        """The last lines of the broker's log, or of its console output when it wrote no log."""
        return "\n".join(self._log_text().splitlines()[-lines:])

    @property
    def data_folder(self) -> Path:
        """Where the broker keeps its records."""
        return Path(self.settings["log.dirs"])

    def _prepare(self, attempt: int) -> str:
        """Write configuration and formatted storage for this attempt and give the cluster's id."""
        data = self._folder / f"data-{attempt}"
        data.mkdir(parents=True)
        port, controller_port = _free_ports(2)
        self.bootstrap = f"{HOST}:{port}"
        self.settings = {
            **SETTINGS,
            "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
            "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
            "controller.quorum.voters": f"1@{HOST}:{controller_port}",
            "log.dirs": str(data),
        }
        text = "".join(f"{key}={value}\n" for key, value in self.settings.items())
        (self._folder / "server.properties").write_text(text.replace("\\", "\\\\"))
        self._log_file.unlink(missing_ok=True)
        (self._folder / "log4j2.properties").write_text(_LOG_LAYOUT.format(file=self._log_file))
        cluster_id = _kafka_uuid()
        # This is what `StorageTool format` writes, less the feature levels, for which the broker then takes its default
        # (the latest metadata version). It saves the start of a second JVM.
        (data / "meta.properties").write_text(
            f"version=1\nnode.id=1\ncluster.id={cluster_id}\ndirectory.id={_kafka_uuid()}\n"
        )
        return cluster_id

    def _launch(self, jars: list[Path]) -> None:
        java = find_java()
        command = [
            str(java.path),
            *self.jvm_flags,
            *broker_classes(jars).options(),
            f"-Dlog4j2.configurationFile={self._folder / 'log4j2.properties'}",
            "-cp",
            ":".join(map(str, jars)),
            "kafka.Kafka",
            str(self._folder / "server.properties"),
        ]
        with self._console_file.open("wb") as console:
            self._process = start_child(
                command, self._guard, stdout=console, environment=java.environment(), folder=self._folder
            )
        self.pid = self._process.pid

    def _wait_until_ready(self, cluster_id: str) -> None:
        deadline = time.monotonic() + _START_S
        host_and_port = self.bootstrap.split(":")
        while self.alive() and time.monotonic() < deadline:
            # No client before the port is open: it would only back off and answer later.
            with socket.socket() as probe:
                open_now = probe.connect_ex((host_and_port[0], int(host_and_port[1]))) == 0
            if open_now and self._answers(cluster_id):
                return
            time.sleep(0.05)
        state = "did not answer in time" if self.alive() else "ended while starting"
        raise LogError(
            f"the embedded Kafka broker {state}: {self._last_meaningful_line()}",
            "Run `streamgauge doctor`, or use an existing Kafka with --kafka HOST:PORT",
        )

    def _answers(self, cluster_id: str) -> bool:
        """Whether the broker at the port is ours (another may have taken it) and has joined its own cluster."""
        client = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        try:
            found = client.list_topics(timeout=2)
        except KafkaException:
            return False
        return found.cluster_id == cluster_id and bool(found.brokers)

    def _log_text(self) -> str:
        for file in (self._log_file, self._console_file):
            if file.is_file() and (text := file.read_text(errors="replace")).strip():
                return text
        return ""

    def _last_meaningful_line(self) -> str:
        lines = self._log_text().splitlines()
        causes = [line for line in lines if re.match(r"(Caused by: |\S*(Exception|Error): )", line)]
        errors = [line for line in lines if " ERROR " in line or " FATAL " in line]
        return next((found[-1] for found in (causes, errors, lines) if found), "it wrote nothing")

    def __enter__(self) -> EmbeddedBroker:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def broker_classes(jars: Sequence[Path]) -> ClassArchive:
    """The archive of the classes that a broker loads from its jars."""
    return ClassArchive("broker", tuple(jars))


def _free_ports(count: int) -> list[int]:
    # The system's generator, not a seeded one: two commands that start together must not choose alike.
    found = list(itertools.islice(filter(_is_free, random.SystemRandom().sample(_PORTS, 200)), count))
    if len(found) < count:
        raise LogError(
            f"no free port between {_PORTS.start} and {_PORTS.stop} on {HOST}", "End some programs that listen there"
        )
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _kafka_uuid() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
