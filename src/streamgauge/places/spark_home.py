"""The installed PySpark, which holds all of Spark's jars."""

from __future__ import annotations

import functools
from importlib.util import find_spec
from pathlib import Path

from streamgauge.model import EngineError
from streamgauge.provision.class_archive import ClassArchive
from streamgauge.provision.jars import jar_paths


def spark_home() -> Path:
    """The folder of the installed PySpark."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise EngineError("PySpark is not installed", "Run `make setup`")
    return Path(found.origin).parent


def connector_class_path() -> str:
    """The jars of Spark's Kafka connector, which go before Spark's own: only classes of the class path are archived."""
    return ":".join(map(str, jar_paths("spark")))


def spark_class_path() -> str:
    """The class path in the order of Spark's own start scripts: an archive of classes fits only the same path."""
    home = spark_home()
    own = (f"{home / 'conf'}/", *(home / "jars").glob("slf4j-api-*.jar"), home / "jars" / "*")
    return ":".join((connector_class_path(), *map(str, own)))


@functools.cache
def spark_classes() -> ClassArchive:
    """The archive of the classes that Spark loads."""
    return ClassArchive("spark", (*jar_paths("spark"), *sorted((spark_home() / "jars").glob("*.jar"))))
