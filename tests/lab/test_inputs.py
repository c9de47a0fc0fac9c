"""Which events an input topic holds, and how long a topic that can be read again stays in the log."""

from __future__ import annotations

from dataclasses import replace

from streamgauge.lab.inputs import SHARED_FROM, InputEvents, PreparedInput, PreparedInputs, wanted_later
from streamgauge.lab.planning import plan_trials
from streamgauge.lab.request import RunRequest
from streamgauge.lab.space import needed_bytes
from streamgauge.load.specification import PublisherResult
from streamgauge.model import LogError, Trial
from streamgauge.streams.reference import StreamReference

FEW = InputEvents(StreamReference("aol-search"), 1, 1000, 2, 0.0, ("query",))
MANY = replace(FEW, events=SHARED_FROM)
RESULT = PublisherResult(
    events=3,
    bytes=30,
    partition_events=(3, 0),
    start_at_epoch_ns=5,
    first_sent_epoch_ns=10,
    last_sent_epoch_ns=1_000_000_000,
    finished_epoch_ns=2_000_000_010,
    achieved_rate_per_s=1.5,
    kept_up=True,
    kept_up_reason="",
)


def test_only_many_events_are_worth_a_second_publisher() -> None:
    assert FEW.shares == 1
    assert 1 <= MANY.shares <= MANY.partitions
    assert replace(MANY, partitions=1).shares == 1


def test_a_topic_stays_as_long_as_a_later_trial_reads_it() -> None:
    assert wanted_later([{"a": FEW}, {"a": MANY}, {}, {"a": FEW}]) == [{FEW, MANY}, {FEW}, {FEW}, set()]
    deleted: list[str] = []
    kept = PreparedInputs(deleted.extend)
    kept.keep(FEW, PreparedInput("few", RESULT))
    kept.keep(MANY, PreparedInput("many", RESULT))
    kept.keep_only({FEW})
    assert deleted == ["many"] and kept.get(MANY) is None
    found = kept.get(replace(FEW))
    assert found is not None and found.topic == "few"
    kept.keep_only(())
    assert deleted == ["many", "few"]


def test_a_log_that_is_gone_does_not_end_the_run() -> None:
    def refuse(topics: list[str]) -> None:
        raise LogError("nobody answers")

    kept = PreparedInputs(refuse)
    kept.keep(FEW, PreparedInput("few", RESULT))
    kept.keep_only(())
    assert kept.get(FEW) is None


def test_inputs_that_stay_in_the_log_count_once_for_all_trials_that_read_them() -> None:
    def trials(*applications: str, load: str = "preloaded") -> list[Trial]:
        return [
            planned.trial
            for planned in plan_trials(RunRequest(applications=applications, load=load, events=1_000_000, warmup_s=0))
        ]

    alone = needed_bytes(trials("identity"))
    assert needed_bytes(trials("identity", "grep")) == alone
    assert (
        needed_bytes(trials("identity", "statistics")) > alone > needed_bytes(trials("identity", load="constant:1k/s"))
    )


def test_other_events_are_never_taken_for_the_same() -> None:
    others = [
        replace(FEW, seed=2),
        replace(FEW, malformed=0.01),
        replace(FEW, partitions=1),
        replace(FEW, reference=StreamReference("aol-search", key_skew="1")),
    ]
    kept = PreparedInputs(lambda topics: None)
    kept.keep(FEW, PreparedInput("few", RESULT))
    assert [kept.get(each) for each in others] == [None] * 4


def test_shares_of_one_topic_add_up_to_one_result() -> None:
    other = replace(
        RESULT,
        events=5,
        bytes=50,
        partition_events=(0, 5),
        first_sent_epoch_ns=1_000_000_010,
        kept_up=False,
        error="no",
    )
    whole = PublisherResult.together([RESULT, other])
    assert (whole.events, whole.bytes, whole.partition_events) == (8, 80, (3, 5))
    assert (whole.first_sent_epoch_ns, whole.finished_epoch_ns) == (10, 2_000_000_010)
    assert whole.achieved_rate_per_s == 4.0
    assert (whole.error, whole.kept_up) == ("no", False)
    assert PublisherResult.together([RESULT]) is RESULT


def test_what_lies_in_a_broken_log_is_published_anew_and_deleted_later() -> None:
    deleted: list[str] = []
    prepared = PreparedInputs(deleted.extend)
    prepared.keep(FEW, PreparedInput("in-1", RESULT))
    prepared.keep_only([FEW])
    assert prepared.get(FEW) is not None and deleted == []
    prepared.distrust()
    assert prepared.get(FEW) is None and deleted == [], "the log may be away at that moment"
    prepared.keep(FEW, PreparedInput("in-2", RESULT))
    prepared.keep_only([FEW])
    found = prepared.get(FEW)
    assert deleted == ["in-1"] and found is not None and found.topic == "in-2"
    prepared.keep_only(())
    assert deleted == ["in-1", "in-2"]
