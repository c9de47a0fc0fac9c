"""A Flink job that runs: planned, submitted, watched and cancelled."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge.engines.execution import Offsets, RunningJob
from streamgauge.engines.flink import settings as flink_settings
from streamgauge.engines.flink.checkpoints import newest_checkpoint, since_ms
from streamgauge.engines.flink.offsets import GroupOffsets
from streamgauge.engines.flink.plan import JobPlan, kafka_settings
from streamgauge.engines.flink.rest import Rest, free_port
from streamgauge.model import EngineError
from streamgauge.model.job import Job

if TYPE_CHECKING:
    from streamgauge.engines.flink.session import FlinkJobSession

READY_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0


class FlinkRunningJob(RunningJob):
    """One job of Flink, from start to stop; what Flink tells of its progress is no batch."""

    def __init__(self, session: FlinkJobSession, job: Job) -> None:
        self._session, self._job = session, job
        self._checkpoints = Path(job.checkpoint)
        since = since_ms(self._checkpoints, time.time_ns() // 1_000_000)
        self._plan = JobPlan(job, since, dict(self._stored_tables()))
        self._rest = Rest(*session.address) if session.address else Rest("127.0.0.1", 0)
        self._offsets: GroupOffsets | None = None
        self._client: Any = None
        self._ended: Any = None
        self._stopped = False
        self.starting_ms = 0

    def _stored_tables(self) -> Iterator[tuple[str, str]]:
        """Stored table → a CSV file of its rows: Flink's own jars read no Parquet."""
        for name, parquet in self._job.tables.items():
            import pyarrow.parquet as pq

            path = self._checkpoints / f"{name}.csv"
            columns = pq.read_table(parquet).to_pydict().values()
            with path.open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(zip(*columns, strict=True))
            yield name, str(path)

    def start(self) -> None:
        """Plan the job, submit it, and return when all its tasks run."""
        try:
            environment = self._planned()
            kafka = kafka_settings(self._job)
            jvm = self._session.jvm
            self._offsets = GroupOffsets(jvm, self._job.bootstrap, kafka, self._plan.group, self._checkpoints)
            self.starting_ms = time.time_ns() // 1_000_000
            self._client = environment.executeAsync(self._plan.query)
            self._ended = self._client.getJobExecutionResult()
            self._wait_until_ready()
        except EngineError:
            self.stop()
            raise
        except Exception as error:
            self.stop()
            raise EngineError(f"flink refused the job: {cause_in(str(error))}", self._session.way_out) from error

    def _planned(self) -> Any:
        """The environment with the whole job in it, optimised and translated, not yet submitted."""
        environment = self._session.environment(self._configuration())
        tables = self._session.jvm.StreamTableEnvironment.create(environment)
        for statement in self._plan.before():
            tables.executeSql(statement)
        inserts = tables.createStatementSet()
        for output in self._plan.outputs:
            columns = _columns(tables.sqlQuery(output.result.sql))
            tables.executeSql(self._plan.sink(output, columns))
            inserts.addInsertSql(self._plan.insert(output, columns))
        inserts.attachAsDataStream()
        return environment

    def _configuration(self) -> dict[str, str]:
        found = {
            **flink_settings.configuration(self._plan.values),
            "execution.checkpointing.dir": f"file://{self._checkpoints}",
            "execution.checkpointing.storage": "filesystem",
        }
        newest = newest_checkpoint(self._checkpoints)
        if newest is not None:
            found["execution.state-recovery.path"] = f"file://{newest}"
        return {**found, **(self._local() if self._session.address is None else {})}

    def _local(self) -> dict[str, str]:
        """What a mini-cluster of the job's own needs."""
        port = free_port()
        self._rest = Rest("127.0.0.1", port)
        return {
            "rest.address": "127.0.0.1",
            "rest.bind-address": "127.0.0.1",
            "rest.port": str(port),
            "rest.bind-port": str(port),
            "taskmanager.numberOfTaskSlots": self._plan.values["parallelism"],
            "io.tmp.dirs": str(self._session.folder),
        }

    def _wait_until_ready(self) -> None:
        job_id = str(self._client.getJobID().toString())
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not self._rest.all_run(job_id):
            failure = self.failure()
            if failure:
                raise EngineError(failure, self._session.way_out)
            if time.monotonic() > deadline:
                raise EngineError(f"the job was not running after {READY_TIMEOUT_S:.0f} s", self._session.way_out)
            time.sleep(0.05)

    def committed(self) -> dict[str, Offsets]:
        """Query → the offsets that it has committed of each topic it reads."""
        return {self._plan.query: self._offsets.committed() if self._offsets is not None else {}}

    def reads(self) -> dict[str, list[str]]:
        """Query → the topics it reads."""
        return self._plan.reads()

    def failure(self) -> str | None:
        """The reason why the job has ended by itself, or None."""
        if self._stopped or self._ended is None or not self._ended.isDone():
            return None
        try:
            self._ended.get()
        except Exception as error:
            return f"query '{self._plan.query}' ended: {cause_in(str(error))}"
        return f"query '{self._plan.query}' ended: no reason given"

    def stop(self) -> None:
        """Cancel the job; its newest checkpoint stays."""
        if self._stopped:
            return
        self._stopped = True
        if self._ended is not None and not self._ended.isDone():
            self._client.cancel().get()
            deadline = time.monotonic() + STOP_TIMEOUT_S
            while not self._ended.isDone() and time.monotonic() < deadline:
                time.sleep(0.02)
        if self._offsets is not None:
            self._offsets.forget()


def _columns(table: Any) -> list[tuple[str, str]]:
    """Names and types of a query's columns, as Flink has resolved them."""
    found = table.getResolvedSchema().getColumns()
    return [
        (str(each.getName()), str(each.getDataType().getLogicalType().copy(True).asSerializableString()))
        for each in found
    ]


_CLASS = re.compile(r"^(Caused by: )?([\w$]+\.)+[\w$]+(Exception|Error)?: ")


def cause_in(text: str) -> str:
    """The innermost cause in Java's words, shortened, without its classes."""
    lines = [line.strip().removeprefix(": ") for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("at ", "An error occurred while calling"))]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    said = (causes or lines[:1] or ["no reason given"])[-1]
    return _CLASS.sub("", said)[:300]
