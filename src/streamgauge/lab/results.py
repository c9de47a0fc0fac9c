"""Where a job's results go and are read back from: topics of the log, or a store that the user names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

import pyarrow as pa

from streamgauge.log.cluster import Cluster
from streamgauge.log.reading import read_records
from streamgauge.log.result_store import open_store
from streamgauge.model import Engine, Guarantee


class Results(Protocol):
    """Places for results, each with a name."""

    def make(self, name: str, partitions: int) -> None:
        """Make an empty place."""
        ...

    def ends(self, name: str) -> dict[int, int]:
        """Partition → how many results it holds."""
        ...

    def read(self, name: str) -> Iterator[pa.RecordBatch]:
        """Every result, in order within a partition."""
        ...

    def drop(self, names: Iterable[str]) -> None:
        """Delete places and all they hold."""
        ...


class TopicResults:
    """Topics of the log."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def make(self, name: str, partitions: int) -> None:
        """Make a topic."""
        self._cluster.create_topic(name, partitions)

    def ends(self, name: str) -> dict[int, int]:
        """The topic's end offsets."""
        return self._cluster.end_offsets(name)

    def read(self, name: str) -> Iterator[pa.RecordBatch]:
        """The topic's records."""
        return read_records(self._cluster, name)

    def drop(self, names: Iterable[str]) -> None:
        """Delete the topics."""
        self._cluster.delete_topics(list(names))


class StoreResults:
    """Places in a store that the user names."""

    def __init__(self, url: str) -> None:
        self._store = open_store(url)

    def make(self, name: str, partitions: int) -> None:
        """Make an empty place."""
        self._store.make(name)

    def ends(self, name: str) -> dict[int, int]:
        """The number of rows, as of one partition."""
        return {0: self._store.count(name)}

    def read(self, name: str) -> Iterator[pa.RecordBatch]:
        """The rows in the order in which they were written."""
        return self._store.read_records(name)

    def drop(self, names: Iterable[str]) -> None:
        """Delete the rows, and what shows the latest of their keys."""
        self._store.delete(names)


def results_of(cluster: Cluster, sink: str | None) -> Results:
    """The log's topics, or the store that a URL names."""
    return TopicResults(cluster) if sink is None else StoreResults(sink)


def guarantee_of(engine: Engine, sink: str | None) -> Guarantee:
    """What an engine promises of results in that sink: a store that turns repeats away makes outputs exactly-once."""
    return engine.guarantee if sink is None else replace(engine.guarantee, outputs=open_store(sink).outputs)
