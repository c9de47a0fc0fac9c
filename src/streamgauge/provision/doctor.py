"""What a machine needs before a run: each point checked, with the way out."""

from __future__ import annotations

import platform
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

import psutil

from streamgauge.model.errors import StreamgaugeError
from streamgauge.model.units import size
from streamgauge.provision.jars import MIRROR_VARIABLE, missing_jars, setup_jars
from streamgauge.provision.java import find_java
from streamgauge.provision.machine import disk_free_bytes
from streamgauge.provision.work import leftovers

OLDEST_PYTHON = (3, 11)
LEAST_MEMORY_BYTES = 3 * 1024**3
LEAST_DISK_BYTES = 2 * 1024**3


@dataclass(frozen=True)
class Check:
    """One point: whether it is well, what was found, and what to do when it is not."""

    name: str
    ok: bool
    detail: str
    way_out: str = ""


def check_all() -> list[Check]:
    """Every point in the order in which a person would put them right; nothing is fetched or changed."""
    points: dict[str, Callable[[], Check]] = {
        "python": _python,
        "java": _java,
        "jars": _jars,
        "pyspark": _pyspark,
        "memory": _memory,
        "disk": _disk,
        "loopback": _loopback,
        "leftovers": _leftovers,
    }
    return [_guarded(name, point) for name, point in points.items()]


def _guarded(name: str, point: Callable[[], Check]) -> Check:
    try:
        return point()
    except StreamgaugeError as error:
        return Check(name, False, error.cause, error.way_out)


def _python() -> Check:
    wanted = ".".join(map(str, OLDEST_PYTHON))
    return Check(
        "python", sys.version_info >= OLDEST_PYTHON, platform.python_version(), f"Install Python {wanted} or newer"
    )


def _java() -> Check:
    return Check("java", True, find_java().version)


def _jars() -> Check:
    missing = {jar.coordinate: jar for group in setup_jars() for jar in missing_jars(group)}
    if not missing:
        return Check("jars", True, f"{sum(map(len, setup_jars().values()))} in the Maven cache, checksums right")
    return Check(
        "jars",
        False,
        f"{len(missing)} not in the Maven cache ({size(sum(j.size for j in missing.values()))})",
        f"Run `make setup` while connected, or set {MIRROR_VARIABLE} to a Maven repository that you can reach",
    )


def _pyspark() -> Check:
    way_out = "Run `make setup`"
    try:
        return Check("pyspark", True, metadata.version("pyspark"))
    except metadata.PackageNotFoundError:
        return Check("pyspark", False, "not installed", way_out)


def _memory() -> Check:
    free = psutil.virtual_memory().available
    detail = f"{size(free)} available"
    return Check(
        "memory", free >= LEAST_MEMORY_BYTES, detail, f"Close programs until {size(LEAST_MEMORY_BYTES)} are available"
    )


def _disk() -> Check:
    free = disk_free_bytes()
    return Check(
        "disk",
        free >= LEAST_DISK_BYTES,
        f"{size(free)} free",
        f"Free {size(LEAST_DISK_BYTES)}, or set STREAMGAUGE_WORK to a folder on a larger disk",
    )


def _loopback() -> Check:
    way_out = "Allow connections to 127.0.0.1 (firewall, container settings)"
    try:
        with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), 2):
            return Check("loopback", True, "ports on 127.0.0.1 can be opened and reached")
    except OSError as error:
        return Check("loopback", False, f"127.0.0.1 cannot be reached: {error.strerror or error}", way_out)


def _leftovers() -> Check:
    found = leftovers()
    return Check(
        "leftovers",
        not found,
        f"{len(found)} work folders of commands that died" if found else "no work folder of a dead command",
        "The next `streamgauge run` removes them",
    )
