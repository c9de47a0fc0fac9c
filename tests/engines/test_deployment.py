"""Python workers run where streamgauge can be imported."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamgauge.engines.spark.deployment import deployed, overridden, use_this_python
from streamgauge.places.spark_home import spark_class_path


@pytest.mark.spark
def test_a_python_worker_runs_with_this_interpreter(spark: Any) -> None:
    def who(batches: Any) -> Any:
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"python": [sys.executable] * batch.num_rows})

    (row,) = spark.range(1, numPartitions=1).mapInArrow(who, "python string").collect()
    assert row["python"] == sys.executable


@pytest.mark.parametrize("master", ["local[2]", "spark://127.0.0.1:7077"])
def test_another_python_of_the_environment_is_not_taken_on_this_machine(
    monkeypatch: pytest.MonkeyPatch, master: str
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "another-python")
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", "another-python")
    use_this_python(master)
    assert os.environ["PYSPARK_PYTHON"] == os.environ["PYSPARK_DRIVER_PYTHON"] == sys.executable


def test_the_python_of_other_machines_can_be_a_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PYSPARK_PYTHON", "SPARK_LOCAL_DIRS", "SPARK_LOCAL_IP"):
        monkeypatch.setenv(name, "before")
    given = {"spark.pyspark.python": "/opt/python", "spark.driver.host": "192.0.2.1"}
    settings = deployed("spark://far-away:7077", tmp_path, given, ["/jars/a.jar", "/jars/b.jar"])
    assert settings["spark.jars"] == "/jars/a.jar,/jars/b.jar", "executors elsewhere are sent the connector"
    assert settings["spark.driver.host"] == "192.0.2.1" and "spark.local.dir" not in settings
    assert "spark.executor.extraJavaOptions" not in settings, "executors have folders of their own"
    assert os.environ["PYSPARK_PYTHON"] == "/opt/python"
    assert os.environ["SPARK_LOCAL_DIRS"] == str(tmp_path / "local") and "SPARK_LOCAL_IP" not in os.environ


def test_a_cluster_keeps_the_python_that_its_user_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "another-python")
    use_this_python("spark://far-away:7077")
    assert os.environ["PYSPARK_PYTHON"] == "another-python"


def test_the_connector_is_on_the_class_path_of_processes_of_this_machine(tmp_path: Path) -> None:
    settings = deployed("spark://127.0.0.1:7077", tmp_path, {}, ["/jars/a.jar"])
    assert settings["spark.driver.extraClassPath"] == settings["spark.executor.extraClassPath"]
    assert spark_class_path().startswith(settings["spark.driver.extraClassPath"] + ":"), "else no archive fits"
    assert "spark.jars" not in settings


def test_a_setting_of_the_user_goes_over_ours_but_options_and_jars_of_a_jvm_are_added() -> None:
    ours = {"spark.ui.enabled": "false", "spark.driver.extraJavaOptions": "-Djava.io.tmpdir=a-folder"}
    ours |= {"spark.jars": "a.jar", "spark.driver.extraClassPath": "b.jar"}
    own = {
        "spark.ui.enabled": "true",
        "spark.driver.extraJavaOptions": "-XX:+UseZGC",
        "spark.executor.extraJavaOptions": "-Xss2m",
        "spark.jars": "own.jar",
        "spark.driver.extraClassPath": "own.jar",
    }
    assert overridden(ours, own) == {
        "spark.ui.enabled": "true",
        "spark.driver.extraJavaOptions": "-Djava.io.tmpdir=a-folder -XX:+UseZGC",
        "spark.executor.extraJavaOptions": "-Xss2m",
        "spark.jars": "a.jar,own.jar",
        "spark.driver.extraClassPath": "b.jar:own.jar",
    }


def test_local_checkpoints_are_written_by_a_file_system_that_is_on_the_class_path(tmp_path: Path) -> None:
    settings = deployed("local[2]", tmp_path, {}, [])
    wanted = settings["spark.hadoop.fs.file.impl"].replace(".", "/") + ".class"
    for paths in (settings["spark.driver.extraClassPath"], settings["spark.executor.extraClassPath"]):
        jars = [zipfile.ZipFile(path) for path in paths.split(os.pathsep) if path.endswith(".jar")]
        assert any(wanted in jar.namelist() for jar in jars)
