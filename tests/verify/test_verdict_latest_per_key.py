"""Verdicts of final values per key: literal tables, and known faults injected into right sequences."""

import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.model import Expected, Guarantee, LatestPerKey, UserError
from streamgauge.model.verdict import Verdict
from streamgauge.verify.verdict import judge

RISING = LatestPerKey(("word",), {"seen": "rises"})


def outputs_of(rows: list[tuple], names: tuple[str, ...], types: dict | None = None) -> pa.Table:
    """Outputs in one partition in the order of the list; each row is its columns and then its origin offset."""
    count = len(rows)
    table = {
        "partition": pa.array([0] * count, pa.int32()),
        "offset": pa.array(range(count), pa.int64()),
        "append_ms": pa.array(range(count), pa.int64()),
        "origin_append_ms": pa.array([0] * count, pa.int64()),
        "origin_partition": pa.array([0] * count, pa.int32()),
        "origin_offset": pa.array([row[-1] for row in rows], pa.int64()),
        "origin_ordinal": pa.array([0] * count, pa.int32()),
    }
    for at, name in enumerate(names):
        table[name] = pa.array([row[at] for row in rows], (types or {}).get(name))
    return pa.table(table)


def verdict(connection, expected: dict, rows: list[tuple], matching=RISING, restarts=0, types=None) -> Verdict:
    names = (*matching.key, *matching.values)
    answer = pa.table({name: pa.array(expected[name], (types or {}).get(name)) for name in names})
    seen = outputs_of(rows, names, {name: answer.schema.field(name).type for name in names})
    return judge(Expected(answer), seen, matching, Guarantee(), restarts, connection=connection)


def counts(found: Verdict) -> dict[str, int]:
    names = ("lost", "wrong", "unexpected", "duplicated", "out_of_order")
    return {name: getattr(found, name) for name in names if getattr(found, name)}


A3 = {"word": ["a"], "seen": [3]}


@pytest.mark.parametrize(
    ("rows", "differing"),
    [
        ([("a", 1, 0), ("a", 2, 1), ("a", 3, 2)], {}),
        ([("a", 3, 2)], {}),
        ([], {"lost": 1}),
        ([("a", 1, 0), ("a", 2, 1)], {"lost": 1}),
        ([("a", 1, 0), ("a", 4, 1)], {"wrong": 1}),
        ([("a", 4, 1), ("a", 3, 2)], {"wrong": 1}),
        ([("a", 4, 0), ("a", 2, 1)], {"wrong": 1, "lost": 1}),
        ([("a", 3, 2), ("b", 1, 0)], {"unexpected": 1}),
        ([("a", 3, 2), (None, 1, 0)], {"unexpected": 1}),
        ([("a", 2, 1), ("a", 1, 0), ("a", 3, 2)], {"out_of_order": 1}),
        ([("a", 1, 0), ("a", 3, 2), ("a", 2, 1)], {"out_of_order": 1, "lost": 1}),
        ([("a", 1, 0), ("a", 2, 1), ("a", 1, 0), ("a", 2, 1), ("a", 3, 2)], {"duplicated": 2}),
        ([("a", 1, 0), ("a", 2, 1), ("a", 1, 5), ("a", 3, 2)], {"duplicated": 1}),
        ([("a", 1, 0), ("a", 2, 1), ("a", 2, 2), ("a", 3, 3)], {}),
        ([("a", None, 0), ("a", 3, 2)], {}),
        ([("a", 2, 1), ("a", None, 0), ("a", 3, 2)], {"out_of_order": 1}),
    ],
)
def test_each_difference_counts_under_its_word(connection, rows, differing) -> None:
    found = verdict(connection, A3, rows)
    assert counts(found) == differing
    assert found.correct is (not differing)
    assert bool(found.examples) is bool(differing)


def test_a_key_may_be_null_and_a_final_value_may_be_null(connection) -> None:
    types = {"word": pa.string(), "seen": pa.int64()}
    expected = {"word": [None, "a"], "seen": [1, None]}
    assert verdict(connection, expected, [(None, 1, 0), ("a", None, 1)], types=types).correct
    assert counts(verdict(connection, expected, [(None, 1, 0), ("a", 5, 1)], types=types)) == {"wrong": 1}


def test_falling_columns_mirror_rising_ones(connection) -> None:
    matching = LatestPerKey(("word",), {"least": "falls"})
    expected = {"word": ["a"], "least": [1]}
    assert counts(verdict(connection, expected, [("a", 3, 0), ("a", 1, 1)], matching)) == {}
    assert counts(verdict(connection, expected, [("a", 0, 0), ("a", 1, 1)], matching)) == {"wrong": 1}
    disorder = [("a", 2, 0), ("a", 3, 1), ("a", 1, 2)]
    assert counts(verdict(connection, expected, disorder, matching)) == {"out_of_order": 1}


def test_a_column_of_any_is_checked_at_the_end_only(connection) -> None:
    matching = LatestPerKey(("word",), {"mean": "any"})
    expected = {"word": ["a"], "mean": [2.0]}
    assert counts(verdict(connection, expected, [("a", 9.0, 0), ("a", 2.0, 1)], matching)) == {}
    assert counts(verdict(connection, expected, [("a", 2.0, 0), ("a", 9.0, 1)], matching)) == {"lost": 1}


