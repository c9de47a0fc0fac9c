"""What a scheduler keeps is on disk while it runs, and read of several jobs, also of one that was killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.paradigms import keeping
from streamgauge.paradigms.decisions import from_lines
from streamgauge.paradigms.keeping import TICKS_AT_ONCE, Keeper, KeptFiles, read_kept
from streamgauge.paradigms.ticks import Tick
from tests.paradigms.hand_made import decision


def tick(at_ms: float) -> Tick:
    return Tick(at_ms, "count", "data stream", False, 500, 3, 0.1, 30, 20, 4e4, 15e4, 0.27, 0.6)


def began(segment: str) -> dict[str, Any]:
    return {"what": "began", "segment": segment, "to": "operation stream", "how": "replay", "stopped_s": 5.0}


def done(segment: str, gap_s: float) -> dict[str, Any]:
    return {**began(segment), "what": "done", "reading_s": 5.0 + gap_s, "gap_s": gap_s}


def files(folder: Path, name: str) -> KeptFiles:
    return KeptFiles.beside(folder / f"{name}.jsonl")


def test_two_attempts_have_files_of_their_own(tmp_path: Path) -> None:
    first, second = files(tmp_path, "status-measured"), files(tmp_path, "status-measured.1")
    assert not set(first.as_dict().values()) & set(second.as_dict().values())
    assert KeptFiles.from_dict(first.as_dict()) == first
    assert KeptFiles.from_dict({}) == KeptFiles()


def test_a_job_that_is_killed_leaves_what_it_had_kept_and_the_next_goes_on(tmp_path: Path) -> None:
    killed, last = files(tmp_path, "status"), files(tmp_path, "status.1")
    keeper = Keeper(killed)
    for at in range(TICKS_AT_ONCE + 1):
        keeper.tick(tick(at))
    keeper.decide(decision(1.0))
    for step in (began("split"), done("split", 0.5), began("count"), began("split")):
        keeper.switch(step)
    found = read_kept([killed])
    assert found.ticks["at_ms"].to_pylist() == list(range(TICKS_AT_ONCE)), "written together"
    assert [each["segment"] for each in found.broken_off] == ["count", "split"]
    again = Keeper(last)
    again.tick(tick(1000))
    again.decide(decision(2.0))
    for step in (began("count"), done("count", 0.75)):
        again.switch(step)
    again.close()
    found = read_kept([killed, last])
    assert found.ticks["at_ms"].to_pylist() == [*range(TICKS_AT_ONCE), 1000]
    assert [each.at_s for each in from_lines(found.decisions)] == [decision(1.0).at_s, decision(2.0).at_s]
    assert found.facts["decisions"] == found.facts["switches"] == len(found.facts["broken_off"]) == 2
    assert (found.facts["longest_gap_s"], "what" in found.done[0]) == (0.75, False)


def test_what_was_cut_off_in_the_middle_of_writing_is_left_out(tmp_path: Path) -> None:
    mine = files(tmp_path, "status")
    keeper = Keeper(mine)
    for at in range(2 * TICKS_AT_ONCE):
        keeper.tick(tick(at))
    keeper.decide(decision(1.0))
    keeper.switch(began("count"))
    keeper.close()
    assert mine.decisions and mine.switches and mine.ticks
    for path in (mine.decisions, mine.switches):
        with path.open("a") as file:
            file.write('{"what": "do')
    whole = mine.ticks.read_bytes()
    mine.ticks.write_bytes(whole[: len(whole) * 3 // 4])
    found = read_kept([mine])
    assert found.ticks.num_rows == TICKS_AT_ONCE
    assert found.facts["decisions"] == len(found.broken_off) == 1
    mine.ticks.write_bytes(b"")
    assert read_kept([mine]).ticks.num_rows == 0


def test_what_is_not_kept_is_empty_and_a_closed_keeper_writes_nothing(tmp_path: Path) -> None:
    nothing = Keeper(KeptFiles())
    nothing.tick(tick(1))
    nothing.decide(decision(1.0))
    nothing.switch(began("count"))
    nothing.close()
    nothing.close()
    nothing.switch(done("count", 1.0))
    assert nothing.decided == 1 and len(nothing.new_decisions()) == 1 and nothing.new_decisions() == []
    found = read_kept([KeptFiles(), files(tmp_path, "never-started")])
    assert (found.ticks.num_rows, found.decisions, found.done, found.broken_off) == (0, "", [], [])


def test_of_very_many_ticks_every_nth_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = files(tmp_path, "status")
    keeper = Keeper(mine)
    for at in range(100):
        keeper.tick(tick(at))
    keeper.close()
    monkeypatch.setattr(keeping, "MOST_TICKS", 40)
    assert read_kept([mine]).ticks["at_ms"].to_pylist() == list(range(0, 100, 3))
