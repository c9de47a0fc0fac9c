"""Finds a Java that Spark and Kafka can run on. Standard library only: setup asks before anything is installed."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from streamgauge.model.errors import StreamgaugeError, UserError

OLDEST_JAVA = 17
_WAY_OUT = f"Install Java {OLDEST_JAVA} or newer and put it on PATH, or set JAVA_HOME to it"


@dataclass(frozen=True)
class Java:
    """A Java that was started once and said its version."""

    path: Path
    version: str
    home: Path | None

    @property
    def major(self) -> int:
        """17 for 17.0.15, 8 for 1.8.0_402."""
        return _major(self.version)

    def environment(self) -> dict[str, str]:
        """This process's environment with JAVA_HOME set, so that a child starts the same Java."""
        found = dict(os.environ)
        if self.home is not None:
            found["JAVA_HOME"] = str(self.home)
        return found


def find_java() -> Java:
    """The first of JAVA_HOME and PATH that is new enough; a UserError says what was found instead."""
    return _find(os.environ.get("JAVA_HOME", ""), os.environ.get("PATH", ""))


@functools.cache
def _find(java_home: str, search_path: str) -> Java:
    candidates: list[tuple[str, Path]] = []
    if java_home:
        candidates.append(("JAVA_HOME", Path(java_home) / "bin" / "java"))
    if on_path := shutil.which("java", path=search_path):
        candidates.append(("PATH", Path(on_path)))
    refused: list[str] = []
    for source, path in candidates:
        java = _ask_version(path)
        if java is None:
            refused.append(f"{source} has no Java that starts")
        elif java.major < OLDEST_JAVA:
            refused.append(f"{source} has Java {java.version}")
        else:
            return java
    cause = "; ".join(refused) or "Java is not installed"
    raise UserError(f"Java {OLDEST_JAVA} or newer is needed: {cause}", _WAY_OUT)


def _ask_version(path: Path) -> Java | None:
    try:
        answer = subprocess.run(
            [str(path), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = answer.stderr + answer.stdout
    version = re.search(r'version "([^"]+)"', said)
    if answer.returncode != 0 or version is None:
        return None
    home = re.search(r"^\s*java\.home = (.+)$", said, re.MULTILINE)
    return Java(path, version[1], Path(home[1].strip()) if home else None)


def _major(version: str) -> int:
    numbers = [int(n) for n in re.findall(r"\d+", version)]
    if not numbers:
        return 0
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


if __name__ == "__main__":
    try:
        print(f"Java {find_java().version}")
    except StreamgaugeError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
