"""Runs on disk: written whole, found again, and readable around what is damaged."""

import errno
import json
import os
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge.model import StoreError, Trial, UserError
from streamgauge.store import RunStore, RunWriter, StoredRun, trial_record

TRIAL = Trial("grep", "spark-microbatch", "preloaded", seed=1, events=10, warmup_events=0)
COUNTS = pa.table({"kind": ["event"], "second": [0], "latency_ms": [5], "count": [10]})


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def new_run(store: RunStore, trials: int = 0) -> RunWriter:
    writer = store.create(command="streamgauge run grep", trials=trials, machine={"cores": 2})
    for number in range(trials):
        writer.add_trial(trial_record(TRIAL, "failed", error=f"e{number}"), {"latency": COUNTS})
    return writer


def test_what_is_written_is_read_back(store, tmp_path) -> None:
    writer = new_run(store)
    progress = tmp_path / "elsewhere.jsonl"
    progress.write_text('{"batch":1}\n')
    written = tmp_path / "ready.parquet"
    pq.write_table(COUNTS, written)
    writer.begin_trial()
    writer.add_trial(
        trial_record(TRIAL, "failed", error="died"), {"latency": COUNTS, "samples": written, "progress": progress}
    )
    writer.describe(log={"kind": "embedded"})
    writer.finish("complete")
    stored = store.open(writer.id)
    assert stored.run["log"] == {"kind": "embedded"}
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{4}", stored.id)
    assert (stored.run["schema"], stored.run["status"], stored.run["machine"]) == (1, "complete", {"cores": 2})
    (record,) = stored.trials
    assert (record["number"], record["error"], record["trial"]) == (1, "died", TRIAL.as_dict())
    assert stored.table(record, "latency").equals(COUNTS)
    assert stored.table(1, "samples").equals(COUNTS)
    assert set(stored.tables(record)) == {"latency", "samples"}
    assert (stored.folder / "trials/001/progress.jsonl").read_text() == '{"batch":1}\n'
    assert stored.problems == []
    assert not list(stored.folder.rglob("*.part"))


def test_a_run_is_found_by_id_beginning_path_and_latest(store) -> None:
    first, second = new_run(store), new_run(store)
    by_name = sorted([first.id, second.id])
    assert store.open("latest").id == by_name[-1]
    assert store.open(first.folder).id == first.id
    assert StoredRun.open(second.folder).id == second.id
    unique = next(first.id[:n] for n in range(1, 30) if not second.id.startswith(first.id[:n]))
    assert store.open(unique).id == first.id
    with pytest.raises(StoreError, match="the beginning of 2 runs"):
        store.open(first.id[:2])


def test_an_unknown_run_is_answered_with_the_nearest(store, tmp_path) -> None:
    with pytest.raises(StoreError, match="there is no run in"):
        store.open("latest")
    writer = new_run(store)
    with pytest.raises(StoreError, match=f"Did you mean '{writer.id}'"):
        store.open("x" + writer.id[1:])
    with pytest.raises(StoreError, match=r"holds no run\.json"):
        store.open(tmp_path)


def test_a_trial_without_its_record_is_left_out_with_a_note(store) -> None:
    writer = new_run(store, trials=1)
    pq.write_table(COUNTS, writer.begin_trial() / "latency.parquet")
    stored = store.open(writer.id)
    assert [r["number"] for r in stored.trials] == [1]
    assert stored.problems == ["trial 002 has no record yet and is left out"]


def test_a_truncated_record_is_named_and_the_others_stay_readable(store) -> None:
    writer = new_run(store, trials=3)
    damaged = writer.folder / "trials/002/trial.json"
    damaged.write_bytes(damaged.read_bytes()[:100])
    stored = store.open(writer.id)
    assert [r["error"] for r in stored.trials] == ["e0", "e2"]
    (problem,) = stored.problems
    assert problem.startswith(f"{damaged} is truncated or damaged")
    assert stored.table(3, "latency").equals(COUNTS)


def test_a_truncated_table_is_named_and_the_others_stay_readable(store) -> None:
    writer = new_run(store, trials=2)
    damaged = writer.folder / "trials/001/latency.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-20])
    stored = store.open(writer.id)
    assert len(stored.trials) == 2
    assert [str(damaged) in problem for problem in stored.problems] == [True]
    with pytest.raises(StoreError, match=r"is truncated or damaged\. The other trials"):
        stored.table(1, "latency")
    assert stored.tables(1) == {}
    assert len(stored.problems) == 1
    assert stored.table(2, "latency").equals(COUNTS)
    with pytest.raises(StoreError, match="is missing"):
        stored.table(2, "samples")


@pytest.mark.parametrize("content", [b'{"schema": 1, "run"', b"[]", b"\xff\xfe"])
def test_a_damaged_run_is_named_and_other_runs_are_listed(store, content) -> None:
    good, bad = new_run(store, trials=1), new_run(store)
    (bad.folder / "run.json").write_bytes(content)
    with pytest.raises(StoreError, match=re.escape(str(bad.folder / "run.json"))):
        store.open(bad.id)
    listed = {run.id: run for run in store.list()}
    assert (listed[good.id].problem, listed[good.id].trials_stored) == (None, 1)
    assert "run.json" in (listed[bad.id].problem or "")


def test_another_schema_version_is_refused_for_a_run_and_noted_for_a_trial(store) -> None:
    writer = new_run(store, trials=2)
    record = writer.folder / "trials/001/trial.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "schema": 2}))
    stored = store.open(writer.id)
    assert [r["number"] for r in stored.trials] == [2]
    assert "schema version 2" in stored.problems[0]
    facts = writer.folder / "run.json"
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "schema": 7}))
    with pytest.raises(StoreError, match="schema version 7, and this program reads version 1"):
        store.open(writer.id)


def test_a_full_disk_leaves_what_was_stored(store, monkeypatch) -> None:
    writer = new_run(store, trials=1)

    def no_space(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", no_space)
        with pytest.raises(StoreError, match="the disk is full"):
            writer.add_trial(trial_record(TRIAL, "failed", error="x"), {"latency": COUNTS})
        with pytest.raises(StoreError, match="the disk is full"):
            writer.finish("failed")
    stored = store.open(writer.id)
    assert [r["error"] for r in stored.trials] == ["e0"]
    assert stored.run["status"] == "running"
    assert not list(writer.folder.rglob("*.part"))
    writer.add_trial(trial_record(TRIAL, "failed", error="again"))
    assert [r["number"] for r in store.open(writer.id).trials] == [1, 2]


def test_a_record_that_is_not_whole_is_not_stored(store) -> None:
    writer = new_run(store)
    with pytest.raises(UserError, match="cannot be stored: it lacks"):
        writer.add_trial({"application": "grep", "engine": "spark-realtime"})
    assert not (writer.folder / "trials").exists()


def test_a_root_that_is_a_file_is_said(tmp_path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(StoreError, match="is a file, not a folder"):
        RunStore(tmp_path / "runs").create(command="", trials=0)
