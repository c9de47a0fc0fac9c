"""Generated events are a function of seed and index, and look like what the streams promise."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Stream
from streamgauge.streams import all_streams, get_stream
from streamgauge.streams.randomness import lookup_table, random_bits, zipf_weights
from streamgauge.streams.schema import arrow_schema
from streamgauge.streams.wire import encode

streams = st.sampled_from(sorted(all_streams()))
seeds = st.integers(0, 2**63)
starts = st.integers(0, 2**35)


@given(streams, seeds, starts, st.lists(st.integers(1, 300), min_size=1, max_size=5))
@settings(deadline=None)
def test_blocks_of_any_size_agree(name: str, seed: int, start: int, sizes: list[int]) -> None:
    stream = get_stream(name)
    whole = encode(stream, stream.synthetic(seed).block(start, sum(sizes)))
    begins = np.cumsum([start, *sizes])
    parts = [
        encode(stream, stream.synthetic(seed).block(int(begin), size))
        for begin, size in zip(begins, sizes, strict=False)
    ]
    assert pa.concat_arrays(parts).equals(whole)


@pytest.mark.parametrize("stream", all_streams().values(), ids=lambda s: s.name)
def test_seeds_differ_and_the_schema_is_the_streams_own(stream: Stream) -> None:
    one, other = stream.synthetic(1).block(0, 100), stream.synthetic(2).block(0, 100)
    assert not one.equals(other)
    assert one.schema.equals(arrow_schema(stream.fields))


@pytest.mark.parametrize(("name", "fewest", "most"), [("aol-search", 50, 70), ("packet-flows", 160, 230)])
def test_the_mean_event_is_as_long_as_the_papers(name: str, fewest: int, most: int) -> None:
    stream = get_stream(name)
    sizes = pc.binary_length(encode(stream, stream.synthetic(1).block(0, 20_000)))
    assert fewest <= pc.mean(sizes).as_py() <= most


def test_searches_are_plausible() -> None:
    block = get_stream("aol-search").synthetic(7).block(0, 50_000)
    words = pc.list_value_length(pc.split_pattern(block["query"], " "))
    assert pc.min_max(words).as_py() == {"min": 1, "max": 5}
    assert 2.0 < pc.mean(words).as_py() < 3.0
    assert pc.is_valid(block["item_rank"]).equals(pc.is_valid(block["click_url"]))
    assert 0.45 < block["click_url"].null_count / 50_000 < 0.55
    free = pc.sum(pc.match_substring_regex(block["query"], r"\bfree\b")).as_py() / 50_000
    assert 0.01 < free < 0.15
    users = pc.value_counts(block["user_id"]).field("counts")
    assert len(users) > 10_000 and pc.max(users).as_py() > 50 * pc.mean(users).as_py()


def test_times_of_searches_go_on_for_ever() -> None:
    source = get_stream("aol-search").synthetic(7)
    near, far = source.block(0, 10_000), source.block(1_000_000_000, 10)
    seconds = near["query_time"].cast(pa.int64()).to_numpy()
    assert np.all(np.diff(np.maximum.accumulate(seconds)) <= 3) and np.all(np.diff(seconds) >= -3)
    assert pc.min(far["query_time"]).as_py() > pc.max(near["query_time"]).as_py()


def test_flows_are_numbers_that_add_up() -> None:
    block = get_stream("packet-flows").synthetic(3).block(0, 20_000)
    assert block.num_columns == 17
    column = {name: block[name].to_numpy() for name in block.schema.names}
    assert all(values.min() >= 0 for values in column.values())
    packets = column["ipv4_packets"] + column["ipv6_packets"]
    assert np.array_equal(packets, column["tcp_packets"] + column["udp_packets"] + column["other_packets"])
    assert np.array_equal(column["tcp_bytes"], column["tcp_packets"] * column["packet_size"])
    assert np.all(column["last_packet_s"] > column["first_packet_s"])


def test_decimal_texts_read_back_as_the_same_numbers() -> None:
    stream = get_stream("packet-flows")
    block = stream.synthetic(3).block(5, 2000)
    for line, row in zip(encode(stream, block).to_pylist(), block.to_pylist(), strict=True):
        assert [float(text) for text in line.decode().split("\t")] == list(row.values())


def test_lanes_and_bits_are_balanced() -> None:
    bits = random_bits(5, 0, 0, 20_000)
    assert not np.array_equal(bits, random_bits(5, 1, 0, 20_000))
    ones = [float(((bits >> np.uint64(k)) & np.uint64(1)).mean()) for k in range(64)]
    assert min(ones) > 0.48 and max(ones) < 0.52


def test_a_lookup_table_gives_each_outcome_its_share() -> None:
    shares = np.bincount(lookup_table(zipf_weights(100, 1.0), 16), minlength=100) / (1 << 16)
    expected = zipf_weights(100, 1.0) / zipf_weights(100, 1.0).sum()
    assert np.allclose(shares, expected, atol=2 / (1 << 16))


def test_an_unknown_stream_gets_the_nearest_name() -> None:
    with pytest.raises(UserError, match="Did you mean 'aol-search'"):
        get_stream("aol-serch")
