"""What tests share: one broker and one Spark session per test session, both ended with it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streamgauge.engines.spark.deployment import use_this_python
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.log.cluster import Cluster
from streamgauge.places import connector_class_path, spark_classes
from streamgauge.provision.guard import Guard
from streamgauge.provision.java import find_java
from streamgauge.provision.processes import NICENESS_VARIABLE, end_process
from streamgauge.provision.work import WorkFolder
from tests.chromium import CHROMIUM, FLAGS
from tests.postgres_server import running_postgres
from tests.redis_server import running_redis

CONTRACT = "test_every_application.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The contract first, then files that need a Spark session: processes that share the tests take one each."""
    with_spark = {item.path for item in items if "spark" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: 0 if item.path.name == CONTRACT else 1 if item.path in with_spark else 2)


@pytest.fixture(scope="session", autouse=True)
def _quickly_compiled() -> Iterator[None]:
    """Java's second compiler costs a third of the tests' time and pays only in programs that run for longer.

    Without it the JVM reserves 48 MB for compiled code, which Spark fills: what is then compiled fails.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m")
        yield


@pytest.fixture(scope="session", autouse=True)
def _job_beside_others() -> Iterator[None]:
    """Beside a trial of a test other tests run: a job behind them would be starved."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(NICENESS_VARIABLE, "0")
        yield


@pytest.fixture(scope="session", autouse=True)
def _work_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's own work folders out of the tests' reach."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMGAUGE_WORK", str(tmp_path_factory.mktemp("work")))
        yield


@pytest.fixture(scope="session")
def guard() -> Iterator[Guard]:
    """A started guard: what it watches ends even when the tests are killed."""
    with Guard() as started:
        yield started


@pytest.fixture(scope="session")
def work_folder(_work_root: None, guard: Guard) -> Iterator[Path]:
    """A folder that is removed with the test session."""
    with WorkFolder.create("tests") as folder:
        guard.folder(folder.path)
        yield folder.path


@pytest.fixture(scope="session")
def broker(work_folder: Path, guard: Guard) -> Iterator[EmbeddedBroker]:
    """The session's embedded broker, running."""
    with EmbeddedBroker(work_folder / "broker", guard) as running:
        yield running


@pytest.fixture(scope="session")
def cluster(broker: EmbeddedBroker) -> Cluster:
    """The session's broker as a cluster."""
    return Cluster(broker.bootstrap)


@pytest.fixture
def topic(cluster: Cluster) -> Iterator[Callable[..., str]]:
    """Makes topics with names of their own: `topic(partitions=2, settings={…})`; they are deleted after the test."""
    made: list[str] = []

    def make(partitions: int = 1, settings: dict[str, str] | None = None) -> str:
        made.append(f"test-{uuid.uuid4().hex[:12]}")
        cluster.create_topic(made[-1], partitions, settings)
        return made[-1]

    yield make
    cluster.delete_topics(made)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory, guard: Guard) -> Iterator[str]:
    """The URL of the session's Redis; what needs it is skipped where none can be had."""
    with running_redis(tmp_path_factory.mktemp("redis"), guard) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_url(guard: Guard) -> Iterator[str]:
    """The URL of a database of the session's PostgreSQL; what needs it is skipped where none can be had."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running_postgres(guard) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def spark(work_folder: Path, guard: Guard) -> Iterator[Any]:
    """One local Spark session that can reach Kafka."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    java_home = find_java().environment().get("JAVA_HOME")
    if java_home:
        os.environ["JAVA_HOME"] = java_home
    use_this_python("local[8]")
    session = (
        SparkSession.builder.master("local[8]")
        .appName("streamgauge-tests")
        .config("spark.driver.extraClassPath", connector_class_path())
        .config("spark.driver.extraJavaOptions", " ".join(spark_classes().options()))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.python.sql.dataFrameDebugging.enabled", "false")
        .config("spark.local.dir", str(work_folder / "spark"))
        .config("spark.sql.warehouse.dir", str(work_folder / "warehouse"))
        .getOrCreate()
    )
    gateway = SparkContext._gateway
    guard.watch(gateway.proc.pid)
    yield session
    session.stop()
    gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None
    end_process(gateway.proc, 5, guard)
