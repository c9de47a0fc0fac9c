"""Where checkpoints lie: paths of this machine as they are, those of any other file system through the driver's JVM."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Modified:
    """When a file was written."""

    st_mtime: float
    """Seconds since the epoch."""


class HadoopPath:
    """A path that Spark reaches and Python does not (hdfs://, s3a:// …), with what of `Path` checkpoints need."""

    def __init__(self, session: SparkSession, uri: str) -> None:
        self._session, self._uri = session, uri.rstrip("/")
        jvm: Any = session._jvm
        self._path = jvm.org.apache.hadoop.fs.Path(self._uri)

    def __str__(self) -> str:
        return self._uri

    def __truediv__(self, name: str) -> HadoopPath:
        return HadoopPath(self._session, f"{self._uri}/{name}")

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._uri.rpartition("/")[2]

    @property
    def _files(self) -> Any:
        java: Any = self._session._jsc
        return self._path.getFileSystem(java.hadoopConfiguration())

    def iterdir(self) -> Iterator[HadoopPath]:
        """What lies in the folder."""
        with _java_errors(self._uri):
            found = list(self._files.listStatus(self._path))
        for each in found:
            yield self / str(each.getPath().getName())

    def read_text(self) -> str:
        """The file's text."""
        with _java_errors(self._uri):
            stream = self._files.open(self._path)
            try:
                jvm: Any = self._session._jvm
                return str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
            finally:
                stream.close()

    def stat(self) -> Modified:
        """When the file was written."""
        with _java_errors(self._uri):
            return Modified(self._files.getFileStatus(self._path).getModificationTime() / 1000)

    def remove(self) -> None:
        """Remove the folder with all that is in it; one that is not there is no error."""
        with _java_errors(self._uri):
            self._files.delete(self._path, True)


@contextmanager
def _java_errors(uri: str) -> Iterator[None]:
    """Inside, a file that the JVM does not find is one that Python does not find."""
    try:
        yield
    except Exception as error:
        if "java.io.FileNotFoundException" in str(error):
            raise FileNotFoundError(uri) from error
        raise


CheckpointPath = Path | HadoopPath


def is_elsewhere(location: str) -> bool:
    """Whether a location is a URI of a file system that is not this machine's."""
    return "://" in location and not location.startswith("file:")


def checkpoint_path(session: SparkSession, location: str) -> CheckpointPath:
    """The path of a checkpoint, by which it can be looked into."""
    return HadoopPath(session, location) if is_elsewhere(location) else local_path(location)


def local_path(location: str) -> Path:
    """The path of a location of this machine, be it written as a path or as a URI."""
    return Path("/" + location.removeprefix("file:").lstrip("/") if location.startswith("file:") else location)


def remove_checkpoint(path: CheckpointPath) -> None:
    """Remove a checkpoint; one that is gone is no error."""
    if isinstance(path, HadoopPath):
        path.remove()
    else:
        shutil.rmtree(path, ignore_errors=True)
