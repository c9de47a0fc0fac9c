"""The installed PySpark, which holds all of Spark's jars."""

from __future__ import annotations

import functools
from importlib.util import find_spec
from pathlib import Path

from streamgauge.model import EngineError
from streamgauge.provision.class_archive import ClassArchive


def spark_home() -> Path:
    """The folder of the installed PySpark."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise EngineError("PySpark is not installed", "Run `make setup`")
    return Path(found.origin).parent


def spark_class_path() -> str:
    """The class path in the order of Spark's own start scripts: an archive of classes fits only the same path."""
    home = spark_home()
    return ":".join(map(str, (f"{home / 'conf'}/", *(home / "jars").glob("slf4j-api-*.jar"), home / "jars" / "*")))


@functools.cache
def spark_classes() -> ClassArchive:
    """The archive of the classes that Spark loads."""
    return ClassArchive("spark", tuple(sorted((spark_home() / "jars").glob("*.jar"))))
