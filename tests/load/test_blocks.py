"""Blocks hold the events' own bytes, sorted by partition, and a queue of them ends or fails as its source does."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np
import pytest

from streamgauge.load import parse_load
from streamgauge.load.blocks import BlockQueue, EventBlock, make_block
from streamgauge.load.native_producer import MESSAGE
from streamgauge.model.stream import Stream
from streamgauge.streams import get_stream
from streamgauge.streams.malformed import Spoiling
from streamgauge.streams.placement import keys_of, partitions_of
from streamgauge.streams.wire import encode

AOL = get_stream("aol-search")


def _block(stream: Stream, start: int, count: int, partitions: int) -> EventBlock:
    return make_block(stream, stream.synthetic(1), parse_load("constant:100/s"), start, count, 0, partitions)


def _bytes_at(address: int, size: int) -> bytes | None:
    return ctypes.string_at(int(address), int(size)) if address else None


def test_a_message_is_laid_out_as_the_c_interface_wants_it() -> None:
    assert MESSAGE.itemsize == 72
    assert [MESSAGE.fields[name][1] for name in MESSAGE.names] == [0, 8, 16, 24, 32, 40, 48, 56, 64]


@pytest.mark.parametrize("key", [None, "user_id", "click_url"])
@pytest.mark.parametrize(("begin", "end"), [(0, 1000), (0, 1), (333, 777), (999, 1000), (500, 500)])
def test_any_range_of_events_is_found_in_order(key: str | None, begin: int, end: int) -> None:
    stream = replace(AOL, key=key)
    batch = stream.synthetic(1).block(70, 1000)
    payloads, keys = encode(stream, batch).to_pylist(), keys_of(stream, batch)
    key_list = [None] * 1000 if keys is None else keys.to_pylist()
    places = partitions_of(stream, batch, 70, 3)
    block = _block(stream, 70, 1000, 3)
    lows, highs = block.bounds(begin), block.bounds(end)
    for partition in range(3):
        found = [
            (_bytes_at(m["payload"], m["payload_size"]), _bytes_at(m["key"], m["key_size"]))
            for m in block.messages[lows[partition] : highs[partition]]
        ]
        wanted = [(payloads[k], key_list[k]) for k in range(begin, end) if places[k] == partition]
        assert found == wanted


@pytest.mark.parametrize("key", [None, "user_id"])
@pytest.mark.parametrize("malformed", [0.0, 0.2])
def test_shares_of_the_partitions_are_the_whole_without_the_others(key: str | None, malformed: float) -> None:
    stream = replace(AOL, key=key)
    spoiling = Spoiling(1, malformed, ("query",)) if malformed else None
    given = (stream, stream.synthetic(1), parse_load("preloaded"), 70, 1000, 0, 5, spoiling)
    whole = _payloads(make_block(*given))
    shares = [_payloads(make_block(*given, share=(share, 2))) for share in range(2)]
    assert [sorted(each) for each in shares] == [[0, 2, 4], [1, 3]]
    assert {**shares[0], **shares[1]} == whole


def _payloads(block: EventBlock) -> dict[int, list[bytes | None]]:
    lows, highs = block.bounds(0), block.bounds(block.count)
    return {
        partition: [_bytes_at(m["payload"], m["payload_size"]) for m in block.messages[low:high]]
        for partition, (low, high) in enumerate(zip(lows, highs, strict=True))
        if high > low
    }


def test_due_times_count_from_the_first_event_published() -> None:
    load = parse_load("constant:100/s")
    block = make_block(AOL, AOL.synthetic(1), load, start=1100, count=3, first=1000, partitions=2)
    assert block.due_ns.tolist() == [1_000_000_000, 1_010_000_000, 1_020_000_000]


def _queue(stream: Stream, events: int) -> BlockQueue:
    load = parse_load("preloaded")
    return BlockQueue(stream, stream.synthetic(1), load, 5, events, 2, block_events=100, ahead=2)


def test_a_queue_gives_all_events_and_ends() -> None:
    waiting = _queue(AOL, 950)
    waiting.wait_until_ahead()
    assert [block.count for block in waiting.blocks(lambda: None)] == [100] * 9 + [50]


class _Broken:
    """A user's source that fails at its second block."""

    def block(self, start: int, count: int) -> object:
        if start > 5:
            raise ZeroDivisionError("a user's mistake")
        return AOL.synthetic(1).block(start, count)


def test_a_failing_source_fails_the_reader() -> None:
    waiting = _queue(replace(AOL, synthetic=lambda seed: _Broken()), 950)
    with pytest.raises(ZeroDivisionError, match="a user's mistake"):
        assert [block.count for block in waiting.blocks(lambda: None)] == [100]


def test_a_queue_can_be_left_early() -> None:
    waiting = _queue(AOL, 1_000_000)
    assert next(waiting.blocks(lambda: None)).count == 100
    waiting.stop()
    assert not waiting._thread.is_alive()


def test_empty_payloads_are_not_missing_payloads() -> None:
    block = _block(replace(AOL, key="click_url"), 0, 100, 1)
    assert np.all(block.messages["payload"] != 0) and np.any(block.messages["key"] == 0)
