"""Java's own archive of the classes that a program loads: with it Spark starts in about half the time.

Recorded once, from a real trial, and kept in the virtual environment that holds the program's jars.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from streamgauge.provision.java import find_java

RECORD_VARIABLE = "STREAMGAUGE_RECORD_CLASSES"
"""The folder that Java writes the archives to when it ends, set for the trial that records them."""

RECORDING_GRACE_S = 60.0
# An archive that does not fit (another class path, another collector) is left aside; Java would say so at every start.
_QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")


@dataclass(frozen=True)
class ClassArchive:
    """The archive of one program, which is told by its jars and the Java that runs them."""

    program: str
    jars: tuple[Path, ...]

    @property
    def file(self) -> Path:
        """Where it lies once it is recorded; an empty file says that this Java could not."""
        return archive_folder() / f"{self.program}-{_digest(self.jars, _java())}.jsa"

    @property
    def tried(self) -> bool:
        """Whether it was recorded, or could not be."""
        return self.file.is_file()

    def options(self) -> tuple[str, ...]:
        """Flags for Java: to record it, to use it, or none where there is none."""
        if into := os.environ.get(RECORD_VARIABLE):
            return (f"-XX:ArchiveClassesAtExit={Path(into) / self.file.name}", *_QUIET)
        if not self.tried or self.file.stat().st_size == 0:
            return ()
        return (f"-XX:SharedArchiveFile={self.file}", *_QUIET)


def archive_folder() -> Path:
    """In the virtual environment, and so removed with it."""
    return Path(sys.prefix) / "var" / "streamgauge"


def ending_grace_s(usual_s: float) -> float:
    """How long a Java may take to end: one that records writes its archive then."""
    return RECORDING_GRACE_S if RECORD_VARIABLE in os.environ else usual_s


def _java() -> str:
    java = find_java()
    return f"{java.home or java.path} {java.version}"


@functools.cache
def _digest(jars: tuple[Path, ...], java: str) -> str:
    stats = [(str(jar), jar.stat().st_size if jar.is_file() else 0) for jar in jars]
    return hashlib.sha256(repr((java, stats)).encode()).hexdigest()[:16]
