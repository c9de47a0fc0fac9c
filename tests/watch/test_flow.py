"""How far events have come: ends, commits and origins, of topics that are worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamgauge.log.tail import TailRecord
from streamgauge.model.job import InputTopic
from streamgauge.watch.flow import Flow, committed_of, consumed_by_commits

INPUTS = {"a": InputTopic("in-a", 0), "b": InputTopic("in-b", 2)}


class Log:
    """Topics with the ends that a test gives them."""

    def __init__(self, ends: dict[str, dict[int, int]]) -> None:
        self.ends = ends
        self.asked: list[float] = []

    def partitions(self, topic: str) -> list[int]:
        return sorted(self.ends[topic])

    def ends_of(self, partitions: Mapping[str, Sequence[int]], timeout_s: float = 30) -> dict[str, dict[int, int]]:
        self.asked.append(timeout_s)
        return {topic: {each: self.ends[topic][each] for each in numbers} for topic, numbers in partitions.items()}


class Followed:
    """The tail that a test gives."""

    def __init__(self, records: list[TailRecord]) -> None:
        self.records, self.closed = records, False

    def look(self, ends: Mapping[int, int]) -> list[TailRecord]:
        found, self.records = self.records, []
        return found

    def close(self) -> None:
        self.closed = True


def test_backlog_and_latency_of_two_inputs() -> None:
    log = Log({"in-a": {0: 100, 1: 50}, "in-b": {0: 30}, "out": {0: 70}})
    tail = Followed(
        [
            TailRecord(0, 68, 5_000, (4_990, 0, 59, 0)),
            TailRecord(0, 69, 5_000, (900, 2, 9, 0)),
            TailRecord(0, 70, 5_001, None),
        ]
    )
    flow = Flow(log, INPUTS, ["out"], lambda topic: tail, since_ms=1_000)
    committed = {"q": {"in-a": {0: 40, 1: 50}, "in-b": {0: 0}}}
    seen = flow.look(committed)
    assert (seen.published, seen.written) == (180, 70)
    assert seen.consumed == 60 + 50 + 10, "an output's origin is ahead of the commit of its partition"
    assert seen.backlog == 60
    assert seen.latencies_ms == (10, 4_000), "what lay there before the job counts from its start"
    assert log.asked == [1.0], "one question for all topics"
    log.ends["in-a"][0] = 110
    assert flow.look({"q": {"in-a": {0: 105, 1: 50}, "in-b": {0: 0}}}).backlog == 190 - (105 + 50 + 10)
    flow.close()
    assert tail.closed


def test_an_event_is_committed_when_every_query_that_reads_it_has() -> None:
    committed = {"one": {"in-a": {0: 10, 1: 7}}, "two": {"in-a": {0: 4}, "between": {0: 99}}}
    assert committed_of("in-a", committed) == {0: 4, 1: 7}
    assert consumed_by_commits(INPUTS, committed) == 11


def test_nothing_is_consumed_beyond_the_end() -> None:
    log = Log({"in-a": {0: 5}, "out": {0: 0}})
    flow = Flow(log, {"a": INPUTS["a"]}, ["out"], lambda topic: Followed([]))
    assert flow.look({"q": {"in-a": {0: 9}}}).backlog == 0
