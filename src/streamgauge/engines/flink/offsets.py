"""What a Flink job has committed: the offsets of its Kafka group, which its sources commit with every checkpoint."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamgauge.engines.execution import Offsets
from streamgauge.engines.flink.checkpoints import newest_checkpoint

_CLIENTS = "org.apache.flink.kafka.shaded.org.apache.kafka.clients"
ASKED_FOR_S = 3.0
"""How long after a checkpoint the group is asked: sources commit when they hear of it."""
ASKED_EVERY_S = 0.25


class GroupOffsets:
    """The committed offsets of one group, asked of Kafka only after a checkpoint."""

    def __init__(self, jvm: Any, bootstrap: str, options: Mapping[str, str], group: str, checkpoints: Path) -> None:
        properties = jvm.java.util.Properties()
        for key, value in {**options, "bootstrap.servers": bootstrap}.items():
            properties.setProperty(key, value)
        self._jvm, self._group, self._folder = jvm, group, checkpoints
        self._admin = getattr(jvm, f"{_CLIENTS}.admin.AdminClient").create(properties)
        self._known: Offsets = {}
        self._checkpoint: Path | None = None
        self._asked_s = self._until_s = 0.0

    def committed(self) -> Offsets:
        """Topic → partition → the offset that is read next."""
        now = time.monotonic()
        newest = newest_checkpoint(self._folder)
        if newest is not None and newest != self._checkpoint:
            self._checkpoint, self._until_s = newest, now + ASKED_FOR_S
        if now < self._until_s and now - self._asked_s >= ASKED_EVERY_S:
            self._asked_s = now
            self._known = self._ask()
        return self._known

    def _ask(self) -> Offsets:
        found: Offsets = {}
        answer = self._admin.listConsumerGroupOffsets(self._group).partitionsToOffsetAndMetadata().get()
        for entry in answer.entrySet():
            place, committed = entry.getKey(), entry.getValue()
            if committed is not None:
                found.setdefault(place.topic(), {})[int(place.partition())] = int(committed.offset())
        return found

    def forget(self) -> None:
        """Delete the group and let Kafka go; a log that does not answer keeps it."""
        try:
            groups = self._jvm.java.util.Collections.singletonList(self._group)
            self._admin.deleteConsumerGroups(groups).all().get()
        except Exception:
            # The group of a job that committed nothing does not exist; none of this is worth a failed trial.
            pass
        finally:
            self._admin.close()
