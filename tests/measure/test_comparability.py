"""Which trials may stand against each other, which find each other, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.measure.comparability import Pair, Side, deciding_facts, pairs, sides
from tests.report.compared_runs import repeats, with_trial
from tests.report.sample_run import record

MACHINE = {"cpu": "Some CPU", "cores": 2, "architecture": "x86_64", "memory_bytes": 8_000_000_000, "java": "17.0.12"}


def run(name: str = "a", **machine: Any) -> dict[str, Any]:
    """The facts of a run on that machine."""
    facts = {"run": name, "machine": {**MACHINE, "disk_free_bytes": hash(name), **machine}}
    return {**facts, "log": {"kind": "embedded"}}


def side(name: str = "a", *, facts: dict[str, Any] | None = None, n: int = 2, **changes: Any) -> Side:
    """A side with repeats that are valid and right."""
    (found,) = sides(facts or run(name), [made for made, _ in repeats(n=n, **changes)])
    return found


def changed(**trial: Any) -> Side:
    (found,) = sides(run("b"), [made for made, _ in with_trial(repeats(n=2), **trial)])
    return found


def test_repeats_of_the_same_trial_are_comparable() -> None:
    pair = Pair(side("a", n=2), side("b", n=5, seed=9))
    assert (pair.reasons, pair.differences) == ([], [])
    assert pair.title == "wordcount · spark-microbatch · constant:500/s"


@pytest.mark.parametrize(
    ("trial", "reason"),
    [
        ({"load": "constant:700/s"}, "load differs: constant:500/s against constant:700/s"),
        ({"seed": 2}, "seed differs: 1 against 2"),
        ({"events": 20_000}, "events differs: 12,500 against 20,000"),
        ({"warmup_events": 0}, "warm-up events differs: 5,000 against none"),
        ({"partitions": 4}, "partitions differs: 2 against 4"),
        ({"place": "local[8]"}, "place differs: local against local[8]"),
        ({"parameters": {"pattern": "news"}}, "parameters differs: none against pattern=news"),
        ({"malformed": 0.01}, "malformed differs: none against 0.01"),
        ({"faults": ["at 30 s kill driver"]}, "faults differs: none against ['at 30 s kill driver']"),
    ],
)
def test_what_decides_a_trial_must_be_alike(trial, reason) -> None:
    (said,) = Pair(side(), changed(**trial)).reasons
    assert said == f"wordcount · spark-microbatch · constant:500/s: {reason}"


def test_members_that_an_older_record_lacks_or_leaves_empty_are_alike() -> None:
    older = side("b")
    for each in older.group.records:
        del each["trial"]["malformed"], each["trial"]["file"]
        each["trial"]["data"] = None
    assert Pair(side("a"), older).reasons == []


@pytest.mark.parametrize(
    ("machine", "reasons"),
    [
        ({"cores": 4}, ["the machines differ in cores: 2 against 4"]),
        ({"cpu": "Another"}, ["the machines differ in cpu: Some CPU against Another"]),
        ({"memory_bytes": 8_010_000_000}, []),
        ({"memory_bytes": 16_000_000_000}, ["the machines differ in memory: 8000000000 against 16000000000"]),
    ],
)
def test_the_machine_must_be_the_same(machine, reasons) -> None:
    assert Pair(side(), side(facts=run("b", **machine))).reasons == reasons


def test_other_software_is_named_and_another_kafka_or_no_machine_is_a_reason() -> None:
    assert Pair(side(), side(facts=run("b", java="21.0.1"))).differences == ["java: 17.0.12 against 21.0.1"]
    given = {**run("b"), "log": {"kind": "given"}}
    assert Pair(side(), side(facts=given)).reasons == ["the logs differ: embedded against given"]
    assert Pair(side(), side(facts={"run": "b"})).reasons == ["the machine of a run is not recorded"]


def test_two_versions_of_one_engine_are_comparable_and_named() -> None:
    pair = Pair(
        side(facts=run("a", pyspark="4.2.0"), version="4.2.0"), side(facts=run("b", pyspark="4.3.0"), version="4.3.0")
    )
    assert pair.reasons == []
    assert pair.differences == ["engine: spark-microbatch 4.2.0 against spark-microbatch 4.3.0"]


def test_other_settings_are_named() -> None:
    other = side("b", tuning={"spark.sql.shuffle.partitions": "8"})
    (said,) = [each for each in Pair(side(), other).differences if "shuffle" in each]
    assert said == "setting spark.sql.shuffle.partitions: 2 against 8"


def test_variants_must_be_alike_on_one_engine_and_are_named_on_two() -> None:
    one, other = side(variants={"count": "aggregate"}), side("b", variants={"count": "stateful"})
    assert Pair(one, other).reasons[0].endswith("variant of count differs: aggregate against stateful")
    realtime = side("b", engine="spark-realtime", variants={"count": "stateful"})
    assert Pair(one, realtime).reasons == []
    assert "variant of count: aggregate against stateful" in Pair(one, realtime).differences


def test_answers_must_be_right_and_trials_valid() -> None:
    wrong = side("b", n=3)
    wrong.group.records[1]["verdict"]["correct"] = False
    (said,) = Pair(side(), wrong).reasons
    assert said.endswith("spark-microbatch 4.3.0 of run b gave a wrong answer in 1 of 3 repeats")
    late = side("b", valid=False, invalid_reasons=["the publisher fell behind"])
    assert Pair(side(), late).reasons[0].endswith("of run b is not valid: the publisher fell behind")
    gap = {"kind": "never", "reason": "no aggregates"}
    absent = Side(run("b"), sides(run("b"), [record("wordcount", "spark-microbatch", status="gap", gap=gap)])[0].group)
    assert Pair(side(), absent).reasons[0].endswith("of run b was not measured: gap (never): no aggregates")


def test_a_repeat_that_is_not_valid_is_left_out_and_said() -> None:
    mixed = side("b", n=3)
    mixed.group.records[0]["valid"] = False
    pair = Pair(side(), mixed)
    assert (pair.reasons, len(mixed.counted)) == ([], 2)
    assert pair.differences == ["1 of 3 repeats of spark-microbatch 4.3.0 of run b not ranked and left out"]


def test_alike_trials_find_each_other_and_the_rest_is_told() -> None:
    mine = [changed(partitions=n) for n in (1, 2, 4)]
    theirs = [changed(partitions=n) for n in (4, 1)]
    found, alone = pairs(mine, theirs)
    assert [(p.baseline.facts["partitions"], p.candidate.facts["partitions"]) for p in found] == [(1, 1), (4, 4)]
    assert [s.facts["partitions"] for s in alone] == [2]


def test_where_nothing_is_alike_the_nearest_are_paired_so_that_the_reasons_are_told() -> None:
    mine = [changed(partitions=8, seed=3), changed(partitions=4)]
    found, alone = pairs(mine, [changed(partitions=2)])
    assert [(p.baseline.facts["partitions"], len(p.reasons)) for p in found] == [(4, 1)]
    assert len(alone) == 1


def test_engines_are_paired_with_themselves_unless_two_are_set_against_each_other() -> None:
    mine, theirs = [side(engine="spark-microbatch")], [side("b", engine="spark-realtime")]
    assert pairs(mine, theirs)[0] == []
    ((pair,), alone) = pairs(mine, theirs, across_engines=True)
    assert (pair.title, alone) == ("wordcount · constant:500/s", [])


def test_a_series_goes_on_over_versions_and_memory_but_not_over_settings() -> None:
    assert deciding_facts(side(version="4.2.0")) == deciding_facts(side(facts=run("b", memory_bytes=8_000_000_001)))
    assert deciding_facts(side()) != deciding_facts(changed(settings={"trigger": "1s"}))
    assert deciding_facts(side()) != deciding_facts(side(facts=run("b", cores=4)))
