"""Writes the lock of the jars: what `make lock` runs after a version below was changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamgauge.provision.jars import LOCK_FILE, maven_context, sha256_of

KAFKA_VERSION = "4.1.1"
_BROKER_ROOT = f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}"
_BROKER_LOGGING = "org.apache.logging.log4j:log4j-slf4j-impl"
"""Kafka's closure has log4j but not the binding that leads its log there; its version follows log4j-core's."""

_SPARK = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
    "com.globalmentor:hadoop-bare-naked-local-fs:0.1.0",
)
_TOOLS = (f"org.apache.kafka:kafka-tools:{KAFKA_VERSION}",)
"""Comes on top of the broker's jars, which hold all that the performance tools need (argparse4j, jopt-simple)."""
_FLINK = ("org.apache.flink:flink-sql-connector-kafka:5.0.0-2.2",)
"""The connector with all that it needs inside; its version ends with that of the Flink in `flink.lock`."""


def write_lock() -> Path:
    """Resolve the groups anew and write the lock file into the package."""
    context = maven_context()
    groups = {
        "broker": _broker_coordinates(context),
        "spark": list(_SPARK),
        "tools": list(_TOOLS),
        "flink": list(_FLINK),
    }
    entries = {group: [_entry(context, c) for c in coordinates] for group, coordinates in groups.items()}
    path = Path(__file__).with_name(LOCK_FILE)
    path.write_text(json.dumps({"schema": 1, "groups": entries}, indent=1) + "\n")
    return path


def _broker_coordinates(context: Any) -> list[str]:
    roots, closure = context.resolver.resolve([context.create_dependency(_BROKER_ROOT)])
    found = [
        f"{d.groupId}:{d.artifactId}:{d.version}"
        for d in [*roots, *closure]
        if d.scope in ("compile", "runtime", None) and not d.optional
    ]
    log4j = next(c for c in found if c.startswith("org.apache.logging.log4j:log4j-core:"))
    return [*found, f"{_BROKER_LOGGING}:{log4j.rsplit(':', 1)[1]}"]


def _entry(context: Any, coordinate: str) -> dict[str, Any]:
    path = Path(context.create_dependency(coordinate).artifact.resolve())
    return {"coordinate": coordinate, "file": path.name, "sha256": sha256_of(path), "size": path.stat().st_size}
