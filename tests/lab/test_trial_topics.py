"""A trial deletes the topics that it made, and what a killed driver could not; what it handed on stays."""

from __future__ import annotations

from typing import Any

from streamgauge.lab.results import TopicResults
from streamgauge.lab.trial_topics import TrialTopics


class Log:
    def __init__(self) -> None:
        self.topics: set[str] = set()

    def create_topic(self, name: str, partitions: int) -> None:
        self.topics.add(name)

    def delete_topics(self, names: list[str]) -> None:
        self.topics -= set(names)


def made() -> tuple[Any, TrialTopics]:
    log: Any = Log()
    topics = TrialTopics(log, TopicResults(log), "run-001", 2)
    topics.make("in-lines")
    topics.make("measured-between-split_words")
    topics.make_place("out-count")
    return log, topics


def test_what_was_made_is_deleted_and_what_was_handed_on_stays() -> None:
    log, topics = made()
    assert log.topics == {"run-001-in-lines", "run-001-measured-between-split-words", "run-001-out-count"}
    assert topics.hand_on("run-001-in-lines") and not topics.hand_on("run-001-in-lines")
    topics.drop(["run-001-out-count", "run-001-in-lines", "another"])
    assert log.topics == {"run-001-in-lines", "run-001-measured-between-split-words"}
    topics.clean_up(killed=False)
    assert log.topics == {"run-001-in-lines"}


def test_topics_of_standbys_that_a_killed_driver_left_are_deleted_too() -> None:
    for killed in (False, True):
        log, topics = made()
        log.topics |= {"run-001-out-count-standby", "run-001-measured-between-split-words-standby"}
        topics.clean_up(killed=killed)
        assert (log.topics == set()) is killed
