"""The stored tables of words: sentiments by stem, and odds of spam by counts."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv
import pytest
import snowballstemmer

from streamgauge.model.errors import UserError
from streamgauge.streams.tables import sentiment_words, word_odds


def _kinds(rows: object) -> dict[str, tuple[str, str]]:
    return {row["word"]: (row["stem"], row["kind"]) for row in rows.to_pylist()}  # type: ignore[attr-defined]


def test_everyday_words_have_the_sentiment_that_everybody_expects() -> None:
    kinds = {word: kind for word, (_, kind) in _kinds(sentiment_words.TABLE.synthetic()).items()}
    for word in ("good", "love", "loved", "loving", "happy", "great", "enjoying"):
        assert kinds[word] == "positive", word
    for word in ("bad", "hate", "hated", "sad", "awful", "crying", "annoying"):
        assert kinds[word] == "negative", word
    for word in ("the", "and", "with", "don't"):
        assert kinds[word] == "stop", word
    assert "sunrise" not in kinds


def test_words_of_one_stem_have_one_sentiment() -> None:
    stem_of = snowballstemmer.stemmer("english").stemWord
    kind_of_stem: dict[str, str] = {}
    for word, (stem, kind) in _kinds(sentiment_words.TABLE.synthetic()).items():
        if kind != "stop":
            assert stem == stem_of(word)
            assert kind_of_stem.setdefault(stem, kind) == kind, word
    assert len(kind_of_stem) > 2500


def test_other_ratings_are_summed_by_stem_and_inflected(tmp_path: Path) -> None:
    file = tmp_path / "ratings.txt"
    file.write_text("Glow\t2\nglowing\t-1\t0.5\t[1]\ngloom\t-3\n:)\t3\nthe\t1\nmeh\t0\n")
    assert sentiment_words.TABLE.recorded is not None
    kinds = _kinds(sentiment_words.TABLE.recorded(file))
    rated = {word: row for word, row in kinds.items() if row[1] != "stop"}
    assert rated["glow"] == rated["glows"] == rated["glowed"] == rated["glowing"] == ("glow", "positive")
    assert rated["gloom"] == rated["glooms"] == ("gloom", "negative")
    assert rated["the"] == ("the", "positive")
    assert "meh" not in kinds and kinds["and"] == ("and", "stop")


@pytest.mark.parametrize("content", ["", "love\n", "love\tvery\n"])
def test_a_list_without_ratings_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "ratings.txt"
    file.write_text(content)
    assert sentiment_words.TABLE.recorded is not None
    with pytest.raises(UserError):
        sentiment_words.TABLE.recorded(file)


def test_the_kept_counts_are_what_training_gives() -> None:
    kept = pyarrow.csv.read_csv(word_odds.KEPT_FILE)
    assert kept.to_pydict() == word_odds.trained().to_pydict()


def test_odds_follow_from_counts(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("word,spam,ham\nwin,2,1\ncash,1,0\nlunch,0,1\n")
    assert word_odds.TABLE.recorded is not None
    odds = {row["word"]: row["odds_millionths"] for row in word_odds.TABLE.recorded(file).to_pylist()}
    # win: (2/3) / (2/3 + 2 · 1/2) = 0.4; the others are held to 0.99 and 0.01.
    assert odds == {"win": -405_465, "cash": 4_595_120, "lunch": -4_595_120}


def test_a_word_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("win,2,1\nwin,1,0\n")
    assert word_odds.TABLE.recorded is not None
    with pytest.raises(UserError, match="win"):
        word_odds.TABLE.recorded(file)
