"""Plain text is cut into sentences: books without their licence, articles without their markup."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.sentences import STREAM, sentences_of
from streamgauge.streams.wire import encode

DATA = Path(__file__).parent / "data"


def _sentences(path: Path, count: int) -> list[str]:
    assert STREAM.recorded is not None
    return [payload.decode() for payload in encode(STREAM, STREAM.recorded(path).block(0, count)).to_pylist()]


def test_a_gutenberg_book_is_read_without_its_licence() -> None:
    assert _sentences(DATA / "gutenberg-sample.txt", 9) == [
        "CHAPTER I",
        "The lamp had been out for an hour.",
        '"Who is there?"',
        "she asked.",
        "Nobody answered!",
        "Mr.",
        "Quill (he kept the key) slept...",
        "or so they said.",
        "THE END",
    ]


def test_articles_are_read_without_the_lines_around_them() -> None:
    found = _sentences(DATA / "wikipedia-sample.txt", 8)
    assert found[:7] == [
        "Plonk",
        "Plonk is a village.",
        "It lies near Grail, 3.5 km from the sea.",
        "東は方角である。 次の文。",
        "Is it so?",
        "Yes.",
        "Plonk",
    ]
    assert found[7] == found[1]


def test_windows_lines_and_gzip_are_read(tmp_path: Path) -> None:
    file = tmp_path / "text.txt.gz"
    file.write_bytes(gzip.compress(b"One two\r\nthree.\r\n\r\nFour.\r\n"))
    assert _sentences(file, 2) == ["One two three.", "Four."]


def test_marks_in_a_row_and_marks_inside_a_word_do_not_cut() -> None:
    assert list(sentences_of("Really?! It is 3.14 (or so). (Yes.) End")) == [
        "Really?!",
        "It is 3.14 (or so).",
        "(Yes.)",
        "End",
    ]


@pytest.mark.parametrize(
    ("content", "told"), [(b"", "has no sentences"), (b" \n\n ", "has no sentences"), (b"\xff\xfe", "UTF-8")]
)
def test_a_file_without_text_is_named(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "bad.txt"
    file.write_bytes(content)
    with pytest.raises(UserError, match=told) as raised:
        _sentences(file, 1)
    assert str(file) in raised.value.cause
    with pytest.raises(UserError, match="there is no file"):
        _sentences(tmp_path / "none.txt", 1)
