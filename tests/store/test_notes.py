"""Tags, notes and the removal of runs: beside what was measured, and never a path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.model.errors import UserError
from streamgauge.store import HeldRunError, Notes, RunStore, UnknownRunError, notes_of, read_notes, write_notes
from tests.report.sample_run import store_sample


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A stored run without trials."""
    return store_sample(tmp_path, [])


def test_notes_are_kept_and_read_back(run: Path) -> None:
    given_notes = notes_of([" nightly ", "nightly", "two  words", ""], " <b>slow</b>\r\nsince the update \n")
    assert given_notes == Notes(("nightly", "two words"), "<b>slow</b>\nsince the update")
    write_notes(run, given_notes)
    assert read_notes(run) == given_notes
    assert [path.name for path in run.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("tags", "note"),
    [
        (["a,b"], ""),
        (["x" * 41], ""),
        ([f"tag{n}" for n in range(21)], ""),
        ("nightly", ""),
        ([1], ""),
        ([], None),
        ([], "x" * 4001),
        ([], "a\x00b"),
        ([], "half a pair: \ud800"),
    ],
)
def test_what_is_no_note_is_refused_in_words(tags: object, note: object) -> None:
    with pytest.raises(UserError):
        notes_of(tags, note)


@given(st.lists(st.text(max_size=50), max_size=25), st.text(max_size=4100))
def test_what_is_accepted_can_be_stored_and_is_stable(tags: list[str], note: str) -> None:
    try:
        kept = notes_of(tags, note)
    except UserError:
        return
    json.dumps([kept.tags, kept.note], ensure_ascii=False).encode()
    assert notes_of(kept.tags, kept.note) == kept


@pytest.mark.parametrize("text", ["{", "[]", '{"tags": 3}', ""])
def test_a_damaged_file_of_notes_has_none(run: Path, text: str) -> None:
    (run / "notes.json").write_text(text)
    assert read_notes(run) == Notes()


def test_a_run_is_deleted_whole_and_others_stay(tmp_path: Path) -> None:
    one, other = store_sample(tmp_path, []), store_sample(tmp_path, [])
    RunStore(tmp_path).delete(one.name)
    assert not one.exists()
    assert [each.id for each in RunStore(tmp_path).list()] == [other.name]


def test_a_run_that_is_being_written_is_not_deleted(tmp_path: Path) -> None:
    writer = RunStore(tmp_path).create(command="streamgauge run grep", trials=1)
    with pytest.raises(HeldRunError, match="being written by another command"):
        RunStore(tmp_path).delete(writer.id)
    writer.finish("interrupted")
    RunStore(tmp_path).delete(writer.id)
    assert not writer.folder.exists()


@pytest.mark.parametrize("name", ["", ".", "..", "../inside", "/", "a\x00b", "x" * 5000, "latest", "\udcff"])
def test_a_name_is_never_a_path_nor_the_beginning_of_one(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "inside"
    (tmp_path / "run.json").write_text("{}")
    stored = store_sample(inside, [])
    for wrong in (name, stored.name[:-1], f"{stored.name}/", f"./{stored.name}", f"../inside/{stored.name}"):
        with pytest.raises(UnknownRunError):
            RunStore(inside).delete(wrong)
    assert stored.is_dir()
