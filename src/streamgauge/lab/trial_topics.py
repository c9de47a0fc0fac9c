"""The topics of one trial, and the places of its results where they lie elsewhere: made, handed on, deleted."""

from __future__ import annotations

from collections.abc import Iterable

from streamgauge.lab.results import Results
from streamgauge.log.cluster import Cluster
from streamgauge.model.job import STANDBY


class TrialTopics:
    """Whatever it makes it deletes, unless it was handed on."""

    def __init__(self, cluster: Cluster, results: Results, prefix: str, partitions: int) -> None:
        self._cluster, self._results = cluster, results
        self._prefix, self._partitions = prefix, partitions
        self._topics: list[str] = []
        self._places: list[str] = []

    def make(self, label: str) -> str:
        """The name of a new topic."""
        name = self._named(label)
        self._topics.append(name)
        self._cluster.create_topic(name, self._partitions)
        return name

    def make_place(self, label: str) -> str:
        """The name of a new place for results."""
        name = self._named(label)
        self._places.append(name)
        self._results.make(name, self._partitions)
        return name

    def hand_on(self, name: str) -> bool:
        """Leave a topic to somebody else; False where it is not this trial's."""
        mine = name in self._topics
        if mine:
            self._topics.remove(name)
        return mine

    def drop(self, names: Iterable[str]) -> None:
        """Delete those of them that are this trial's."""
        gone = set(names)
        self._cluster.delete_topics([t for t in self._topics if t in gone])
        self._results.drop([p for p in self._places if p in gone])
        self._topics = [t for t in self._topics if t not in gone]
        self._places = [p for p in self._places if p not in gone]

    def clean_up(self, *, killed: bool) -> None:
        """Delete all; a driver that was killed did not delete the topics of its standbys."""
        standbys = [f"{name}{STANDBY}" for name in (*self._topics, *self._places)] if killed else []
        self._cluster.delete_topics([*self._topics, *standbys])
        self._results.drop(self._places)
        self._topics.clear()
        self._places.clear()

    def _named(self, label: str) -> str:
        return f"{self._prefix}-{label.replace('_', '-')}"
