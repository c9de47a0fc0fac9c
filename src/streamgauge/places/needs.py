"""What a cluster that is there needs of a run, asked for before anything starts."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from streamgauge.model import Place, UserError

DRIVER_HOST = "spark.driver.host"
IMAGE = "spark.kubernetes.container.image"
HADOOP_FOLDERS = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
_ANSWER_S = 3.0


def check_needs(place: Place, kafka: str | None, settings: Mapping[str, str]) -> None:
    """Raise what such a place lacks; a place of the run's own lacks nothing."""
    if not place.foreign:
        return
    for host, port in addresses(place.master):
        _check_answers(place, host, port)
    if place.master == "yarn":
        _check_hadoop()
    if place.master.startswith("k8s://") and not settings.get(IMAGE):
        raise UserError(f"{place.spelling} starts executors from an image", f"Name it: --set {IMAGE}=IMAGE")
    if on_this_machine(place.master):
        return
    _check_log(place, kafka)
    _check_checkpoint(place, settings.get("checkpoint-location", ""))
    if place.runs == "spark" and not settings.get(DRIVER_HOST):
        driver_address(place.master)


def addresses(master: str) -> list[tuple[str, int]]:
    """Host and port of each master that the address names; none for one that a configuration names."""
    if master.startswith("k8s://"):
        url = master.removeprefix("k8s://")
        found = urlsplit(url if "://" in url else f"https://{url}")
        return [(found.hostname or "", found.port or (80 if found.scheme == "http" else 443))]
    named = re.fullmatch(r"\w+://(.+)", master)
    hosts = named[1].split(",") if named else []
    return [(host.strip("[]"), int(port)) for host, _, port in (each.rpartition(":") for each in hosts)]


def on_this_machine(master: str) -> bool:
    """Whether all of a job runs here: threads of its own process, or a cluster at a loopback address."""
    if master.startswith("local"):
        return True
    found = addresses(master)
    return bool(found) and all(_is_loopback(host) for host, _ in found)


def driver_address(master: str) -> str:
    """This machine's address as the cluster sees it: that of the way to its master."""
    for host, port in addresses(master):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
            try:
                way.connect((host, port))
            except OSError:
                continue
            return str(way.getsockname()[0])
    raise UserError(
        f"{master} does not tell by which address its executors reach this machine",
        f"Name it: --set {DRIVER_HOST}=ADDRESS",
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_answers(place: Place, host: str, port: int) -> None:
    try:
        socket.create_connection((host, port), _ANSWER_S).close()
    except OSError as error:
        raise UserError(
            f"nothing answers at {host}:{port}: {error}", f"Start the cluster, or correct --place {place.spelling}"
        ) from error


def _check_hadoop() -> None:
    named = [os.environ[each] for each in HADOOP_FOLDERS if os.environ.get(each)]
    if not any(Path(folder).is_dir() for folder in named):
        raise UserError(
            "yarn is found by Hadoop's configuration, and there is none",
            f"Set {HADOOP_FOLDERS[0]} to the folder of yarn-site.xml and core-site.xml",
        )


def _check_log(place: Place, kafka: str | None) -> None:
    if kafka is None:
        raise UserError(
            f"{place.spelling} cannot reach the embedded broker, which is of this machine alone",
            "Give a log that the cluster reaches: --kafka HOST:PORT",
        )
    hosts = [each.strip().rpartition(":")[0].strip("[]") for each in kafka.split(",")]
    if all(_is_loopback(host) for host in hosts):
        raise UserError(
            f"--kafka {kafka} is an address of this machine alone, which {place.spelling} cannot reach",
            "Give the address by which the cluster reaches the log",
        )


def _check_checkpoint(place: Place, location: str) -> None:
    if "://" not in location and not location.startswith("/"):
        ways = "/a/shared/folder" if place.runs == "flink" else "hdfs://…, s3a://… or /a/shared/folder"
        raise UserError(
            f"{place.spelling} needs a checkpoint that all its machines see",
            f"Name one: --set checkpoint-location={ways}",
        )
