"""The archive of a program's classes: told by its jars and its Java, used when it is there, recorded when asked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from streamgauge.log.broker import broker_classes
from streamgauge.places import spark_classes
from streamgauge.places.spark_home import spark_class_path
from streamgauge.provision.class_archive import RECORD_VARIABLE, ClassArchive, ending_grace_s
from streamgauge.provision.jars import jar_paths
from streamgauge.provision.java import find_java


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClassArchive:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.delenv(RECORD_VARIABLE, raising=False)
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"classes")
    return ClassArchive("program", (jar,))


def test_without_an_archive_java_is_told_nothing(archive: ClassArchive) -> None:
    assert not archive.tried
    assert archive.options() == ()


def test_one_that_could_not_be_recorded_is_not_tried_again(archive: ClassArchive) -> None:
    archive.file.parent.mkdir(parents=True)
    archive.file.touch()
    assert archive.tried
    assert archive.options() == ()


def test_one_that_is_there_is_used(archive: ClassArchive) -> None:
    archive.file.parent.mkdir(parents=True)
    archive.file.write_bytes(b"archived")
    assert f"-XX:SharedArchiveFile={archive.file}" in archive.options()


def test_other_jars_have_another(archive: ClassArchive, tmp_path: Path) -> None:
    (tmp_path / "b.jar").write_bytes(b"other classes")
    assert ClassArchive("program", (tmp_path / "b.jar",)).file != archive.file


def test_a_trial_that_records_gives_java_time_to_write(
    archive: ClassArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ending_grace_s(1.0) == 1.0
    monkeypatch.setenv(RECORD_VARIABLE, str(tmp_path / "into"))
    assert f"-XX:ArchiveClassesAtExit={tmp_path / 'into' / archive.file.name}" in archive.options()
    assert ending_grace_s(1.0) > 10


def broker_archive() -> ClassArchive:
    return broker_classes(jar_paths("broker"))


def broker_path() -> str:
    return ":".join(map(str, jar_paths("broker")))


@pytest.mark.parametrize(("program", "class_path"), [(broker_archive, broker_path), (spark_classes, spark_class_path)])
def test_the_recorded_archives_fit(program: Callable[[], ClassArchive], class_path: Callable[[], str]) -> None:
    if not program().tried:
        pytest.skip("no archive was recorded: run `make setup`")
    assert program().options(), "the recording failed and left an empty archive"
    # With -Xshare:on Java refuses to start where it would otherwise leave the archive aside.
    command = [str(find_java().path), "-Xshare:on", *program().options(), "-cp", class_path(), "-version"]
    assert subprocess.run(command, capture_output=True, timeout=60).returncode == 0
