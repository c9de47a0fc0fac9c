"""Mails of the public collections become events: their text without markup, their label, and their mailbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.mails import STREAM

DATA = Path(__file__).parent / "data"


def _events(name: str, count: int) -> list[dict[str, Any]]:
    assert STREAM.recorded is not None
    rows: list[dict[str, Any]] = STREAM.recorded(DATA / name).block(0, count).to_pylist()
    return rows


def test_a_trec_index_names_labels_and_messages() -> None:
    events = _events("trec07/full/index", 12)
    assert [row["label"] for row in events] == ["ham", "ham", "spam"] * 4
    assert [row["kind"] for row in events] == ["train", "analyse"] * 6
    assert " ".join(events[0]["text"].split()) == "Minutes of meeting 1 The text of message 1, in two lines."
    assert len({row["mailbox"] for row in events[0::2]}) == len({row["mailbox"] for row in events[1::2]}) == 1
    assert events[0]["mailbox"] != events[1]["mailbox"]


def test_parts_are_decoded_and_markup_is_left_out() -> None:
    events = _events("trec07/full/index", 12)
    assert " ".join(events[4]["text"].split()) == "Minutes of meeting 5 Grüße aus dem Büro"
    assert " ".join(events[5]["text"].split()) == "Cheap pills now buy now"
    assert events[8]["text"] == "Cheap pills now"


def test_enron_spam_is_a_csv_file_with_labels() -> None:
    events = _events("enron-spam-sample.csv", 20)
    assert [row["label"] for row in events[:6]] == ["spam", "ham", "ham", "ham", "ham", "spam"]
    assert events[1]["text"] == 'subject 1 line one, with a comma\nand "quotes" in line two'
    assert events[4]["text"] == "subject 4"


def test_the_enron_corpus_is_a_csv_file_of_whole_messages() -> None:
    events = _events("enron-sample.csv", 20)
    assert {row["label"] for row in events} == {None} and {row["kind"] for row in events} == {"analyse"}
    assert " ".join(events[3]["text"].split()) == "plan 3 Here is our forecast number 3"
    assert events[0]["mailbox"] == events[2]["mailbox"] != events[1]["mailbox"]


def test_an_mbox_file_has_no_labels() -> None:
    events = _events("mail-sample.mbox", 45)
    assert [row["id"] for row in events] == [*range(20), *range(20), *range(5)]
    assert " ".join(events[7]["text"].split()) == "note 7 Body of note 7 >From the archive"
    assert events[0]["mailbox"] == events[3]["mailbox"] != events[1]["mailbox"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "in none of the forms"),
        ("hello\n", "in none of the forms"),
        ("ham ../data/inmail.99\n", "there is no file"),
        ("ham ../data/inmail.1\neggs ../data/inmail.2\n", "line 2"),
        ("file,message\n", "has no messages"),
    ],
)
def test_a_file_that_is_no_mail_is_refused(tmp_path: Path, content: str, said: str) -> None:
    folder = tmp_path / "full"
    folder.mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "inmail.1").write_text("Subject: x\n\ny\n")
    file = folder / "index"
    file.write_text(content)
    assert STREAM.recorded is not None
    with pytest.raises(UserError, match=said):
        STREAM.recorded(file)


def test_generated_mails_are_plausible() -> None:
    block = STREAM.synthetic(3).block(0, 50_000)
    words = pc.list_value_length(pc.split_pattern(block["text"], " "))
    assert pc.min_max(words).as_py() == {"min": 20, "max": 60}
    assert 0.38 < pc.sum(pc.equal(block["label"], "spam")).as_py() / 50_000 < 0.42
    assert 0.48 < pc.sum(pc.equal(block["kind"], "train")).as_py() / 50_000 < 0.52
    assert pc.count_distinct(block["mailbox"]).as_py() == 128
