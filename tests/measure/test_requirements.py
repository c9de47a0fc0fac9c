"""The two requirements on the log."""

from streamgauge.measure.requirements import check_requirements


def check(**change):
    facts = {
        "consumption_per_s": 1_000.0,
        "preloaded": True,
        "publishing_per_s": 2_000.0,
        "publisher_kept_up": True,
        "raw_read_per_s": 3_000.0,
    }
    return check_requirements(**{**facts, **change})


def test_preloaded_compares_rates() -> None:
    publishing, broker = check()
    assert (publishing.met, broker.met) == (True, True)
    assert publishing.detail == "published at 2,000/s, consumed at 1,000/s"
    assert check(publishing_per_s=1_000.0)[0].met is False


def test_a_job_that_is_faster_than_our_reader_says_nothing_against_the_broker() -> None:
    broker = check(raw_read_per_s=999.0)[1]
    assert broker.met is None
    assert broker.detail == "read back at 999/s, consumed at 1,000/s: more than one reader of the laboratory takes"


def test_paced_asks_whether_the_schedule_was_kept() -> None:
    assert check(preloaded=False, publishing_per_s=None)[0].met is True
    late = check(preloaded=False, publisher_kept_up=False)[0]
    assert (late.met, late.detail) == (False, "the publisher fell behind its schedule")


def test_a_rate_that_is_missing_is_not_called_met() -> None:
    assert check(raw_read_per_s=None)[1].met is None
    assert check(consumption_per_s=None)[1].as_dict() == {
        "name": "broker serves faster than consumption",
        "met": None,
        "detail": "nothing was consumed",
    }
