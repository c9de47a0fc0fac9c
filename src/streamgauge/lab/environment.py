"""What the trials of one command share: work folder, guard, log, and warm job processes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from streamgauge.engines import get_engine
from streamgauge.engines.execution import ExecutableEngine
from streamgauge.lab.class_recording import record_missing
from streamgauge.lab.inputs import PreparedInputs
from streamgauge.lab.job_process import JobProcess
from streamgauge.lab.live import LiveRun
from streamgauge.log.broker import JVM_FLAGS, SETTINGS, EmbeddedBroker
from streamgauge.log.cluster import Cluster
from streamgauge.log.configuration import Configuration, read_configuration
from streamgauge.log.round_trip import measure_round_trip
from streamgauge.model import LogError, Place
from streamgauge.places import EmbeddedCluster, failure_settings, parse_place
from streamgauge.provision.guard import Guard
from streamgauge.provision.jars import jar_paths, missing_jars
from streamgauge.provision.work import WorkFolder, sweep


class Laboratory:
    """A context in which trials can be conducted; leaving it leaves no process, topic or folder behind."""

    def __init__(
        self,
        run: str,
        note: Callable[[str], None],
        kafka: str | None = None,
        kafka_config: Path | None = None,
        verbose: bool = False,
    ) -> None:
        self.run = run
        self.verbose = verbose
        """Whether what an engine decides is told while it runs."""
        self.note = note
        self.live = LiveRun()
        """What is told of the run while it runs."""
        self._kafka = kafka
        self._stack = contextlib.ExitStack()
        self._processes: dict[tuple[Any, ...], JobProcess] = {}
        self._started = 0
        self.configuration = read_configuration(kafka_config) if kafka_config else Configuration()
        self.broker: EmbeddedBroker | None = None
        self.workers: EmbeddedCluster | None = None
        """The embedded cluster that trials of one place share; another place ends it."""
        self.round_trip_ms: dict[str, Any] = {}

    def __enter__(self) -> Laboratory:
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _open(self) -> None:
        lacking = [jar for group in ("broker", "spark") for jar in missing_jars(group)]
        if lacking:
            self.note(f"fetching {len(lacking)} jars, once")
        for name in sweep():
            self.note(f"removed what an earlier command left behind: {name}")
        folder = WorkFolder.create(self.run)
        self._stack.callback(folder.close)
        self.folder: Path = folder.path
        self.guard = self._stack.enter_context(Guard())
        self.guard.folder(self.folder)
        if self._kafka:
            replication = self.configuration.replication or 1
            self.cluster = Cluster(self._kafka, self.configuration.settings, replication)
            self.cluster.check()
        else:
            record_missing(self.folder / "recording", self.guard, self.note)
            self.note("starting Kafka")
            self.broker = EmbeddedBroker(self.folder / "broker", self.guard)
            self._stack.callback(self.broker.stop)
            self.broker.start()
            self.cluster = Cluster(self.broker.bootstrap)
        self.prepared = PreparedInputs(self.cluster.delete_topics)
        if self.broker is None:
            self._stack.callback(self.prepared.keep_only, ())
        self._stack.callback(self.end_workers)
        self._stack.callback(self.end_processes)
        self.round_trip_ms = measure_round_trip(self.cluster)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def describe_log(self) -> dict[str, Any]:
        """The log's part of the run's record."""
        embedded = {"kind": "embedded", "settings": dict(SETTINGS), "jvm": " ".join(JVM_FLAGS)}
        return {**(embedded if self.broker else {"kind": "given"}), "round_trip_ms": self.round_trip_ms}

    def check_log(self) -> None:
        """Raise when the embedded broker is gone."""
        if self.broker is not None and not self.broker.alive():
            last = self.broker.log_tail(1)
            raise LogError(f"the broker died: {last or 'it wrote no log'}", "Run again; earlier runs are intact")

    def job_process(
        self, engine_name: str, place: str, settings: Mapping[str, str], failure_timeout_s: float | None = None
    ) -> JobProcess:
        """A warm process of this engine, place and session settings, started if there is none.

        At most one is kept: a second JVM would take the first one's cores and memory. In an embedded cluster a node
        that is silent for the failure time-out counts as failed; None leaves that to Spark.
        """
        engine = get_engine(engine_name)
        session = session_settings(engine, parse_place(place), settings, failure_timeout_s)
        key = (engine_name, place, tuple(sorted(session.items())))
        found = self._processes.get(key)
        if found is not None and found.alive():
            return found
        self.end_processes()
        self._started += 1
        master = self._master(parse_place(place), failure_timeout_s)
        made = JobProcess(engine, master, session, self.folder / f"job-{self._started}")
        self._processes[key] = made
        made.start(self.guard, jar_paths("spark"))
        return made

    def _master(self, place: Place, failure_timeout_s: float | None) -> str:
        """The address of the place's master; its cluster is started where it is not running.

        A cluster that was broken on purpose is not looked at: the job goes on in what is left of it, and whoever broke
        it ends it.
        """
        if not place.embedded:
            self.end_workers()
            return place.master
        wanted = (place.nodes, failure_timeout_s)
        if self.workers is None or (self.workers.workers, self.workers.failure_timeout_s) != wanted:
            self.end_workers()
            self.note(f"starting a Spark cluster of {place.nodes} worker{'' if place.nodes == 1 else 's'}")
            folder = self.folder / f"cluster-{self._started}"
            self.workers = EmbeddedCluster(place.nodes, folder, self.guard, failure_timeout_s)
            self.workers.start()
        return self.workers.master

    def worker_pids(self) -> list[int]:
        """Processes whose descendants compute for a job beside its own: the workers of an embedded cluster."""
        return [] if self.workers is None else [p for role, p in self.workers.pids().items() if role != "master"]

    def forget(self, location: str) -> None:
        """Remove checkpoints that only a job process reaches; what stays there is told."""
        alive = [process for process in self._processes.values() if process.alive()]
        problem = alive[0].forget(location) if alive else "no job process is left that reaches it"
        if problem:
            self.note(f"the checkpoints stay at {location}: {problem}")

    def end_workers(self) -> None:
        """End the embedded cluster, if there is one: another place is wanted, or a fault has broken it."""
        if self.workers is not None:
            self.workers.stop()
            self.workers = None

    def end_processes(self) -> None:
        """End every job process: another engine needs the cores, or a failure left one in an unknown state."""
        while self._processes:
            self._processes.popitem()[1].end()


def session_settings(
    engine: ExecutableEngine, place: Place, settings: Mapping[str, str], failure_timeout_s: float | None
) -> dict[str, str]:
    """The settings of a job's session: the engine's and the user's over those of the failure time-out."""
    of_failure = failure_settings(failure_timeout_s) if place.embedded and failure_timeout_s is not None else {}
    return {**of_failure, **engine.session_settings(settings)}
