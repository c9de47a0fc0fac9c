from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.model.errors import UserError
from streamgauge.provision import java


def _fake_java(folder: Path, version: str, exit_code: int = 0) -> Path:
    (folder / "bin").mkdir(parents=True)
    script = folder / "bin" / "java"
    script.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\nexit {exit_code}\n")
    script.chmod(0o755)
    return folder


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    return monkeypatch


def test_the_installed_java_is_new_enough_and_knows_its_home() -> None:
    found = java.find_java()
    assert found.major >= java.OLDEST_JAVA
    assert found.home is not None and (found.home / "bin" / "java").exists()
    assert found.environment()["JAVA_HOME"] == str(found.home)


def test_no_java_is_one_line_with_a_way_out(bare: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="Java is not installed") as raised:
        java.find_java()
    assert "JAVA_HOME" in raised.value.way_out
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "16"])
def test_an_old_java_is_refused_with_its_version(bare: pytest.MonkeyPatch, tmp_path: Path, version: str) -> None:
    bare.setenv("PATH", str(_fake_java(tmp_path / "old", version) / "bin"))
    with pytest.raises(UserError, match=f"PATH has Java {version}"):
        java.find_java()


def test_java_home_comes_first_and_path_stands_in_when_it_is_too_old(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    new, newer, old = (_fake_java(tmp_path / v, v) for v in ("17.0.1", "21", "8"))
    bare.setenv("PATH", str(new / "bin"))
    bare.setenv("JAVA_HOME", str(newer))
    assert java.find_java().version == "21"
    bare.setenv("JAVA_HOME", str(old))
    assert java.find_java().version == "17.0.1"


def test_a_java_that_does_not_start_is_named_by_its_place(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("JAVA_HOME", str(_fake_java(tmp_path / "broken", "17", exit_code=1)))
    with pytest.raises(UserError, match="JAVA_HOME has no Java that starts"):
        java.find_java()
