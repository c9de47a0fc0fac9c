"""A characterisation on disk: whole or refused, read back, and named where it is damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamgauge.model import UserError
from streamgauge.store import RunStore

BATCHES = pa.table({"cut": ["lines"], "pass": [1], "batch": [0], "rows_read": [10], "rows_out": [10], "ms": [5]})


def document(**changes: Any) -> dict[str, Any]:
    """A small characterisation as it is stored: a source and a sink."""
    operator = {
        "name": "lines",
        "role": "source",
        "reads": [],
        "operator": ["source"],
        "pattern": ["log round robin"],
        "rows_in": 10,
        "rows_out": 10,
        "selectivity": 1.0,
        "bytes_in": 50.0,
        "bytes_out": 50.0,
        "time_us": {"p50": 1.5, "p99": 12.5, "batches": 5, "within_noise": False},
        "state": None,
        "score_us": 12.5,
        "instances": 7,
    }
    count = {
        **operator,
        **{"name": "count", "role": "stage", "reads": ["lines"], "operator": ["aggregation"], "pattern": ["group by"]},
        **{"state": {"operators": ["stateStoreSave"], "bytes": 2048, "rows": 12}, "score_us": 5.0, "instances": 3},
    }
    sink = {**operator, "name": "sink", "role": "sink", "reads": ["count"], "score_us": 0.5, "instances": 1}
    made = {
        "schema": 1,
        "application": "word-count",
        "file": None,
        "engine": "spark-microbatch",
        "events": 10,
        "batches": 5,
        "seed": 1,
        "partitions": 2,
        "parameters": {},
        "settings": {},
        "overhead_ms": 12.0,
        "operators": [operator, count, sink],
        "configurations": [
            {"family": "computed", "multiplier": 2, "instances": {"lines": 14, "count": 6, "sink": 2}},
        ],
        "published": {
            "source": "Table 3.4",
            "application": "word-count",
            "instances": {"source": 1, "splitter": 5, "counter": 6, "sink": 3},
        },
        "remarks": ["count: within the noise"],
    }
    return {**made, **changes}


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def test_what_is_written_is_read_back(store: RunStore) -> None:
    writer = store.create(command="streamgauge characterize word-count", trials=0)
    writer.add_characterisation(document(), BATCHES)
    writer.finish("complete")
    stored = store.open("latest")
    assert stored.characterisation == document()
    assert stored.characterisation_batches().equals(BATCHES)
    assert (stored.trials, stored.problems) == ([], [])


def test_a_run_without_one_has_none(store: RunStore) -> None:
    assert store.open(store.create(command="", trials=0).id).characterisation is None


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"operators": []}, "it has no operator"),
        ({"operators": [{"name": "a"}]}, "operator 'a' lacks role"),
        ({"operators": [{**document()["operators"][0], "instances": 0}]}, "operator 'lines' has no instance"),
    ],
)
def test_one_that_is_not_whole_is_refused(store: RunStore, broken: dict[str, Any], said: str) -> None:
    writer = store.create(command="", trials=0)
    with pytest.raises(UserError, match=f"the characterisation of word-count cannot be stored: {said}"):
        writer.add_characterisation(document(**broken), BATCHES)
    writer.discard()
    assert store.list() == []


def test_what_is_lacking_is_named(store: RunStore) -> None:
    given = document()
    del given["overhead_ms"]
    with pytest.raises(UserError, match="it lacks overhead_ms"):
        store.create(command="", trials=0).add_characterisation(given, BATCHES)


def test_a_stored_one_is_no_empty_run(store: RunStore) -> None:
    writer = store.create(command="", trials=0)
    writer.add_characterisation(document(), BATCHES)
    writer.discard()
    assert store.open(writer.id).characterisation is not None


@pytest.mark.parametrize("text", ["{", json.dumps({"schema": 9})])
def test_a_damaged_one_is_named_and_the_run_opens(store: RunStore, text: str) -> None:
    writer = store.create(command="", trials=0)
    writer.add_characterisation(document(), BATCHES)
    (writer.folder / "characterisation.json").write_text(text)
    stored = store.open(writer.id)
    assert stored.characterisation is None
    assert "characterisation.json" in stored.problems[0]
