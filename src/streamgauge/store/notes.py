"""What a person says of a run: tags and a note, in a file beside what was measured, which they never change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge.model.errors import StoreError, UserError
from streamgauge.store.files import read_json, write_json

NOTES = "notes.json"
LONGEST_NOTE = 4000
LONGEST_TAG = 40
MOST_TAGS = 20

_SCHEMA = 1


@dataclass(frozen=True)
class Notes:
    """Tags in their order, and a note of plain text; what `notes_of` gives and nothing else is stored."""

    tags: tuple[str, ...] = ()
    note: str = ""


def notes_of(tags: Any, note: Any) -> Notes:
    """Tags and a note as they are kept, or what is wrong with them."""
    if not isinstance(note, str) or not isinstance(tags, list | tuple) or not all(isinstance(t, str) for t in tags):
        raise UserError("a note is a text, and tags are a list of texts")
    kept = tuple(dict.fromkeys(" ".join(_printable(tag, "a tag").split()) for tag in tags))
    kept = tuple(tag for tag in kept if tag)
    if len(kept) > MOST_TAGS:
        raise UserError(f"{len(kept)} tags are too many", f"Give {MOST_TAGS} at most")
    for tag in kept:
        if len(tag) > LONGEST_TAG or "," in tag:
            raise UserError(f"'{tag[:LONGEST_TAG]}' is no tag", f"A tag has no comma and {LONGEST_TAG} letters at most")
    text = _printable(note.replace("\r\n", "\n").replace("\r", "\n"), "the note").strip()
    if len(text) > LONGEST_NOTE:
        raise UserError(f"the note has {len(text):,} letters", f"Shorten it to {LONGEST_NOTE:,}")
    return Notes(kept, text)


def read_notes(folder: Path) -> Notes:
    """The notes of a run; a file that is absent or damaged has none."""
    try:
        found = read_json(folder / NOTES, "")
        return notes_of(found.get("tags", []), found.get("note", ""))
    except (StoreError, UserError):
        return Notes()


def write_notes(folder: Path, notes: Notes) -> None:
    """Keep the notes of a run, whole or not at all."""
    write_json(folder / NOTES, {"schema": _SCHEMA, "tags": list(notes.tags), "note": notes.note})


def _printable(text: str, what: str) -> str:
    if any(_unwritable(character) for character in text):
        raise UserError(f"{what} holds characters that are no text")
    return text


def _unwritable(character: str) -> bool:
    """Whether a character cannot be shown or written: a control character, or half of a surrogate pair."""
    code = ord(character)
    return (code < 32 and character not in "\n\t") or code == 127 or 0xD800 <= code <= 0xDFFF
