"""Finding applications by name and by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.applications import all_applications, get_application
from streamgauge.model import Application, UserError

HERE = Path(__file__).parent
PROGRAMS_OF_STREAMBENCH = {
    "identity",
    "sample",
    "projection",
    "grep",
    "wordcount",
    "distinct-count",
    "statistics",
}


def test_the_seven_programs_of_streambench_are_there():
    found = all_applications()
    assert found.keys() >= PROGRAMS_OF_STREAMBENCH
    for name in PROGRAMS_OF_STREAMBENCH:
        assert "SB1" in found[name].papers


@pytest.mark.parametrize("application", all_applications().values(), ids=lambda a: a.name)
def test_every_application_asks_a_question_and_accepts_its_own_defaults(application: Application):
    assert application.question.endswith("?")
    spelled = {name: str(parameter.default) for name, parameter in application.parameters.items()}
    assert application.bind(spelled) == application.bind({})


def test_an_application_is_found_by_its_name():
    assert get_application("distinct-count").name == "distinct-count"


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UserError, match=r"unknown application 'wordcuont'\. Did you mean 'wordcount'\?"):
        get_application("wordcuont")


def test_an_application_is_found_by_the_path_of_a_file():
    assert get_application(str(HERE / "own_pipeline.py")).name == "orders-per-shop"


@pytest.mark.parametrize("path", ["no/such/mine.py", "mine.py", "./mine"])
def test_a_path_without_a_file_is_the_users_mistake(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="there is no file"):
        get_application(path)


def test_a_file_with_a_mistake_is_answered_with_its_line(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("x = 1\ndef broken(:\n")
    with pytest.raises(UserError, match=r"mine\.py, line 2"):
        get_application(str(file))


def test_a_file_without_an_application_is_answered_with_the_tutorial(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("x = 1\n")
    with pytest.raises(UserError, match=r"defines no APPLICATION\. .*docs/your-own-pipeline\.md"):
        get_application(str(file))
