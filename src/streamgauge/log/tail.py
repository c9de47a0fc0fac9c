"""The newest records of a topic while it grows: a bounded number, now and then, so that looking costs little."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from streamgauge.log.cluster import Cluster
from streamgauge.model.errors import LogError
from streamgauge.model.origin import FIELDS, HEADER

MOST_RECORDS = 200
EVERY_S = 0.5
"""At most so many records of each partition, and no look sooner after the last: what live views may read."""
LONGEST_LOOK_S = 0.1
_CONSUMER_SETTINGS = {
    "enable.auto.commit": False,
    "auto.offset.reset": "latest",
    "isolation.level": "read_uncommitted",
    "fetch.min.bytes": 1,
    "fetch.wait.max.ms": 10,
    # What is fetched beyond the bound is thrown away unread: keep it small.
    "fetch.message.max.bytes": 128 * 1024,
    "queued.min.messages": MOST_RECORDS,
    "queued.max.messages.kbytes": 1024,
}


@dataclass(frozen=True)
class TailRecord:
    """One of the newest records: when it was appended, and the origin that it carries."""

    partition: int
    offset: int
    append_ms: int
    origin: tuple[int, int, int, int] | None
    """(append_ms, partition, offset, ordinal), or None where the record has no such header."""


class Tail:
    """Follows the end of one topic; not safe for several threads."""

    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        clock_s: Callable[[], float] = time.monotonic,
        consumer: Any = None,
    ) -> None:
        self._topic, self._clock_s = topic, clock_s
        self._consumer: Any = consumer or Consumer(
            {**cluster.client_settings(), **_CONSUMER_SETTINGS, "group.id": f"tail-{uuid.uuid4()}"}
        )
        self._seen: dict[int, int] = {}
        self._asked: dict[int, int] = {}
        """What a broker was asked for and has not answered within a look: a busy one answers during the next."""
        self._looked_at_s: float | None = None

    def look(self, ends: Mapping[int, int]) -> list[TailRecord]:
        """The newest records below these ends that were not given before; nothing where the last look was just now."""
        now_s = self._clock_s()
        if self._looked_at_s is not None and now_s - self._looked_at_s < EVERY_S:
            return []
        self._looked_at_s = now_s
        try:
            if not self._asked:
                self._ask(ends)
            found, answered = self._read(self._asked) if self._asked else ([], True)
        except KafkaException as error:
            self._forget()
            raise LogError(f"the tail of '{self._topic}' cannot be read ({error.args[0].str()})") from None
        if answered and self._asked:
            self._forget()
        return found

    def close(self) -> None:
        """Let the log go."""
        self._consumer.close()

    def _ask(self, ends: Mapping[int, int]) -> None:
        begins = {p: max(end - MOST_RECORDS, self._seen.get(p, 0), 0) for p, end in ends.items()}
        self._asked = {p: ends[p] for p, begin in begins.items() if begin < ends[p]}
        if self._asked:
            self._consumer.assign([TopicPartition(self._topic, p, begins[p]) for p in self._asked])

    def _forget(self) -> None:
        self._asked = {}
        self._consumer.unassign()

    def _read(self, wanted: dict[int, int]) -> tuple[list[TailRecord], bool]:
        """The records that came, and whether anything did."""
        answered = False
        deadline_s = self._clock_s() + LONGEST_LOOK_S
        found: list[TailRecord] = []
        left = dict(wanted)
        while left and self._clock_s() < deadline_s:
            for message in self._consumer.consume(MOST_RECORDS * len(wanted), timeout=0.02):
                answered = True
                if message.error() is not None:
                    continue
                partition, offset = message.partition(), message.offset()
                if offset >= wanted.get(partition, 0):
                    continue
                found.append(TailRecord(partition, offset, message.timestamp()[1], _origin(message.headers())))
                self._seen[partition] = max(self._seen.get(partition, 0), offset + 1)
                if self._seen[partition] >= wanted[partition]:
                    left.pop(partition, None)
        return found, answered


def _origin(headers: list[tuple[str, bytes]] | None) -> tuple[int, int, int, int] | None:
    for name, value in headers or ():
        if name == HEADER and value:
            parts = value.split(b",")
            if len(parts) == len(FIELDS) and all(parts):
                append_ms, partition, offset, ordinal = map(int, parts)
                return append_ms, partition, offset, ordinal
    return None
