"""Keys can be even or skewed, and events stay a function of seed and index."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.model import UserError
from streamgauge.streams import get_stream
from streamgauge.streams.placement import partitions_of
from streamgauge.streams.reference import StreamReference, open_source, parse_key_skew
from streamgauge.streams.wire import encode

SKEWED = ("sensor-readings", "sentences")


def events(name: str, skew: str | None, start: int = 0, count: int = 20_000, seed: int = 7) -> pa.RecordBatch:
    _, source = open_source(StreamReference(name, key_skew=skew), seed)
    return source.block(start, count)


@given(
    st.sampled_from(SKEWED),
    st.integers(0, 2**63),
    st.integers(0, 2**35),
    st.lists(st.integers(1, 90), min_size=1, max_size=4),
)
@settings(deadline=None, max_examples=20)
def test_blocks_of_any_size_agree(name: str, seed: int, start: int, sizes: list[int]) -> None:
    stream = get_stream(name)
    whole = encode(stream, events(name, "1.2", start, sum(sizes), seed))
    begins = np.cumsum([start, *sizes]).tolist()
    parts = [encode(stream, events(name, "1.2", b, n, seed)) for b, n in zip(begins, sizes, strict=False)]
    assert pa.concat_arrays(parts).equals(whole)


def largest_partition(skew: str | None) -> float:
    stream = get_stream("sensor-readings")
    placed = partitions_of(stream, events("sensor-readings", skew), 0, 4)
    return float(np.bincount(placed, minlength=4).max() / len(placed))


def test_a_keyed_log_is_as_even_as_its_keys() -> None:
    assert largest_partition("0") == pytest.approx(0.25, abs=0.05)
    # Of 128 ranks, the first has 1 / Σ k^-1.2 ≈ 0.27 of all events, and its partition a part of the rest.
    assert largest_partition("1.2") > 0.35
    assert largest_partition("0") < largest_partition("0.8") < largest_partition("2")


def share_of_the_first_mote(skew: str) -> float:
    motes = events("sensor-readings", skew)["moteid"].to_numpy()
    return float(np.bincount(motes).max() / len(motes))


def test_the_most_frequent_key_has_the_share_that_zipf_says() -> None:
    for exponent in (0.5, 1.0, 2.0):
        weights = 1 / np.arange(1, 129) ** exponent
        assert share_of_the_first_mote(f"{exponent:g}") == pytest.approx(1 / weights.sum(), rel=0.1)


def test_words_are_even_without_skew_and_a_language_s_own_by_default() -> None:
    def most_frequent(skew: str | None) -> float:
        words = pc.split_pattern(events("sentences", skew)["sentence"], " ").flatten()
        return pc.max(pc.value_counts(words).field("counts")).as_py() / len(words)

    assert most_frequent("0") < 0.002 < 0.03 < most_frequent("1")
    assert events("sentences", "1").equals(events("sentences", None))


@pytest.mark.parametrize("text", ["-0.1", "3.5", "much", "nan"])
def test_what_is_no_skew_is_said(text: str) -> None:
    with pytest.raises(UserError, match="is not a key skew"):
        parse_key_skew(text)


def test_streams_without_the_parameter_and_recorded_files_refuse_it() -> None:
    with pytest.raises(UserError, match=r"the keys of stream 'clicks' cannot be skewed.*sensor-readings, sentences"):
        events("clicks", "1")
    with pytest.raises(UserError, match="recorded data has the keys that it has"):
        open_source(StreamReference("sentences", data="book.txt", key_skew="1"), 1)
