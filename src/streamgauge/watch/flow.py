"""How far the events of a trial have come, seen from the log: ends, commits, and the bounded tail of the outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from streamgauge.log.tail import TailRecord
from streamgauge.model.job import InputTopic

ASK_S = 1.0
"""The log must answer within this; a look that fails costs a beat."""

Offsets = Mapping[str, Mapping[int, int]]


class Ends(Protocol):
    """What is asked of a log."""

    def partitions(self, topic: str) -> list[int]: ...
    def ends_of(self, partitions: Mapping[str, Sequence[int]], timeout_s: float = ...) -> dict[str, dict[int, int]]: ...


class Follows(Protocol):
    """The tail of one topic."""

    def look(self, ends: Mapping[int, int]) -> list[TailRecord]: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class FlowSeen:
    """One look: records in the input and in the outputs, events that are consumed, and the newest latencies."""

    published: int
    written: int
    consumed: int
    latencies_ms: tuple[int, ...]

    @property
    def backlog(self) -> int:
        """Events that wait."""
        return max(0, self.published - self.consumed)


class Flow:
    """Looks at the topics of one measured job; used by one thread.

    An event counts as consumed when every query has committed it or an output carries a later origin of its partition:
    a real-time batch commits only when it ends.
    """

    def __init__(
        self,
        log: Ends,
        inputs: Mapping[str, InputTopic],
        outputs: Sequence[str],
        follow: Callable[[str], Follows],
        since_ms: int = 0,
    ) -> None:
        self._log, self._inputs, self._since_ms = log, dict(inputs), since_ms
        topics = [each.topic for each in inputs.values()]
        self._outputs = list(outputs)
        self._partitions = {topic: log.partitions(topic) for topic in (*topics, *outputs)}
        self._tails = {topic: follow(topic) for topic in outputs}
        self._origins: dict[int, int] = {}

    def look(self, committed: Mapping[str, Offsets]) -> FlowSeen:
        """Ask once; `committed` is query → topic → partition → offset, as the job told it last."""
        ends = self._log.ends_of(self._partitions, ASK_S)
        records = [record for topic, tail in self._tails.items() for record in tail.look(ends[topic])]
        origins = [(record.append_ms, record.origin) for record in records if record.origin is not None]
        for _, (_, partition, offset, _) in origins:
            self._origins[partition] = max(self._origins.get(partition, 0), offset + 1)
        return FlowSeen(
            published=sum(sum(ends[each.topic].values()) for each in self._inputs.values()),
            written=sum(sum(ends[topic].values()) for topic in self._outputs),
            consumed=sum(self._consumed(each, ends[each.topic], committed) for each in self._inputs.values()),
            # What lay in the log before the job was started waited for the laboratory, not for the engine.
            latencies_ms=tuple(appended - max(origin[0], self._since_ms) for appended, origin in origins),
        )

    def close(self) -> None:
        """Let the log go."""
        for tail in self._tails.values():
            tail.close()

    def _consumed(self, where: InputTopic, ends: Mapping[int, int], committed: Mapping[str, Offsets]) -> int:
        done = committed_of(where.topic, committed)
        return sum(
            min(end, max(done.get(partition, 0), self._origins.get(where.first_partition + partition, 0)))
            for partition, end in ends.items()
        )


def committed_of(topic: str, committed: Mapping[str, Offsets]) -> dict[int, int]:
    """Partition → what all queries that read the topic have committed of it."""
    found: dict[int, int] = {}
    for offsets in (topics[topic] for topics in committed.values() if topic in topics):
        for partition, offset in offsets.items():
            found[partition] = min(found.get(partition, offset), offset)
    return found


def consumed_by_commits(inputs: Mapping[str, InputTopic], committed: Mapping[str, Offsets]) -> int:
    """Events that every query has committed, without a question to the log."""
    return sum(sum(committed_of(each.topic, committed).values()) for each in inputs.values())
