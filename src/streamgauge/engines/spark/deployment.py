"""What depends on where Spark's processes run: all on this machine, or the executors on others."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from streamgauge.places import connector_class_path, driver_address, on_this_machine, spark_classes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PYTHON = "spark.pyspark.python"
DRIVER_JAVA_OPTIONS, EXECUTOR_JAVA_OPTIONS = "spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"
DRIVER_CLASS_PATH, EXECUTOR_CLASS_PATH = "spark.driver.extraClassPath", "spark.executor.extraClassPath"
JARS = "spark.jars"
_JOINED_BY = {
    DRIVER_JAVA_OPTIONS: " ",
    EXECUTOR_JAVA_OPTIONS: " ",
    DRIVER_CLASS_PATH: os.pathsep,
    EXECUTOR_CLASS_PATH: os.pathsep,
    JARS: ",",
}
_CHECKPOINTING = "org.apache.spark.sql.execution.streaming.checkpointing"
LOOPBACK = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # The default manager starts the system's `readlink`, a process, for every file that it looks at on a local disk.
    "spark.sql.streaming.checkpointFileManagerClass": f"{_CHECKPOINTING}.FileSystemBasedCheckpointFileManager",
    # Hadoop's own local file system starts `chmod`, a process, for every file that it writes: eight in a micro-batch.
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
}


def deployed(master: str, folder: Path, given: Mapping[str, str], jars: Sequence[str]) -> dict[str, str]:
    """Settings of a session whose driver has this folder; call it before Spark starts, whose environment it sets."""
    temporary = folder / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    java: tuple[str, ...] = (f"-Djava.io.tmpdir={temporary}",)
    derby = f"-Dderby.system.home={folder}"
    use_this_python(master)
    if on_this_machine(master):
        java = (*java, *spark_classes().options())
        return {
            **LOOPBACK,
            "spark.local.dir": str(folder / "local"),
            DRIVER_JAVA_OPTIONS: " ".join((derby, *java)),
            EXECUTOR_JAVA_OPTIONS: " ".join(java),
            DRIVER_CLASS_PATH: connector_class_path(),
            EXECUTOR_CLASS_PATH: connector_class_path(),
        }
    # Executors have folders of their own, and reach this driver by its address.
    os.environ["SPARK_LOCAL_DIRS"] = str(folder / "local")
    os.environ.pop("SPARK_LOCAL_IP", None)
    if PYTHON in given:
        # PySpark looks at the variable alone; the setting is for its start script.
        os.environ["PYSPARK_PYTHON"] = given[PYTHON]
    return {
        "spark.driver.bindAddress": "0.0.0.0",
        "spark.driver.host": given.get("spark.driver.host") or driver_address(master),
        DRIVER_JAVA_OPTIONS: " ".join((derby, *java)),
        JARS: ",".join(jars),
    }


def overridden(ours: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Our settings with the user's over them; a JVM gets both its options and both its jars, ours first.

    Ours say where it keeps its files, and hold the connector.
    """
    both = {key: f"{ours[key]}{mark}{given[key]}" for key, mark in _JOINED_BY.items() if key in ours and key in given}
    return {**ours, **given, **both}


def use_this_python(master: str) -> None:
    """Python workers of this machine run with this interpreter, where streamgauge is installed.

    Call it before Spark starts.
    """
    if on_this_machine(master):
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable


def ship_own_code(session: SparkSession, folder: Path) -> None:
    """Send streamgauge itself to executors of other machines; what it imports must be installed there."""
    if on_this_machine(str(session.sparkContext.master)):
        return
    package = Path(__file__).parents[2]
    archive = shutil.make_archive(str(folder / package.name), "zip", package.parent, package.name)
    session.sparkContext.addPyFile(archive)


def stored_table(session: SparkSession, path: str) -> DataFrame:
    """A stored table from a file of this machine; executors of others get its rows with the plan."""
    if on_this_machine(str(session.sparkContext.master)):
        return session.read.parquet(path)
    import pyarrow.parquet as pq

    return session.createDataFrame(pq.read_table(path))
