"""The README is true: its commands parse, plan and run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from streamgauge.cli import main

ROOT = Path(__file__).parents[1]
PROGRAM = ".venv/bin/streamgauge "
OWN = str(ROOT / "tests" / "applications" / "own_pipeline.py")


def commands() -> list[str]:
    lines = re.findall(r"```\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    found = [line for block in lines for line in block.splitlines() if line.startswith(PROGRAM)]
    return [line.partition(" #")[0].strip().removeprefix(PROGRAM) for line in found]


def test_the_readme_shows_every_verb() -> None:
    shown = {c.split()[0] for c in commands()}
    verbs = {"run", "search", "characterize", "list", "publish", "report", "compare", "history", "serve", "doctor"}
    assert shown == verbs


@pytest.mark.parametrize("command", [c for c in commands() if c.startswith("run")])
def test_every_run_in_the_readme_can_be_planned(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*shlex.split(command.replace("path/to/mine.py", OWN)), "--dry-run"]) == 0
    assert "trial" in capsys.readouterr().out


@pytest.mark.parametrize("command", [c for c in commands() if c.startswith(("list", "doctor"))])
def test_every_look_in_the_readme_can_be_taken(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out


def test_the_two_commands_and_all_other_targets_are_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"^make ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert {"demo", "test", "bench"} <= named <= targets


def test_every_page_that_the_readme_names_exists() -> None:
    pages = re.findall(r"\]\((\S+?\.md)\)", (ROOT / "README.md").read_text())
    assert len(pages) >= 8
    assert [p for p in pages if not (ROOT / p).exists()] == []
