"""A publisher that follows one that was killed sends what is not in the log yet, and nothing twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.load.publisher import Publisher
from streamgauge.load.specification import PublisherSpec
from streamgauge.streams.reference import StreamReference

SPEC = PublisherSpec(
    stream=StreamReference(name="aol-search"),
    seed=1,
    load="constant:100/s",
    events=10,
    topic="in",
    partitions=2,
    bootstrap="b:1",
    result_path="r.json",
    lateness_path="l.parquet",
    resumes=True,
)


class FakeProducer:
    """Remembers what it is given."""

    largest_queue = 1000
    queued = 0

    def __init__(self) -> None:
        self.sent: dict[int, list[int]] = {0: [], 1: []}

    def send(self, partition: int, messages: np.ndarray) -> None:
        self.sent[partition] += messages["number"].tolist()


class FakeBlock:
    """Events of two partitions in turn: the messages of partition 0 first, then those of partition 1."""

    payload_bytes = 100

    def __init__(self, start: int, count: int) -> None:
        self.count = count
        numbers = np.arange(start, start + count)
        self._of = [numbers[numbers % 2 == p] for p in (0, 1)]
        every = np.concatenate(self._of)
        self.messages = np.zeros(count, dtype=[("number", np.int64), ("payload_size", np.int64)])
        self.messages["number"], self.messages["payload_size"] = every, 10

    def bounds(self, position: int) -> np.ndarray:
        """Where the messages of each partition end when `position` events of the block are sent."""
        first = np.concatenate(self._of).min()
        taken = [int((of < first + position).sum()) for of in self._of]
        return np.array([taken[0], len(self._of[0]) + taken[1]])


@pytest.mark.parametrize(("there", "sent"), [([0, 0], 10), ([3, 1], 6), ([5, 5], 0)])
def test_events_that_are_there_count_and_are_not_sent(there: list[int], sent: int) -> None:
    publisher, producer = Publisher(SPEC), FakeProducer()
    publisher._there = list(there)
    publisher._send(producer, FakeBlock(0, 10), 0, 10)  # type: ignore[arg-type]
    assert sum(map(len, producer.sent.values())) == sent
    assert publisher.sent.events == 10 and publisher.sent.partition_events == [5, 5]


@given(st.integers(0, 15), st.integers(0, 15), st.lists(st.integers(1, 7), min_size=1, max_size=12))
def test_whatever_is_there_each_partition_goes_on_where_it_ended(one: int, other: int, sizes: list[int]) -> None:
    publisher, producer = Publisher(SPEC), FakeProducer()
    publisher._there = [one, other]
    start = 0
    for size in sizes:
        publisher._send(producer, FakeBlock(start, size), 0, size)  # type: ignore[arg-type]
        start += size
    for partition, there in ((0, one), (1, other)):
        every = [n for n in range(start) if n % 2 == partition]
        assert producer.sent[partition] == every[there:]
    assert publisher.sent.events == start
