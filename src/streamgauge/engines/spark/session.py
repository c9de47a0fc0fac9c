"""The Spark session of a job process, warm over several jobs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge.applications import get_application
from streamgauge.engines.spark.checkpoint_paths import checkpoint_path, remove_checkpoint
from streamgauge.engines.spark.deployment import deployed, overridden, ship_own_code

if TYPE_CHECKING:
    from streamgauge.engines.execution import RunningJob
    from streamgauge.engines.spark.engine import SparkEngine
    from streamgauge.load.specification import PublisherResult, PublisherSpec
    from streamgauge.model import Application
    from streamgauge.model.job import Job

BASE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.numRecentProgressUpdates": "100",
    "spark.log.level": "WARN",
    # Without it every call of PySpark asks the JVM four times where in the user's file it stands.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}

AT_ONCE = {"spark.ui.liveUpdate.period": "0"}
"""Tasks that run for long are counted as they start; by default a count may wait for the next heartbeat, 10 s away."""


class SparkJobSession:
    """One Spark session that runs one job at a time."""

    def __init__(self, engine: SparkEngine, given: Mapping[str, Any]) -> None:
        from pyspark.sql import SparkSession

        folder = Path(given["folder"])
        ours = {
            **BASE,
            **deployed(given["master"], folder, given["settings"], given["jars"]),
            "spark.sql.warehouse.dir": str(folder / "tables"),
            **(AT_ONCE if engine.holds_slots else {}),
        }
        settings = overridden(ours, given["settings"])
        builder = SparkSession.builder.master(given["master"]).appName("streamgauge")
        for key, value in settings.items():
            builder = builder.config(key, value)
        self._engine = engine
        self._session = builder.getOrCreate()
        ship_own_code(self._session, folder)
        self._tells_slots = "spark.default.parallelism" not in settings

    @property
    def facts(self) -> dict[str, Any]:
        """Spark's version and the JVM's process id."""
        gateway = self._session.sparkContext._gateway
        java = getattr(gateway, "proc", None)
        return {"version": self._session.version, "jvm_pid": java.pid if java else None}

    def slots(self) -> int | None:
        """Task slots of the executors that have registered and are not lost; None where a setting hides it.

        Spark's default parallelism is the cores of those executors, unless the user sets it.
        """
        return int(self._session.sparkContext.defaultParallelism) if self._tells_slots else None

    def start(self, job: Job) -> RunningJob:
        """Compile the application to queries and start them."""
        application = get_application(job.application)
        if job.stop_after:
            application = application.stopped_after(job.stop_after)
        _ship_by_value(application)
        running = self._engine.running(self._session, application, job)
        running.start()
        return running

    def characterize(self, job: Job) -> Iterator[dict[str, Any]]:
        """Samples of every cut of the application over its input topics."""
        from streamgauge.engines.spark.characterizing import Characterizing

        application = get_application(job.application)
        _ship_by_value(application)
        return Characterizing(self._session, self._engine, application, job).samples()

    def publish(self, shares: Sequence[PublisherSpec]) -> list[PublisherResult]:
        """Publish the shares of an input from the place's Python workers."""
        from streamgauge.engines.spark.publishing import publish_from

        return publish_from(self._session, shares)

    def forget(self, location: str) -> None:
        """Remove what jobs have left at a location of checkpoints."""
        remove_checkpoint(checkpoint_path(self._session, location))

    def close(self) -> None:
        """Stop Spark."""
        self._session.stop()


def _ship_by_value(application: Application) -> None:
    """Python workers cannot import a user's file: its functions travel with the job instead."""
    from pyspark import cloudpickle

    for stage in application.stages:
        module = sys.modules.get(stage.function.__module__)
        if module is not None and stage.function.__module__.startswith("streamgauge_own_"):
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
