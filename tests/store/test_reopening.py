"""A run that was interrupted is opened again for writing: by one at a time, and nothing that is stored is touched."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from streamgauge.model import StoreError
from streamgauge.store import RunStore, trial_record
from tests.store.test_run_store import COUNTS, TRIAL, new_run


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def test_a_reopened_run_is_added_to(store: RunStore) -> None:
    writer = new_run(store, trials=2)
    writer.finish("interrupted")
    before = (writer.folder / "trials/001/trial.json").read_bytes()
    again = store.reopen(writer.id)
    assert (again.id, again.trials_stored, again.run["status"]) == (writer.id, 2, "running")
    again.add_trial(trial_record(TRIAL, "failed", error="third"), {"latency": COUNTS})
    again.finish("complete")
    stored = store.open(writer.id)
    assert [r["error"] for r in stored.trials] == ["e0", "e1", "third"]
    assert (stored.run["status"], len(stored.run["resumed_at"]), stored.run["machine"]) == ("complete", 1, {"cores": 2})
    assert (writer.folder / "trials/001/trial.json").read_bytes() == before


def test_what_never_got_its_record_is_cleared_away(store: RunStore) -> None:
    writer = new_run(store, trials=1)
    (writer.begin_trial() / "latency.parquet").write_bytes(b"half")
    writer.let_go()
    again = store.reopen(writer.id)
    assert [path.name for path in (writer.folder / "trials").iterdir()] == ["001"]
    assert again.add_trial(trial_record(TRIAL, "failed", error="x")).name == "002"
    assert store.open(writer.id).problems == []


def test_a_run_is_written_by_one_at_a_time(store: RunStore) -> None:
    writer = new_run(store, trials=1)
    with pytest.raises(StoreError, match="is being written by another command"):
        store.reopen(writer.id)
    writer.finish("interrupted")
    again = store.reopen(writer.id)
    with pytest.raises(StoreError, match="is being written by another command"):
        store.reopen(writer.id)
    again.let_go()
    again.let_go()
    store.reopen(writer.id).finish("failed")


def test_a_writer_that_was_killed_lets_go(store: RunStore) -> None:
    code = (
        "import os, sys; from streamgauge.store import RunStore;"
        "print(RunStore(sys.argv[1]).create(command='x', trials=3).id, flush=True); os.kill(os.getpid(), 9)"
    )
    made = subprocess.run([sys.executable, "-c", code, str(store.root)], capture_output=True, text=True)
    run = made.stdout.strip()
    assert (made.returncode, store.open(run).run["status"]) == (-9, "running")
    again = store.reopen(run)
    assert again.run["trials"] == 3


def test_a_complete_or_damaged_run_is_refused_and_stays_as_it_is(store: RunStore) -> None:
    writer = new_run(store)
    writer.finish("complete")
    with pytest.raises(StoreError, match="is complete"):
        store.reopen(writer.id)
    facts = writer.folder / "run.json"
    facts.write_text(json.dumps({**writer.run, "schema": 9}))
    with pytest.raises(StoreError, match="schema version 9"):
        store.reopen(writer.id)
    assert json.loads(facts.read_text())["status"] == "complete"