@pytest.mark.parametrize(
    ("final", "seen", "same"),
    [
        (0.1 + 0.2, 0.3, True),
        (1e300, 1.0000001e300, False),
        (math.inf, 5.0, False),
        (5.0, math.inf, False),
        (math.inf, math.inf, True),
        (math.nan, math.nan, True),
        (0.0, -0.0, True),
        (0.0, 1e-300, False),
    ],
)
def test_floats_are_the_same_within_the_relative_tolerance(connection, final, seen, same) -> None:
    matching = LatestPerKey(("word",), {"mean": "any"})
    assert verdict(connection, {"word": ["a"], "mean": [final]}, [("a", seen, 0)], matching).correct is same


def test_whole_numbers_are_exact_whatever_the_tolerance(connection) -> None:
    expected = {"word": ["a"], "seen": [3_000_000_000]}
    assert counts(verdict(connection, expected, [("a", 2_999_999_999, 0)])) == {"lost": 1}


def test_after_a_restart_another_interleaving_of_the_inputs_is_a_replay(connection) -> None:
    matching = LatestPerKey(("word",), {"seen": "rises", "total": "rises"})
    expected = {"word": ["a"], "seen": [3], "total": [60]}
    rows = [("a", 1, 10, 0), ("a", 2, 40, 1), ("a", 1, 30, 1), ("a", 2, 40, 1), ("a", 3, 60, 2)]
    assert counts(verdict(connection, expected, rows, matching)) == {"duplicated": 1, "out_of_order": 1}
    found = verdict(connection, expected, rows, matching, restarts=1)
    assert counts(found) == {"duplicated": 2}
    assert found.correct


def test_columns_may_have_any_name(connection) -> None:
    matching = LatestPerKey(("final",), {"position": "rises", 'a "quoted" name': "any"})
    expected = {"final": ["a"], "position": [1], 'a "quoted" name': ["x"]}
    assert verdict(connection, expected, [("a", 1, "x", 0)], matching).correct
    assert not verdict(connection, expected, [("a", 2, "x", 0)], matching).correct


def test_two_final_values_for_a_key_are_the_oracles_mistake(connection) -> None:
    with pytest.raises(UserError, match="two final values for word='a'"):
        verdict(connection, {"word": ["a", "a"], "seen": [1, 2]}, [])


def test_examples_say_what_was_wanted_and_what_was_seen(connection) -> None:
    expected = {"word": ["a", "b", "c"], "seen": [3, 2, 1]}
    found = verdict(connection, expected, [("a", 2, 0), ("b", 5, 1), ("z", 1, 2)])
    assert set(found.examples) == {
        "lost: word='a' should end at seen=3, last was seen=2",
        "lost: word='c' should end at seen=1, never appeared",
        "wrong: seen=5 of word='b', whose final value is seen=2",
        "unexpected: word='z' with seen=1",
    }


@st.composite
def right_sequences(draw) -> tuple[list[tuple[str, int, int]], dict[str, int]]:
    """The outputs of a right run over several keys, interleaved, and each key's final value."""
    finals = draw(st.lists(st.integers(3, 8), min_size=2, max_size=6))
    order = draw(st.permutations([key for key, final in enumerate(finals) for _ in range(final)]))
    seen = [0] * len(finals)
    rows = []
    for offset, key in enumerate(order):
        seen[key] += 1
        rows.append((f"k{key}", seen[key], offset))
    return rows, {f"k{key}": final for key, final in enumerate(finals)}


@settings(max_examples=60, deadline=None)
@given(right=right_sequences(), data=st.data())
def test_injected_faults_are_counted_exactly(shared_connection, right, data) -> None:
    rows, finals = right
    keys = data.draw(st.permutations(sorted(finals)))
    lost_key, other_key = keys[0], keys[1]
    fault = data.draw(st.sampled_from(["none", "drop key", "drop final", "corrupt", "repeat", "swap", "replay"]))
    mine = [at for at, row in enumerate(rows) if row[0] == lost_key]
    wanted: dict[str, int] = {}
    seen = list(rows)
    if fault == "drop key":
        seen, wanted = [row for row in rows if row[0] != lost_key], {"lost": 1}
    elif fault == "drop final":
        del seen[mine[-1]]
        wanted = {"lost": 1}
    elif fault == "corrupt":
        hit = data.draw(st.sets(st.sampled_from(mine), min_size=1))
        seen = [(r[0], finals[r[0]] + 1 + at, r[2]) if at in hit else r for at, r in enumerate(rows)]
        wanted = {"wrong": len(hit)}
    elif fault == "repeat":
        copies = data.draw(st.integers(1, 4))
        seen[mine[1] : mine[1]] = [rows[mine[0]]] * copies
        wanted = {"duplicated": copies}
    elif fault == "swap":
        seen[mine[0]], seen[mine[1]] = rows[mine[1]], rows[mine[0]]
        wanted = {"out_of_order": 1}
    elif fault == "replay":
        again = [row for row in rows if row[0] == other_key]
        seen += again
        wanted = {"duplicated": len(again)}
    expected = {"word": list(finals), "seen": list(finals.values())}
    assert counts(verdict(shared_connection, expected, seen)) == wanted
