"""A user's own file: loaded when it is sound, one line with the way out when it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.model import UserError
from streamgauge.model.loading import load_application, load_module

SOUND = """
from streamgauge.model import Application, Expected, Field, FieldType, Output, PerEvent, Stream, Text, stage

LINES = Stream("lines", "Lines", (Field("line", FieldType.STRING),), Text("line"), lambda seed: None)


@stage
def keep(lines):
    return lines


APPLICATION = Application(
    name="mine",
    question="What comes back?",
    inputs={"lines": LINES},
    stages=(keep,),
    outputs=(Output("keep", lambda events: Expected(rows=events), PerEvent(("line",))),),
)
"""


def written(folder: Path, text: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        load_application(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_sound_file(tmp_path: Path) -> None:
    mine = load_application(written(tmp_path, SOUND))
    assert mine.name == "mine"
    assert mine.stage("keep")(["a"]) == ["a"]


def test_a_file_that_was_corrected_is_read_anew(tmp_path: Path) -> None:
    path = written(tmp_path, "x = ")
    refusal(path)
    path.write_text(SOUND)
    assert load_application(path).name == "mine"


def test_a_file_called_like_a_module_does_not_replace_it(tmp_path: Path) -> None:
    import json

    load_application(written(tmp_path, SOUND, "json.py"))
    import json as again

    assert again is json


def test_a_syntax_error_names_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, "import math\n\ndef broken(:\n    pass\n")
    assert refusal(path) == f"{path}, line 3: invalid syntax. Correct it and run again"


def test_an_exception_names_the_last_line_of_the_users_own_file(tmp_path: Path) -> None:
    path = written(tmp_path, "import json\n\n\ndef read():\n    return json.loads('{')\n\n\nread()\n")
    assert refusal(path).startswith(f"{path}, line 5: JSONDecodeError: Expecting property name")


def test_a_missing_import_names_what_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path, "import no_such_module_anywhere\n")
    assert refusal(path) == (
        f"{path}, line 1: ModuleNotFoundError: No module named 'no_such_module_anywhere'. Correct it and run again"
    )


def test_a_mistake_in_the_graph_is_told_in_its_own_words(tmp_path: Path) -> None:
    path = written(tmp_path, SOUND.replace("def keep(lines)", "def keep(rows)"))
    assert refusal(path) == (
        "application 'mine': stage 'keep' reads 'rows', which is no input, no table and no earlier stage. "
        "Name its parameters after one of: lines"
    )


@pytest.mark.parametrize("text", ["", "APPLICATION = 'mine'\n"])
def test_no_application(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    assert refusal(path) == (
        f"{path} defines no APPLICATION. Add APPLICATION = Application(…): docs/your-own-pipeline.md shows how"
    )


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "none.py", tmp_path):
        assert refusal(path) == f"there is no file {path}. Give the path of a Python file that defines APPLICATION"


def test_not_a_python_file(tmp_path: Path) -> None:
    path = written(tmp_path, SOUND, "mine.txt")
    with pytest.raises(UserError) as caught:
        load_module(path)
    assert str(caught.value) == f"{path} is not a Python file. Give a file that ends in .py"


def test_a_relative_path_names_the_line_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "import math\n\nmath.sqrt(-1)\n")
    monkeypatch.chdir(tmp_path)
    assert refusal(Path("mine.py")).startswith("mine.py, line 3: ValueError: ")


def test_an_exception_of_several_lines_is_told_in_one(tmp_path: Path) -> None:
    path = written(tmp_path, "raise ValueError('first\\nsecond')\n")
    assert refusal(path) == f"{path}, line 1: ValueError: first. Correct it and run again"


def test_a_file_that_is_no_text_names_no_line(tmp_path: Path) -> None:
    path = written(tmp_path, "x\0y\n")
    assert "None" not in refusal(path)


def test_a_file_that_exits_is_the_users_mistake(tmp_path: Path) -> None:
    path = written(tmp_path, "import sys\n\nsys.exit(1)\n")
    assert refusal(path).startswith(f"{path}, line 3: ")
