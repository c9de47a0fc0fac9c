"""Differences before, during and after the faults: literal cases, and sums that must agree with the verdict."""

from __future__ import annotations

import duckdb
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.model import Expected, Guarantee, LatestPerKey
from streamgauge.model.verdict import Verdict
from streamgauge.verify.phases import PHASES, WORDS, Spans, together
from streamgauge.verify.verdict import judge
from tests.verify import test_verdict_latest_per_key as of_keys
from tests.verify import test_verdict_per_event as of_events

RISING = LatestPerKey(("word",), {"seen": "rises"})


def inputs_of(rows: list[tuple[int, int, int]]) -> pa.Table:
    """Events from (partition, offset, append_ms)."""
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    names = ("partition", "offset", "append_ms")
    return pa.table({name: pa.array(list(c), pa.int64()) for name, c in zip(names, columns, strict=True)})


def told(found: Verdict) -> dict[str, dict[str, int]]:
    return {
        name: {word: n for word, n in part.items() if n} for name, part in found.phases.items() if any(part.values())
    }


def test_an_answer_per_event_is_told_apart_by_when_it_was_written(connection: duckdb.DuckDBPyConnection) -> None:
    expected = [(0, 0, "a"), (0, 1, "b"), (0, 2, "c"), (0, 3, "d"), (0, 4, "e")]
    # Written at 1000, 1001, …; the fault is at work from 1002 to 1004.
    seen = [(0, 0, "a"), (0, 1, "x"), (0, 0, "a"), (0, 9, "?"), (0, 2, "c"), (0, 2, "c")]
    spans = Spans([(1002, 1004)], [inputs_of([(0, 3, 500), (0, 4, 1003)])])
    found = judge(
        of_events.expected_of(expected),
        of_events.outputs_of(seen),
        of_events.MATCHING,
        Guarantee(),
        1,
        connection=connection,
        spans=spans,
    )
    assert told(found) == {
        "before": {"seen": 2, "wrong": 1, "lost": 1},
        "during": {"seen": 2, "duplicated": 1, "unexpected": 1, "lost": 1},
        "after": {"seen": 2, "duplicated": 1},
    }
    assert connection.execute("show tables").fetchall() == []


def test_values_of_keys_are_told_apart_and_a_lost_key_by_its_last_event(connection: duckdb.DuckDBPyConnection) -> None:
    rows = [("a", 1, 0), ("a", 2, 1), ("a", 1, 0), ("a", 2, 1), ("b", 9, 4), ("z", 1, 5), ("a", 3, 2)]
    seen = of_keys.outputs_of(rows, ("word", "seen"))
    answer = pa.table({"word": ["a", "b", "c", "d"], "seen": [3, 2, 1, 1]})
    touches = pa.table({"word": ["c", "c", "d"], "partition": [0, 0, 0], "offset": [6, 7, 8]})
    events = inputs_of([(0, 6, 0), (0, 7, 3), (0, 8, 99)])
    found = judge(
        Expected(answer, touches),
        seen,
        RISING,
        Guarantee(),
        1,
        connection=connection,
        spans=Spans([(2, 4)], [events]),
    )
    assert told(found) == {
        "before": {"seen": 2},
        "during": {"seen": 2, "duplicated": 2, "lost": 1},
        "after": {"seen": 3, "wrong": 1, "unexpected": 1, "lost": 1},
    }
    assert connection.execute("show tables").fetchall() == []


def test_without_touches_a_lost_key_counts_as_after(connection: duckdb.DuckDBPyConnection) -> None:
    seen = of_keys.outputs_of([("a", 1, 0)], ("word", "seen"))
    answer = pa.table({"word": ["a", "b"], "seen": [1, 1]})
    spans = Spans([(5, 6)], [inputs_of([(0, 0, 0)])])
    found = judge(Expected(answer), seen, RISING, Guarantee(), 1, connection=connection, spans=spans)
    assert told(found) == {"before": {"seen": 1}, "after": {"lost": 1}}


def test_an_output_out_of_order_is_told_apart_too(connection: duckdb.DuckDBPyConnection) -> None:
    rows = [(0, 0, "a"), (0, 2, "c"), (0, 1, "b")]
    found = judge(
        of_events.expected_of(rows),
        of_events.outputs_of(rows),
        of_events.MATCHING,
        Guarantee(),
        0,
        connection=connection,
        ordered=True,
        spans=Spans([(1002, 1003)], [inputs_of([])]),
    )
    assert told(found) == {"before": {"seen": 2}, "during": {"seen": 1, "out_of_order": 1}}


_EVENT = st.tuples(st.integers(0, 1), st.integers(0, 3), st.sampled_from("ab"))


@given(st.lists(_EVENT, min_size=1, max_size=8), st.lists(_EVENT, max_size=12), st.integers(0, 12), st.integers(0, 12))
@settings(max_examples=40, deadline=None)
def test_phases_add_up_to_the_verdict_per_event(
    shared_connection: duckdb.DuckDBPyConnection, expected: list, seen: list, start: int, length: int
) -> None:
    events = inputs_of([(p, o, 1000 + 2 * o) for p in (0, 1) for o in range(4)])
    found = judge(
        of_events.expected_of(expected),
        of_events.outputs_of(seen),
        of_events.MATCHING,
        Guarantee(),
        1,
        connection=shared_connection,
        ordered=True,
        spans=Spans([(1000 + start, 1000 + start + length)], [events]),
    )
    assert_adds_up(found)


_UPDATE = st.tuples(st.sampled_from("abz"), st.integers(1, 4), st.integers(0, 3))


@given(st.lists(_UPDATE, max_size=12), st.integers(0, 12), st.integers(0, 12), st.booleans())
@settings(max_examples=40, deadline=None)
def test_phases_add_up_to_the_verdict_per_key(
    shared_connection: duckdb.DuckDBPyConnection, rows: list, start: int, length: int, restarted: bool
) -> None:
    answer = pa.table({"word": ["a", "b"], "seen": [3, 2]})
    touches = pa.table({"word": ["a", "b"], "partition": [0, 0], "offset": [1, 2]})
    found = judge(
        Expected(answer, touches),
        of_keys.outputs_of(rows, ("word", "seen"), {"word": pa.string(), "seen": pa.int64()}),
        RISING,
        Guarantee(),
        int(restarted),
        connection=shared_connection,
        spans=Spans([(start, start + length)], [inputs_of([(0, 1, 4), (0, 2, 6)])]),
    )
    assert_adds_up(found)


def assert_adds_up(found: Verdict) -> None:
    assert tuple(found.phases) == PHASES
    for word in ("seen", *WORDS):
        assert sum(part[word] for part in found.phases.values()) == getattr(found, word), word


def test_phases_of_several_outputs_are_added() -> None:
    one = {name: dict.fromkeys(("seen", *WORDS), 1) for name in PHASES}
    assert together([one, {}, one])["after"]["lost"] == 2
    assert together([{}, {}]) == {}
