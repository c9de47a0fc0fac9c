"""The page on architecture and the rooms in the code agree."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_room_is_on_the_page_and_no_other() -> None:
    rooms = {p.name for p in (ROOT / "src" / "streamgauge").iterdir() if (p / "__init__.py").exists()}
    table = re.findall(r"^\| \d+ \| (.+?) \|", (ROOT / "docs" / "architecture.md").read_text(), re.MULTILINE)
    assert {name for cell in table for name in re.findall(r"`(\w+)/`", cell)} == rooms


def test_files_stay_short_and_names_say_something() -> None:
    files = [p for folder in ("src", "tests", "bench") for p in (ROOT / folder).rglob("*.py")]
    assert [str(p) for p in files if len(p.read_text().splitlines()) > 400] == []
    vague = re.compile(r"(utils?|helpers?|common|misc|manager)(\.py)?$")
    assert [str(p) for p in files if vague.search(p.name)] == []
