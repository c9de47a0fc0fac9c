"""Records, once, the classes that Kafka and Spark load: every later start takes about half the time."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from streamgauge.log.broker import broker_classes
from streamgauge.places import spark_classes
from streamgauge.provision.class_archive import RECORD_VARIABLE, archive_folder
from streamgauge.provision.guard import Guard
from streamgauge.provision.processes import end_process, start_child
from streamgauge.provision.work import WorkFolder

_LIMIT_S = 300.0


def record_missing(folder: Path, guard: Guard, note: Callable[[str], None]) -> None:
    """Conduct a small trial with the recording on, where an archive was never tried and can be written.

    One that could not be recorded is left empty, and is not tried again.
    """
    missing = [archive for archive in (broker_classes(), spark_classes()) if not archive.tried]
    if not missing or RECORD_VARIABLE in os.environ or not _writable(archive_folder()):
        return
    note("recording the classes of Kafka and Spark, once: every later start takes half the time")
    folder.mkdir(parents=True)
    _conduct_recorded(folder, guard)
    archive_folder().mkdir(parents=True, exist_ok=True)
    for archive in missing:
        recorded = folder / archive.file.name
        recorded.touch()
        # Under another name first: no start may see half of it.
        beside = archive.file.with_suffix(f".{os.getpid()}")
        shutil.copyfile(recorded, beside)
        beside.replace(archive.file)
    shutil.rmtree(folder)


def _conduct_recorded(folder: Path, guard: Guard) -> None:
    command = [sys.executable, "-m", "streamgauge.lab.recorded_trial", str(folder / "runs")]
    child = start_child(command, guard, environment={**os.environ, RECORD_VARIABLE: str(folder)}, folder=folder)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_LIMIT_S)
    finally:
        end_process(child, 5.0, guard)


def _writable(folder: Path) -> bool:
    there = next(each for each in (folder, *folder.parents) if each.is_dir())
    return os.access(there, os.W_OK)


if __name__ == "__main__":
    with WorkFolder.create("recording") as work, Guard() as started:
        started.folder(work.path)
        record_missing(work.path / "trial", started, print)
