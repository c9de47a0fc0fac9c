"""The generated pages are current, complete and linked."""

from __future__ import annotations

import re
from pathlib import Path

from streamgauge.applications import all_applications
from streamgauge.report.application_pages import pages, write_pages

FOLDER = Path(__file__).parents[2] / "docs" / "applications"


def test_the_pages_are_current() -> None:
    made = pages()
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    stale = sorted(name for name in {*made, *kept} if made.get(name) != kept.get(name))
    assert stale == [], "run: make docs"


def test_every_application_has_a_page_with_everything() -> None:
    made = pages()
    for name, application in all_applications().items():
        text = made[f"{name}.md"]
        assert application.question in text
        assert f"]({name}.svg)" in text
        for each in application.stages:
            assert f"### {each.name}\n" in text
        for said in (*application.parameters, *application.deviations, *application.papers):
            assert said in text
        assert re.search(r"## Definition\n\n\S", text)
        assert f"]({name}.md)" in made["README.md"]


def test_a_page_says_engines_with_their_gaps_and_both_kinds_of_output() -> None:
    text = pages()["wordcount.md"]
    assert "| spark-microbatch | ✓ |" in text
    assert "| spark-continuous | gap (never) | stage 'count' uses aggregate" in text
    assert "with `--stop-after split`" in text
    assert "latest per `word`" in text


def test_a_page_of_an_application_that_is_gone_is_removed(tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("old")
    write_pages(tmp_path)
    assert not (tmp_path / "gone.md").exists()
    assert (tmp_path / "wordcount.md").read_text() == pages()["wordcount.md"]
