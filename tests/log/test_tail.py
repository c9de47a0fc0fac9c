"""The bounded tail of a topic, against a consumer of the test's own."""

from __future__ import annotations

from typing import Any

from streamgauge.log.cluster import Cluster
from streamgauge.log.tail import MOST_RECORDS, Tail


class Message:
    def __init__(self, partition: int, offset: int, header: bytes | None) -> None:
        self._at, self._header = (partition, offset), header

    def error(self) -> None:
        return None

    def partition(self) -> int:
        return self._at[0]

    def offset(self) -> int:
        return self._at[1]

    def timestamp(self) -> tuple[int, int]:
        return 2, 5_000 + self._at[1]

    def headers(self) -> list[tuple[str, bytes]] | None:
        return None if self._header is None else [("other", b"x"), ("origin", self._header)]


class Records:
    """A consumer over partitions that hold every offset below an end."""

    def __init__(self, ends: dict[int, int], header: bytes | None = b"1000,0,7,0") -> None:
        self.ends, self._header = ends, header
        self.assigned: list[tuple[int, int]] = []
        self.read = 0

    def assign(self, wanted: list[Any]) -> None:
        self.assigned = [(each.partition, each.offset) for each in wanted]
        self._left = dict(self.assigned)

    def consume(self, most: int, timeout: float) -> list[Message]:
        found = []
        for partition, begin in self._left.items():
            found += [Message(partition, offset, self._header) for offset in range(begin, self.ends[partition])]
            self._left[partition] = self.ends[partition]
        self.read += len(found)
        return found

    def unassign(self) -> None:
        self._left = {}


def tail_of(records: Records, clock: Any) -> Tail:
    return Tail(Cluster("nowhere:1"), "topic", clock, records)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_only_the_newest_records_are_read_and_each_once() -> None:
    records, clock = Records({0: 10_000, 1: 3}), Clock()
    tail = tail_of(records, clock)
    found = tail.look(records.ends)
    assert records.assigned == [(0, 10_000 - MOST_RECORDS), (1, 0)]
    assert len(found) == MOST_RECORDS + 3
    assert found[-1].origin == (1000, 0, 7, 0) and found[-1].append_ms == 5_002
    clock.now = 1.0
    records.ends = {0: 10_005, 1: 3}
    assert [each.offset for each in tail.look(records.ends)] == [10_000, 10_001, 10_002, 10_003, 10_004]


def test_no_look_comes_sooner_than_half_a_second_after_the_last() -> None:
    records, clock = Records({0: 10}), Clock()
    tail = tail_of(records, clock)
    assert tail.look(records.ends)
    records.ends = {0: 20}
    clock.now = 0.4
    assert tail.look(records.ends) == []
    clock.now = 0.5
    assert len(tail.look(records.ends)) == 10


def test_a_topic_that_did_not_grow_is_not_asked() -> None:
    records, clock = Records({0: 0}), Clock()
    assert tail_of(records, clock).look(records.ends) == []
    assert records.assigned == []


def test_what_a_busy_broker_answers_after_a_look_is_taken_at_the_next() -> None:
    """Asked anew each time, one that takes longer than a look would never be heard."""
    clock = Clock()

    class Busy(Records):
        """Answers 300 ms after it was asked."""

        def assign(self, wanted: list[Any]) -> None:
            super().assign(wanted)
            self.asked_at = clock.now

        def consume(self, most: int, timeout: float) -> list[Message]:
            clock.now += timeout
            return super().consume(most, timeout) if clock.now - self.asked_at > 0.3 else []

    records = Busy({0: 10})
    tail = tail_of(records, clock)
    assert tail.look(records.ends) == []
    clock.now = 0.6
    records.ends = {0: 15}
    assert [each.offset for each in tail.look(records.ends)] == list(range(10))
    clock.now = 1.2
    assert tail.look(records.ends) == []
    clock.now = 1.8
    assert [each.offset for each in tail.look(records.ends)] == list(range(10, 15))


def test_a_record_without_an_origin_or_with_half_of_one_has_none() -> None:
    for header in (None, b"", b"1000,0,,0", b"1000"):
        records, clock = Records({0: 1}, header), Clock()
        (found,) = tail_of(records, clock).look(records.ends)
        assert found.origin is None
