"""`engines`: environments are listed with their way out, and a mistake is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamgauge.cli import main
from streamgauge.provision.engine_environment import EngineEnvironment


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_the_list_says_how_to_add_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engines", "list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["engines"]
    assert (row["name"], row["installed"], row["version"]) == ("flink", False, "2.2.1")
    assert row["way_out"] == "flink is not installed: streamgauge engines add flink"
    assert main(["engines", "list"]) == 0
    assert "streamgauge engines add flink" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fetch"], "unknown action 'fetch'"),
        (["add"], "no engine to add was named"),
        (["add", "flnk"], "Did you mean 'flink'"),
        (["remove", "spark-realtime"], "needs no environment of its own"),
    ],
)
def test_a_mistake_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engines", *words]) == 2
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error


def test_adding_twice_and_removing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    added: list[str] = []
    monkeypatch.setattr(EngineEnvironment, "add", lambda self, note: added.append(self.engine))
    assert main(["engines", "add", "flink"]) == 0
    monkeypatch.setattr(EngineEnvironment, "problem", lambda self: None)
    assert main(["engines", "add", "flink"]) == 0
    assert added == ["flink"]
    assert "flink 2.2.1 is installed" in capsys.readouterr().out
    assert main(["engines", "remove", "flink"]) == 0
    assert "was not installed" in capsys.readouterr().out
