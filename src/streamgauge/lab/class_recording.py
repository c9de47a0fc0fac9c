"""Records, once, the classes that Kafka and Spark load, so that later runs start sooner."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from streamgauge.log.broker import broker_classes
from streamgauge.model.errors import StreamgaugeError
from streamgauge.places import spark_classes
from streamgauge.provision.class_archive import RECORD_VARIABLE, archive_folder
from streamgauge.provision.guard import Guard
from streamgauge.provision.jars import jar_paths
from streamgauge.provision.processes import end_process, start_child
from streamgauge.provision.work import WorkFolder

_LIMIT_S = 300.0


def record_missing(folder: Path, guard: Guard, note: Callable[[str], None]) -> None:
    """Conduct a small trial with the recording on, where an archive was never tried and can be written.

    One that could not be recorded is left empty, and is not tried again.
    """
    missing = [archive for archive in (broker_classes(jar_paths("broker")), spark_classes()) if not archive.tried]
    if not missing or RECORD_VARIABLE in os.environ or not _writable(archive_folder()):
        return
    note("recording the classes of Kafka and Spark, once, in about a minute: later runs start sooner")
    folder.mkdir(parents=True)
    _conduct_recorded(folder, guard)
    try:
        for archive in missing:
            _keep(folder / archive.file.name, archive.file)
    except OSError as error:
        note(f"the classes were not kept, and runs start as before: {error.strerror}")
    shutil.rmtree(folder, ignore_errors=True)


def _keep(recorded: Path, file: Path) -> None:
    """Under another name first: no start may see half of it."""
    recorded.touch()
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}")
    try:
        shutil.copyfile(recorded, beside)
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


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
    try:
        with WorkFolder.create("recording") as work, Guard() as started:
            started.folder(work.path)
            record_missing(work.path / "trial", started, print)
    except StreamgaugeError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
