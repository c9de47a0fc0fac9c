"""Tweets as Twitter's streaming interface sent them become events; what is no tweet is skipped."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.tweets import STREAM

SAMPLE = Path(__file__).parent / "data" / "twitter-sample.jsonl"


def _events(count: int) -> list[dict[str, object]]:
    assert STREAM.recorded is not None
    rows: list[dict[str, object]] = STREAM.recorded(SAMPLE).block(0, count).to_pylist()
    return rows


def test_a_tweet_keeps_its_number_time_language_and_text() -> None:
    assert _events(6)[2] == {
        "id": 900000000000000002,
        "created_ms": 1_219_842_010_000,
        "lang": "de",
        "text": "Guten Morgen aus Köln #morgen 2",
    }


def test_notices_and_empty_lines_are_skipped_and_the_file_is_looped() -> None:
    events = _events(53)
    assert [row["id"] for row in events[:26]] == [900000000000000000 + n for n in range(26)]
    assert [row["id"] for row in events[26:52]] == [row["id"] for row in events[:26]]
    assert events[26]["created_ms"] > events[25]["created_ms"]  # type: ignore[operator]
    assert events[52]["created_ms"] > events[51]["created_ms"]  # type: ignore[operator]


def test_long_texts_other_names_and_missing_languages() -> None:
    extended, archived = _events(26)[24:]
    assert extended == {
        "id": 900000000000000024,
        "created_ms": 1_219_842_675_123,
        "lang": "en",
        "text": "a long message that goes on and on #long",
    }
    assert (archived["lang"], archived["text"]) == ("und", "from the archive\nsecond line #old")


def test_events_in_our_own_form_are_read_too(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text('{"id": 5, "created_ms": 1356998400001, "lang": "en", "text": "hi"}\n')
    assert STREAM.recorded is not None
    assert STREAM.recorded(file).block(0, 1).to_pylist() == [
        {"id": 5, "created_ms": 1_356_998_400_001, "lang": "en", "text": "hi"}
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "has no tweets"),
        ('{"delete": {}}\n', "has no tweets"),
        ('{"text": "half', "line 1"),
        ("[1]\n", "line 1"),
        ('{"id": 1, "text": "x", "created_at": "yesterday"}\n', "line 1"),
    ],
)
def test_a_file_without_tweets_is_refused(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "tweets.jsonl"
    file.write_text(content)
    assert STREAM.recorded is not None
    with pytest.raises(UserError, match=said):
        STREAM.recorded(file)


def test_generated_tweets_are_plausible_and_trends_change() -> None:
    source = STREAM.synthetic(3)
    block = source.block(0, 50_000)
    english = pc.sum(pc.equal(block["lang"], "en")).as_py() / 50_000
    assert 0.55 < english < 0.65
    tagged = pc.sum(pc.match_substring(block["text"], "#")).as_py() / 50_000
    assert 0.45 < tagged < 0.55
    assert block["created_ms"].to_numpy().min() > 1_356_998_398_000
    far = source.block(10_000_000, 10)["created_ms"].to_numpy()
    assert far.min() > block["created_ms"].to_numpy().max()

    def favourite(start: int) -> str:
        counts = pc.value_counts(_tags(source.block(start, 3000)["text"]))
        return str(counts.field("values")[pc.index(counts.field("counts"), pc.max(counts.field("counts")))])

    assert len({favourite(start) for start in range(0, 60_000, 12_000)}) >= 4


def _tags(texts: pa.Array) -> pa.Array:
    terms = pc.list_flatten(pc.split_pattern(texts, " "))
    return terms.filter(pc.starts_with(terms, "#"))
