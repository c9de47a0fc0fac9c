"""Checkpoints lie where the user wants them, and nothing of them stays there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamgauge.lab import checkpoint_folder
from streamgauge.lab.checkpoint_folder import CheckpointFolder, location_gap
from streamgauge.lab.conduct import Conductor
from streamgauge.lab.planning import plan_trials
from streamgauge.lab.request import RunRequest
from streamgauge.model import EngineError, UserError
from streamgauge.provision.guard import Guard


def test_without_a_location_they_lie_with_the_trials_other_files(tmp_path: Path, guard: Guard) -> None:
    found = CheckpointFolder("", tmp_path, "run-1", guard)
    assert found.of("measured") == str(tmp_path / "checkpoint-measured") and found.elsewhere is None
    found.remove()
    assert tmp_path.is_dir()


def test_a_location_gets_a_folder_for_the_trial_that_is_removed(tmp_path: Path, guard: Guard) -> None:
    found = CheckpointFolder(str(tmp_path), tmp_path / "trial", "run-1", guard)
    assert found.of("measured") == str(tmp_path / "run-1" / "checkpoint-measured")
    Path(found.of("measured"), "offsets").mkdir(parents=True)
    found.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_location_in_another_file_system_is_left_to_the_job_process(tmp_path: Path, guard: Guard) -> None:
    assert location_gap("hdfs://somewhere/checkpoints") is None
    found = CheckpointFolder("hdfs://somewhere/checkpoints/", tmp_path, "run-1", guard)
    assert found.elsewhere == "hdfs://somewhere/checkpoints/run-1"
    assert found.of("measured") == "hdfs://somewhere/checkpoints/run-1/checkpoint-measured"
    found.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_location_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert location_gap("") is None and location_gap(str(tmp_path)) is None
    with pytest.raises(UserError, match="where nothing can be written"):
        location_gap(str(tmp_path / "missing"))
    monkeypatch.setattr(checkpoint_folder, "IN_MEMORY", tmp_path / "missing")
    gap = location_gap("memory")
    assert gap is not None and gap.kind == "not-here"


def test_a_trial_that_cannot_be_conducted_leaves_nothing_there(tmp_path: Path, guard: Guard) -> None:
    location, work = tmp_path / "fast", tmp_path / "work"
    location.mkdir()
    work.mkdir()
    settings = {"checkpoint-location": str(location)}
    request = RunRequest(applications=("grep",), load="preloaded", faults=("kill driver at half",), settings=settings)
    _, broken = plan_trials(request)
    lab: Any = SimpleNamespace(run="run", folder=work, cluster=None, guard=guard, broker=None)
    with pytest.raises(EngineError, match="half of the trial is not known"):
        Conductor(lab, broken, 1, lambda *_: None)
    assert list(location.iterdir()) == []
