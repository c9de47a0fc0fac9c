"""A restart needs the program that was started and the offsets that it had read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from streamgauge.engines.recovery_needs import fingerprint, lacking
from streamgauge.model.job import InputTopic, Job

JOB = Job(
    "wordcount", "spark-microbatch", {"searches": InputTopic("in")}, {"count": "out"}, {}, "b:1", "/c", "/s.jsonl"
)
COMMITTED = {"count": {"in": {0: 40, 1: 7}}}


def test_a_program_is_known_by_what_it_computes_from_where_to_where() -> None:
    assert fingerprint(JOB) == fingerprint(replace(JOB, status_path="/other.jsonl", bootstrap="b:2"))
    assert fingerprint(JOB) != fingerprint(replace(JOB, parameters={"pattern": "x"}))
    assert fingerprint(JOB) != fingerprint(replace(JOB, engine="spark-realtime"))
    assert fingerprint(JOB) != fingerprint(replace(JOB, inputs={"searches": InputTopic("in", 2)}))


def test_a_users_file_that_was_edited_is_another_program(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("A = 1")
    job = replace(JOB, application=str(file))
    before = fingerprint(job)
    file.write_text("A = 2")
    assert fingerprint(job) != before


def test_what_is_lacking_is_named() -> None:
    assert lacking("a", "a", COMMITTED, {"in": {0: 0, 1: 7}}) == []
    assert lacking("a", "b", COMMITTED, {"in": {0: 41}}) == [
        "its program has changed since it was started",
        "query 'count' needs offset 40 of 'in', partition 0, and the log begins at 41",
        "query 'count' read partition 1 of 'in', which is gone",
    ]
