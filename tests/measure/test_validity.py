"""Rules that invalidate a trial, one by one."""

from dataclasses import replace

import pytest

from streamgauge.measure.validity import TrialFacts, assess

GOOD = TrialFacts(
    publisher_kept_up=True,
    publisher_detail="",
    events_published=100,
    events_in_log=100,
    ended_in_time=True,
    output_still_growing=False,
    load_is_paced=True,
    load_is_constant=True,
    warmup_events=20,
    warmup_p50_ms=30,
    measured_p50_ms=5,
    first_third_p50_ms=5,
    last_third_p50_ms=5,
)


def test_a_good_trial_is_valid_and_says_nothing() -> None:
    found = assess(GOOD)
    assert found.valid
    assert found.warnings == []
    assert found.warmup["settled"] is True


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"publisher_kept_up": False, "publisher_detail": "p99 lateness 90 ms"}, "p99 lateness 90 ms"),
        ({"events_in_log": 99}, "100 events were published, but 99 are in the log"),
        ({"ended_in_time": False}, "not consumed in the time allowed"),
        ({"output_still_growing": True}, "still growing at the end"),
        ({"warmup_p50_ms": 31}, "last half was 31 ms, above 2 × the measured 5 ms + 20 ms"),
        ({"first_third_p50_ms": 111}, "still fell from 111 ms in the first third of the measured events to 5 ms"),
    ],
)
def test_each_rule_invalidates_in_words(change, reason) -> None:
    found = assess(replace(GOOD, **change))
    assert not found.valid
    assert len(found.reasons) == 1
    assert reason in found.reasons[0]


def test_all_reasons_are_given_at_once() -> None:
    assert len(assess(replace(GOOD, events_in_log=0, ended_in_time=False)).reasons) == 2


def test_a_load_that_is_not_constant_has_no_rule_for_its_warm_up() -> None:
    found = assess(replace(GOOD, load_is_constant=False, warmup_p50_ms=5_000))
    assert found.valid
    assert found.warmup["settled"] is None


def test_overload_warns_and_does_not_invalidate() -> None:
    assert assess(replace(GOOD, last_third_p50_ms=515)).warnings == []
    found = assess(replace(GOOD, last_third_p50_ms=516))
    assert found.valid
    assert "rose from 5 ms in the first third of the measured events to 516 ms" in found.warnings[0]


def test_events_that_lie_in_the_log_already_wait_for_each_other_and_overload_nothing() -> None:
    full_log = replace(GOOD, load_is_paced=False, load_is_constant=False, last_third_p50_ms=50_000)
    assert assess(full_log).warnings == []


def test_what_cannot_be_told_is_said() -> None:
    assert "unknown" in assess(replace(GOOD, warmup_p50_ms=None)).warnings[0]
    assert "3 latencies were below 0 ms" in assess(replace(GOOD, negative_latencies=3)).warnings[0]
