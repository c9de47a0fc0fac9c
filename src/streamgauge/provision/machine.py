"""The machine that a run was taken on: what explains its figures, nothing that names a person or a host."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from streamgauge import __version__
from streamgauge.model.errors import UserError
from streamgauge.provision.jars import locked_version
from streamgauge.provision.java import find_java
from streamgauge.provision.work import work_root


def describe_machine() -> dict[str, Any]:
    """Processor, memory, system and versions as plain JSON values."""
    return {
        "cpu": _cpu_model(),
        "cores": psutil.cpu_count(logical=True),
        "physical_cores": psutil.cpu_count(logical=False),
        "memory_bytes": psutil.virtual_memory().total,
        "disk_free_bytes": disk_free_bytes(),
        "os": _system_name(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "java": _java_version(),
        "pyspark": metadata.version("pyspark"),
        "kafka_broker": locked_version("kafka_2.13", "broker"),
        "kafka_client_of_spark": locked_version("kafka-clients", "spark"),
        "spark_kafka_connector": locked_version("spark-sql-kafka-0-10_2.13", "spark"),
        "confluent_kafka": metadata.version("confluent-kafka"),
        "streamgauge": __version__,
    }


def disk_free_bytes() -> int:
    """Free space where work folders are made."""
    root = work_root().absolute()
    return shutil.disk_usage(next(p for p in [root, *root.parents] if p.exists())).free


def _java_version() -> str | None:
    try:
        return find_java().version
    except UserError:
        return None


def _cpu_model() -> str:
    if sys.platform == "darwin":
        said = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True)
        return said.stdout.strip() or platform.machine()
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text().splitlines() if listing.is_file() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith(("model name", "Model"))]
    return models[0] if models else platform.processor() or platform.machine()


def _system_name() -> str:
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()
