"""Flink's own virtual environment: PyFlink from a lock file, and the Kafka connector among Flink's jars."""

from __future__ import annotations

from pathlib import Path

from streamgauge.provision.engine_environment import EngineEnvironment

ENVIRONMENT = EngineEnvironment(
    engine="flink",
    package="apache-flink",
    lock=Path(__file__).with_name("flink.lock"),
    pythons=((3, 12), (3, 11)),
    jars="flink",
    # On the class path of the JVM, Kafka's classes stay compiled from one job to the next.
    jars_folder="pyflink/lib",
)
