"""Recording is tried once: what a trial wrote is kept, and where it wrote nothing an empty file says so."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import pytest

from streamgauge.lab import class_recording
from streamgauge.provision.class_archive import ClassArchive
from streamgauge.provision.guard import Guard


@pytest.fixture
def missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, ClassArchive]:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    (tmp_path / "environment").mkdir()
    archives = {name: ClassArchive(name, (tmp_path / f"{name}.jar",)) for name in ("broker", "spark")}
    monkeypatch.setattr(class_recording, "broker_classes", lambda jars: archives["broker"])
    monkeypatch.setattr(class_recording, "spark_classes", lambda: archives["spark"])
    return archives


def test_what_was_recorded_is_kept_and_what_was_not_is_not_tried_again(
    missing: dict[str, ClassArchive], tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def conduct(folder: Path, guard: Guard) -> None:
        (folder / missing["spark"].file.name).write_bytes(b"archived")

    monkeypatch.setattr(class_recording, "_conduct_recorded", conduct)
    notes: list[str] = []
    class_recording.record_missing(tmp_path / "work", guard, notes.append)
    assert missing["spark"].file.read_bytes() == b"archived"
    assert missing["broker"].file.read_bytes() == b""
    assert not (tmp_path / "work").exists()
    class_recording.record_missing(tmp_path / "work", guard, notes.append)
    assert len(notes) == 1


def test_an_environment_that_cannot_be_written_is_left_alone(
    missing: dict[str, ClassArchive], tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_recording.os, "access", lambda path, mode: False)
    notes: list[str] = []
    class_recording.record_missing(tmp_path / "work", guard, notes.append)
    assert notes == []
    assert not missing["spark"].tried


def test_a_full_disk_is_told_and_leaves_nothing_half_written(
    missing: dict[str, ClassArchive], tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(class_recording, "_conduct_recorded", lambda folder, guard: None)
    monkeypatch.setattr(class_recording.shutil, "copyfile", full)
    notes: list[str] = []
    class_recording.record_missing(tmp_path / "work", guard, notes.append)
    assert "No space left" in notes[-1]
    assert list(missing["broker"].file.parent.iterdir()) == []
