"""What attempts at a job left, as one: of a job that was killed what it kept, of the last what it told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamgauge.lab.assess import switched
from streamgauge.lab.conducted import Conducted
from streamgauge.lab.job_process import JobHandle
from streamgauge.lab.left_by import commits_of, left_by
from streamgauge.lab.planning import resolved
from streamgauge.load import parse_load
from streamgauge.model.job import InputTopic, Job
from streamgauge.paradigms.keeping import Keeper, KeptFiles
from tests.paradigms.hand_made import decision


def attempt(folder: Path, name: str, keeps: KeptFiles | None = None, **left: Any) -> JobHandle:
    handle = JobHandle(Job("wordcount", "spark-adaptive", {}, {}, {}, "b:1", "checkpoint", str(folder / name)))
    handle.started = {"starting_ms": 1, "reads": {}, "keeps": keeps.as_dict() if keeps else {}}
    handle.left = left
    return handle


def test_an_engine_that_decides_nothing_leaves_nothing(tmp_path: Path) -> None:
    assert left_by([attempt(tmp_path, "status.jsonl")], tmp_path) == ({}, {})


def test_attempts_are_told_together(tmp_path: Path) -> None:
    step = {"segment": "count", "to": "data stream", "how": "drain", "stopped_s": 3.0}
    handles = []
    for number in range(2):
        kept = KeptFiles.beside(tmp_path / f"status.{number}.jsonl")
        keeper = Keeper(kept)
        keeper.decide(decision(float(number)))
        keeper.switch({"what": "began", **step})
        if number:
            keeper.switch({"what": "done", **step, "gap_s": 0.5})
            keeper.close()
        # The first was killed: it closed nothing and told nothing at its end.
        handles.append(attempt(tmp_path, f"status.{number}.jsonl", kept, **({"standby_s": {}} if number else {})))
    facts, tables = left_by(handles, tmp_path)
    assert facts == {
        **{"standby_s": {}, "decisions": 2, "switches": 1, "longest_gap_s": 0.5},
        **{"carried_out": [{**step, "gap_s": 0.5}], "broken_off": [step]},
    }
    assert set(tables) == {"scheduler", "decisions"}
    assert tables["scheduler"].num_rows == 0
    assert tables["decisions"].read_text().count("\n") == 2


def test_commits_are_those_of_every_query_that_reads_an_input_by_all_attempts(tmp_path: Path) -> None:
    told = [
        [(5, {"head": {"a": {"0": 3}, "between": {"0": 9}}, "other": {"a": {"0": 2}}})],
        [(9, {"head": {"a": {"0": 4}, "b": {"0": 1, "1": 7}}, "other": {"a": {"0": 4}}})],
    ]
    handles = []
    for number, said in enumerate(told):
        lines = [json.dumps({"what": "committed", "at_ms": at, "offsets": offsets}) + "\n" for at, offsets in said]
        (tmp_path / f"status.{number}.jsonl").write_text("".join(lines))
        handles.append(attempt(tmp_path, f"status.{number}.jsonl"))
        handles[-1].hear()
    found = commits_of(handles, {"one": InputTopic("a", 0), "two": InputTopic("b", 4)})
    assert found.rows.tolist() == [[5, 0, 2], [9, 0, 4], [9, 4, 1], [9, 5, 7]]


def test_an_attempt_that_never_started_is_no_part_of_it(tmp_path: Path) -> None:
    refused = attempt(tmp_path, "status.jsonl")
    refused.started = None
    assert left_by([refused], tmp_path) == ({}, {})


def test_outputs_may_come_again_after_a_switch_that_was_done_or_broken_off() -> None:
    done = Conducted(resolved("wordcount", None), parse_load("preloaded"), {}, {})
    assert not switched(done)
    done.scheduler = {"switches": 0, "broken_off": []}
    assert not switched(done)
    for scheduler in ({"switches": 1, "broken_off": []}, {"switches": 0, "broken_off": [{}]}):
        done.scheduler = scheduler
        assert switched(done)
