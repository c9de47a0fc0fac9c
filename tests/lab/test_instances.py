"""Computed instances as a run's own: what becomes partitions, what parallelism, and what has no knob."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.lab.instances import with_instances
from streamgauge.lab.planning import plan
from streamgauge.lab.request import RunRequest
from streamgauge.model import StoreError, UserError
from streamgauge.store import RunStore
from tests.store.test_characterisations import BATCHES, document


def stored(root: Path, application: str, counts: dict[str, int]) -> str:
    """A stored characterisation of the application with these instances, the first of them the source's."""
    shape = document()["operators"][1]
    operators: list[dict[str, Any]] = []
    for name, count in counts.items():
        before = [operators[-1]["name"]] if operators else []
        role = "source" if not before else "sink" if name == "sink" else "stage"
        operators.append({**shape, "name": name, "role": role, "reads": before, "instances": count})
    writer = RunStore(root).create(command="streamgauge characterize", trials=0)
    writer.add_characterisation(document(application=application, operators=operators), BATCHES)
    writer.finish("complete")
    return writer.id


@pytest.fixture
def request_(tmp_path: Path) -> RunRequest:
    return RunRequest(applications=("wordcount",), engines=("spark-microbatch",), out=tmp_path)


WORDCOUNT = {"searches": 2, "split": 1, "count": 3, "sink": 4}


def test_sources_become_partitions_and_stateful_stages_parallelism(request_: RunRequest) -> None:
    run = stored(request_.out, "wordcount", WORDCOUNT)
    taken, notes = with_instances(request_, run, 2)
    assert (taken.partitions, dict(taken.settings)) == (4, {"parallelism.count": "6"})
    assert notes == [
        f"instances of {run}: 4 partitions, count × 6",
        "split, sink: no instances of their own on Spark, they run in the tasks of what they read",
    ]
    (trial,) = plan(taken)
    assert (trial.partitions, trial.settings) == (4, {"parallelism.count": "6"})


def test_what_the_user_gives_goes_first(request_: RunRequest) -> None:
    from dataclasses import replace

    stored(request_.out, "wordcount", WORDCOUNT)
    given = replace(request_, partitions=7, settings={"parallelism.count": "5"})
    taken, _ = with_instances(given, "latest", 1)
    assert (taken.partitions, dict(taken.settings)) == (7, {"parallelism.count": "5"})


def test_stages_of_one_query_share_the_largest(request_: RunRequest) -> None:
    from dataclasses import replace

    counts = {"searches": 1, "extract": 1, "distinct": 2, "size": 5, "sink": 1}
    stored(request_.out, "distinct-count", counts)
    taken, notes = with_instances(replace(request_, applications=("distinct-count",)), "latest", 1)
    assert dict(taken.settings) == {"parallelism.distinct": "5", "parallelism.size": "5"}
    assert "distinct, size run in one query, 'size', so all get its largest: 5" in notes


def test_mistakes_are_said(request_: RunRequest) -> None:
    with pytest.raises(StoreError, match="there is no run in"):
        with_instances(request_, "latest", 1)
    RunStore(request_.out).create(command="", trials=0)
    with pytest.raises(UserError, match="the run 'latest' holds no characterisation"):
        with_instances(request_, "latest", 1)
    run = stored(request_.out, "grep", {"searches": 1, "grep": 1, "sink": 1})
    with pytest.raises(UserError, match="characterises grep, not wordcount"):
        with_instances(request_, run, 1)
    with pytest.raises(UserError, match="--multiplier must be at least 1"):
        with_instances(request_, run, 0)


def test_too_few_slots_are_said_while_planning(request_: RunRequest) -> None:
    stored(request_.out, "wordcount", WORDCOUNT)
    taken, _ = with_instances(request_, "latest", 20)
    with pytest.raises(UserError, match=r"needs 60 task slots and local has 32\. Use --place 'local\[60\]'"):
        plan(taken)
