from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from streamgauge.model.errors import UserError
from streamgauge.provision import guardian
from streamgauge.provision.guard import PROCESSES_FILE
from streamgauge.provision.work import WorkFolder, check_space, leftovers, sweep


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STREAMGAUGE_WORK", str(tmp_path))
    return tmp_path


def _orphan(root: Path, name: str = "orphan") -> Path:
    """A work folder whose owner has the number of a living process but started at another time."""
    folder = WorkFolder.create(name).path
    owner = {"pid": os.getpid(), "mark": "another start"}
    next(folder.glob("*owner.json")).write_text(json.dumps(owner))
    return folder


def test_a_work_folder_is_made_under_the_root_and_removed(root: Path) -> None:
    with WorkFolder.create("2026 run/1") as folder:
        assert folder.path.parent == root
        (folder.path / "data").mkdir()
    assert list(root.iterdir()) == []
    folder.close()


def test_sweep_leaves_the_living_and_the_foreign_alone(root: Path) -> None:
    mine = WorkFolder.create("mine")
    foreign = root / "holiday-photos"
    foreign.mkdir()
    assert sweep() == []
    assert mine.path.is_dir() and foreign.is_dir()


def test_sweep_removes_what_a_dead_owner_left(root: Path) -> None:
    folder = _orphan(root)
    assert leftovers() == [folder]
    assert sweep() == [folder.name]
    assert not folder.exists()


def test_sweep_removes_the_folder_of_a_command_that_ended(root: Path) -> None:
    code = "from streamgauge.provision.work import WorkFolder; print(WorkFolder.create('dead').path)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert Path(said.stdout.strip()).is_dir()
    assert sweep() == [Path(said.stdout.strip()).name]


def test_sweep_ends_processes_by_number_and_start_together(root: Path) -> None:
    own, reused = (subprocess.Popen(["sleep", "60"], start_new_session=True) for _ in range(2))
    try:
        mark = guardian.start_mark(own.pid)
        folder = _orphan(root)
        (folder / PROCESSES_FILE).write_text(json.dumps({str(own.pid): mark, str(reused.pid): "an earlier start"}))
        sweep()
        assert own.wait(timeout=5) != 0
        assert reused.poll() is None
    finally:
        for process in (own, reused):
            process.kill()
            process.wait()


def test_start_marks_tell_processes_apart_and_a_corpse_has_none() -> None:
    assert guardian.is_same(os.getpid(), guardian.start_mark(os.getpid()) or "")
    child = subprocess.Popen(["true"])
    psutil.wait_procs([psutil.Process(child.pid)], timeout=0)
    child.wait()
    assert guardian.start_mark(child.pid) is None


def test_check_space_says_both_amounts(tmp_path: Path) -> None:
    check_space(tmp_path / "not" / "yet", 1)
    with pytest.raises(UserError, match=r"1024.0 TiB of disk space are needed .* are free") as raised:
        check_space(tmp_path, 1024**5)
    assert "STREAMGAUGE_WORK" in raised.value.way_out


def test_a_root_that_cannot_be_written_is_the_users_to_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STREAMGAUGE_WORK", str(tmp_path / "file" / "below"))
    with pytest.raises(UserError, match="cannot make a work folder"):
        WorkFolder.create("x")
