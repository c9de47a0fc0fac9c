"""Inputs that stay in the log between trials: whose they are, and when nobody may read them any more."""

from __future__ import annotations

from streamgauge.lab.inputs import PreparedInput, PreparedInputs, input_events
from streamgauge.lab.planning import plan, resolved
from streamgauge.lab.request import RunRequest
from streamgauge.load.specification import PublisherResult

RESULT = PublisherResult(9, 90, (5, 4), 0, 0, 0, 0, 1.0, True, "")


def test_what_lies_in_a_broken_log_is_published_anew_and_deleted_later() -> None:
    (trial,) = plan(RunRequest(applications=("grep",), load="preloaded", events=1000))
    (events,) = input_events(trial, resolved("grep", None)).values()
    deleted: list[str] = []
    prepared = PreparedInputs(deleted.extend)
    prepared.keep(events, PreparedInput("in-1", RESULT))
    prepared.keep_only([events])
    assert prepared.get(events) is not None and deleted == []
    prepared.distrust()
    assert prepared.get(events) is None and deleted == [], "the log may be away at that moment"
    prepared.keep(events, PreparedInput("in-2", RESULT))
    prepared.keep_only([events])
    found = prepared.get(events)
    assert deleted == ["in-1"] and found is not None and found.topic == "in-2"
    prepared.keep_only(())
    assert deleted == ["in-1", "in-2"]
