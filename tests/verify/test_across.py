"""The table of answers across engines: only the same events are set side by side."""

from typing import Any

from streamgauge.verify.across import same_answers


def record(
    engine: str, digest: str, expected: str = "e", application: str = "wordcount", **trial: Any
) -> dict[str, Any]:
    return {
        "engine": engine,
        "trial": {"application": application, "seed": 1, "events": 100, **trial},
        "verdict": {"digest": digest, "expected_digest": expected},
    }


def test_engines_with_one_digest_gave_the_same_answer() -> None:
    (row,) = same_answers([record("a", "e"), record("b", "e"), record("b", "e", repeat=2)])
    assert row.same is True
    assert row.engines["b"].digests == ("e",) and row.engines["b"].as_expected


def test_a_digest_that_differs_is_told_and_whose_it_is() -> None:
    (row,) = same_answers([record("a", "e"), record("b", "x")])
    assert row.same is False
    assert (row.engines["a"].as_expected, row.engines["b"].as_expected) == (True, False)
    shown = row.as_dict()
    assert shown["engines"]["b"] == {"digests": ["x"], "as_expected": False}
    assert (shown["application"], shown["events"], shown["oracle"]) == ("wordcount", 100, ["e"])


def test_an_engine_that_does_not_agree_with_itself_does_not_agree() -> None:
    (row,) = same_answers([record("a", "e"), record("b", "e"), record("b", "x", repeat=2)])
    assert row.same is False and row.engines["b"].digests == ("e", "x")


def test_other_events_and_other_parameters_are_other_rows() -> None:
    others = [
        {},
        {"seed": 2},
        {"events": 200},
        {"parameters": {"pattern": "x"}},
        {"stop_after": "split"},
        {"partitions": 3},
    ]
    rows = same_answers([record("a", "e", **other) for other in others])
    assert len(rows) == len(others) and all(row.same is None for row in rows)
    assert len(same_answers([record("a", "e", load="x"), record("b", "e", load="y")])) == 1


def test_an_answer_that_depends_on_arrival_is_compared_with_its_own_oracle_alone() -> None:
    (row,) = same_answers([record("a", "1", "1"), record("b", "2", "2")])
    assert row.same is None
    assert all(each.as_expected for each in row.engines.values())


def test_trials_without_an_answer_are_left_out() -> None:
    gap = {**record("b", "e"), "verdict": None}
    old = {**record("c", "e"), "verdict": {"correct": True}}
    assert list(same_answers([record("a", "e"), gap, old])[0].engines) == ["a"]
