"""The JVM of a job process of Flink, warm over several jobs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge.model import EngineError, UserError

if TYPE_CHECKING:
    from streamgauge.engines.flink.running import FlinkRunningJob
    from streamgauge.load.specification import PublisherResult, PublisherSpec
    from streamgauge.model.job import Job

_ADDRESS = re.compile(r"flink://([^:/]+|\[[0-9a-fA-F:]+\]):(\d+)")
_LOGGING = """\
rootLogger.level = WARN
rootLogger.appenderRef.file.ref = file
appender.file.name = file
appender.file.type = FILE
appender.file.append = true
appender.file.fileName = ${sys:log.file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %-5p %c %x - %m%n
"""


class FlinkJobSession:
    """One JVM that runs one job at a time, each in a mini-cluster of its own or in a cluster that is there."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.folder = Path(given["folder"])
        self.folder.mkdir(parents=True, exist_ok=True)
        self.address = address_of(given["master"])
        self._set_up_jvm(given["settings"]["memory"])
        from pyflink.java_gateway import get_gateway

        # The other end of a pipe that nobody reads would fill and stop the JVM: its log goes to a file.
        self._gateway = get_gateway()
        self.jvm: Any = self._gateway.jvm
        self._system = self.jvm.java.lang.System

    def _set_up_jvm(self, memory: str) -> None:
        logging = self.folder / "log4j.properties"
        logging.write_text(_LOGGING)
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        os.environ |= {
            "JVM_ARGS": f"-Xmx{memory} -Djava.io.tmpdir={temporary}",
            "FLINK_LOG_DIR": str(self.folder),
            "LOG4J_PROPERTIES": str(logging),
        }

    @property
    def way_out(self) -> str:
        """Where more is said of a failure."""
        return f"See {self.folder}/*.log"

    @property
    def facts(self) -> dict[str, Any]:
        """Flink's version and the JVM's process id."""
        from pyflink.version import __version__

        return {"version": __version__, "jvm_pid": int(self.jvm.java.lang.ProcessHandle.current().pid())}

    def slots(self) -> int | None:
        """Unknown: a job brings a mini-cluster with its own slots, and a cluster waits for some by itself.

        A JVM that is gone raises, which ends the process.
        """
        self._system.nanoTime()
        return None

    def environment(self, configuration: Mapping[str, str]) -> Any:
        """A new environment of Flink with this configuration, as Java has it.

        PyFlink's own would start a server for Python functions, which no program here has.
        """
        given = self.jvm.org.apache.flink.configuration.Configuration()
        for key, value in configuration.items():
            given.setString(key, value)
        environments = self.jvm.StreamExecutionEnvironment
        if self.address is None:
            return environments.getExecutionEnvironment(given)
        return environments.createRemoteEnvironment(*self.address, given, self._connectors())

    def _connectors(self) -> Any:
        """The jars that a cluster is sent with a job, as an array of Java."""
        import pyflink

        found = sorted(Path(pyflink.__file__).parent.glob("lib/flink-sql-connector-kafka-*.jar"))
        jars = self._gateway.new_array(self.jvm.java.lang.String, len(found))
        for number, jar in enumerate(found):
            jars[number] = str(jar)
        return jars

    def start(self, job: Job) -> FlinkRunningJob:
        """Plan the job's program and start it."""
        from streamgauge.engines.flink.running import FlinkRunningJob

        if job.stop_after and job.stop_after not in job.described["outputs"]:
            raise EngineError(f"the job is to end with '{job.stop_after}', which it was told nothing of")
        running = FlinkRunningJob(self, job)
        running.start()
        return running

    def characterize(self, job: Job) -> Iterator[dict[str, Any]]:
        """Refused: cuts are made between the stages of Spark."""
        raise UserError("flink does not characterize applications", "Use --engine spark-microbatch")

    def publish(self, shares: Sequence[PublisherSpec]) -> list[PublisherResult]:
        """Refused: there are no workers of ours."""
        raise EngineError("flink publishes nothing: the laboratory's publisher does")

    def forget(self, location: str) -> None:
        """Nothing: checkpoints of Flink lie in a folder that the laboratory reaches too."""

    def close(self) -> None:
        """End the JVM; it ends by itself too when this process is gone."""
        self._gateway.shutdown()


def address_of(master: str) -> tuple[str, int] | None:
    """Host and port of a cluster that is there; None for a mini-cluster in this process's JVM."""
    found = _ADDRESS.fullmatch(master)
    return (found[1].strip("[]"), int(found[2])) if found else None
