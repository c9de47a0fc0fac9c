"""A Kafka cluster, embedded or given: topics made, measured and deleted."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import confluent_kafka.admin
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from streamgauge.log.security import to_java, to_librdkafka
from streamgauge.model.errors import LogError, StreamgaugeError, UserError

_kafka_admin: Any = confluent_kafka.admin
"""Untyped on purpose: the package's own types leave out half of what it exports."""

_TIMEOUT_S = 30.0
_REACH_S = 5.0
_GONE_S = 2.0
"""A deleted topic may be listed for so long at most."""
_TOPIC_SETTINGS = {
    "message.timestamp.type": "LogAppendTime",
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
}
_LEADERSHIP_MOVES = frozenset(
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
    }
)


@dataclass(frozen=True, eq=False)
class Cluster:
    """Where the log is and how to reach it; the settings are security settings in either client's names."""

    bootstrap: str
    config: Mapping[str, str] = field(default_factory=dict)
    replication: int = 1

    def client_settings(self) -> dict[str, Any]:
        """What a confluent-kafka client needs to connect; quiet, since failures are raised and not logged."""
        return {**to_librdkafka(self.config), "bootstrap.servers": self.bootstrap, "log_level": 0}

    @classmethod
    def of_spark_options(cls, bootstrap: str, options: Mapping[str, str]) -> Cluster:
        """The cluster that a source or sink with these `kafka.` options connects to."""
        return cls(bootstrap, {key.removeprefix("kafka."): value for key, value in options.items()})

    def spark_options(self) -> dict[str, str]:
        """What a Spark Kafka source or sink needs to connect, as its `kafka.` options."""
        return {
            "kafka.bootstrap.servers": self.bootstrap,
            **{f"kafka.{key}": value for key, value in to_java(self.config).items()},
        }

    def check(self) -> None:
        """Return when a broker answers, or raise a LogError within five seconds or so."""
        try:
            self._admin.list_topics(timeout=_REACH_S)
        except KafkaException as error:
            raise LogError(
                f"no Kafka answers at {self.bootstrap} ({error.args[0].str()})",
                "Check the address and that the broker runs; security settings go into --kafka-config FILE",
            ) from None

    def create_topic(self, name: str, partitions: int, settings: Mapping[str, str] | None = None) -> None:
        """Make a topic that is stamped with LogAppendTime and keeps everything; return when it is served."""
        config = {**_TOPIC_SETTINGS, **(settings or {})}
        if self.replication == 1:
            config.setdefault("min.insync.replicas", "1")
        topic = _kafka_admin.NewTopic(
            name, num_partitions=partitions, replication_factor=self.replication, config=config
        )
        try:
            self._admin.create_topics([topic], operation_timeout=_TIMEOUT_S)[name].result(_TIMEOUT_S)
        except KafkaException as error:
            raise self._refused(f"the topic '{name}' cannot be made", error) from None
        self._wait_until_served(name, partitions)

    def delete_topics(self, names: Iterable[str]) -> None:
        """Delete the topics and return when none is listed any more; one that does not exist is no error."""
        wanted = list(names)
        if not wanted:
            return
        for name, deleted in self._admin.delete_topics(wanted, operation_timeout=_TIMEOUT_S).items():
            try:
                deleted.result(_TIMEOUT_S)
            except KafkaException as error:
                if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise self._refused(f"the topic '{name}' cannot be deleted", error) from None
            except TimeoutError:
                raise LogError(
                    f"the topic '{name}' was not deleted within {_TIMEOUT_S} s", "Check that the broker is well"
                ) from None
        # A broker hears of it a moment after the controller; one that makes topics on demand may have made it again.
        deadline = time.monotonic() + _GONE_S
        while not self.topics().isdisjoint(wanted) and time.monotonic() < deadline:
            time.sleep(0.02)

    def topics(self) -> set[str]:
        """Names of the topics that exist, Kafka's own left out."""
        try:
            return {name for name in self._admin.list_topics(timeout=_TIMEOUT_S).topics if not name.startswith("__")}
        except KafkaException as error:
            raise self._refused("the topics cannot be listed", error) from None

    def end_offsets(self, topic: str) -> dict[int, int]:
        """Partition → offset of the next record to be appended."""
        return self._offsets(topic, _kafka_admin.OffsetSpec.latest())

    def start_offsets(self, topic: str) -> dict[int, int]:
        """Partition → offset of the oldest record that is still there."""
        return self._offsets(topic, _kafka_admin.OffsetSpec.earliest())

    def partitions(self, topic: str) -> list[int]:
        """The topic's partitions in order."""
        try:
            found = self._admin.list_topics(topic, timeout=_TIMEOUT_S).topics[topic]
        except KafkaException as error:
            raise self._refused(f"the topic '{topic}' cannot be looked up", error) from None
        if found.error is not None:
            raise LogError(
                f"the topic '{topic}' cannot be looked up ({found.error.str()})", "Check that nobody deleted it"
            )
        return sorted(found.partitions)

    def ends_of(
        self, partitions: Mapping[str, Sequence[int]], timeout_s: float = _TIMEOUT_S
    ) -> dict[str, dict[int, int]]:
        """Topic → partition → end, of several topics with one request; for those who ask often and know partitions."""
        wanted = {
            TopicPartition(topic, each): _kafka_admin.OffsetSpec.latest()
            for topic, numbers in partitions.items()
            for each in numbers
        }
        found: dict[str, dict[int, int]] = {topic: {} for topic in partitions}
        if not wanted:
            return found
        try:
            answers = self._admin.list_offsets(wanted, request_timeout=timeout_s)
            for asked, answer in answers.items():
                found[asked.topic][asked.partition] = answer.result(timeout_s).offset
        except (KafkaException, TimeoutError) as error:
            raise LogError(f"the offsets cannot be read ({error})", "Check that the broker runs") from None
        return found

    @functools.cached_property
    def _admin(self) -> Any:
        return _kafka_admin.AdminClient(self.client_settings())

    def _offsets(self, topic: str, spec: Any) -> dict[int, int]:
        wanted = {TopicPartition(topic, partition): spec for partition in self.partitions(topic)}
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            try:
                answers = self._admin.list_offsets(wanted, request_timeout=_TIMEOUT_S)
                return {asked.partition: answer.result(_TIMEOUT_S).offset for asked, answer in answers.items()}
            except KafkaException as error:
                # Leadership moves: at once after a topic was made, and whenever a broker of a cluster comes or goes.
                if error.args[0].code() not in _LEADERSHIP_MOVES or time.monotonic() > deadline:
                    raise self._refused(f"the offsets of '{topic}' cannot be read", error) from None
                time.sleep(0.02)

    def _wait_until_served(self, topic: str, partitions: int) -> None:
        deadline = time.monotonic() + _TIMEOUT_S
        while len(self._known_partitions(topic)) < partitions:
            if time.monotonic() > deadline:
                raise LogError(
                    f"the topic '{topic}' was made but is not served after {_TIMEOUT_S:.0f} s",
                    "Check the health of the Kafka cluster",
                )
            time.sleep(0.02)
        # Metadata names a leader a moment before that broker takes requests for the partition.
        self.end_offsets(topic)

    def _known_partitions(self, topic: str) -> list[int]:
        found = self._admin.list_topics(topic, timeout=_TIMEOUT_S).topics[topic]
        return sorted(number for number, partition in found.partitions.items() if partition.leader >= 0)

    def _refused(self, what: str, error: KafkaException) -> StreamgaugeError:
        """A name or number that the cluster refuses is the user's mistake; all else is the log's failure."""
        cause: KafkaError = error.args[0]
        mistakes = {
            KafkaError.TOPIC_ALREADY_EXISTS: "Delete it or take another name",
            KafkaError.INVALID_REPLICATION_FACTOR: "Set replication in --kafka-config to at most the number of brokers",
            KafkaError.INVALID_PARTITIONS: "Ask for at least one partition",
            KafkaError.INVALID_CONFIG: "Correct the topic's settings",
            KafkaError.TOPIC_EXCEPTION: "Use letters, digits, '.', '_' and '-' in the name",
            KafkaError.POLICY_VIOLATION: "Ask for what the cluster's policy allows",
            KafkaError.TOPIC_AUTHORIZATION_FAILED: "Use a Kafka account that may do this",
            KafkaError.CLUSTER_AUTHORIZATION_FAILED: "Use a Kafka account that may do this",
        }
        if cause.code() in mistakes:
            return UserError(f"{what} ({cause.str()})", mistakes[cause.code()])
        return LogError(f"{what} at {self.bootstrap} ({cause.str()})", "Check that the broker runs")
