"""Per-event verdicts: literal tables, and known faults injected into right answers."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.model import Expected, Guarantee, PerEvent, UserError
from streamgauge.model.verdict import Verdict
from streamgauge.verify.verdict import judge

MATCHING = PerEvent(values=("text",))
EXPECTED_SCHEMA = pa.schema([("partition", pa.int32()), ("offset", pa.int64()), ("text", pa.string())])
OUTPUT_SCHEMA = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("append_ms", pa.int64()),
        ("origin_append_ms", pa.int64()),
        ("origin_partition", pa.int32()),
        ("origin_offset", pa.int64()),
        ("origin_ordinal", pa.int32()),
        ("text", pa.string()),
    ]
)

Row = tuple[int | None, int | None, str | None]


def expected_of(rows: list[Row]) -> Expected:
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    return Expected(pa.table([list(c) for c in columns], schema=EXPECTED_SCHEMA))


def outputs_of(rows: list[Row]) -> pa.Table:
    """Outputs in one partition, in the order of the list."""
    count = len(rows)
    return pa.table(
        [
            [0] * count,
            list(range(count)),
            [1000 + i for i in range(count)],
            [900] * count,
            [r[0] for r in rows],
            [r[1] for r in rows],
            [0] * count,
            [r[2] for r in rows],
        ],
        schema=OUTPUT_SCHEMA,
    )


def verdict(connection, expected: list[Row], seen: list[Row], restarts: int = 0, **more) -> Verdict:
    return judge(
        expected_of(expected), outputs_of(seen), MATCHING, Guarantee(), restarts, connection=connection, **more
    )


def counts(found: Verdict) -> dict[str, int]:
    names = ("lost", "wrong", "unexpected", "duplicated", "out_of_order")
    return {name: getattr(found, name) for name in names if getattr(found, name)}


@pytest.mark.parametrize(
    ("expected", "seen", "differing"),
    [
        ([(0, 1, "a")], [(0, 1, "a")], {}),
        ([(0, 1, "a")], [], {"lost": 1}),
        ([(0, 1, "a")], [(0, 1, "b")], {"wrong": 1}),
        ([(0, 1, "a")], [(0, 1, "a"), (0, 1, "b")], {"wrong": 1}),
        ([(0, 1, "a")], [(0, 1, "a"), (0, 1, "a")], {"duplicated": 1}),
        ([(0, 1, "a")], [(0, 1, "a"), (0, 2, "a")], {"unexpected": 1}),
        ([(0, 1, "a")], [(0, 1, "a"), (1, 1, "a")], {"unexpected": 1}),
        ([(0, 1, "a")], [(0, 1, "a"), (None, None, "a")], {"unexpected": 1}),
        ([(0, 1, None)], [(0, 1, None)], {}),
        ([(0, 1, None)], [(0, 1, "")], {"wrong": 1}),
        ([(0, 1, "a"), (0, 1, "a")], [(0, 1, "a"), (0, 1, "a")], {}),
        ([(0, 1, "a"), (0, 1, "a")], [(0, 1, "a")], {"lost": 1}),
        ([(0, 1, "a"), (0, 1, "b")], [(0, 1, "x")], {"wrong": 1, "lost": 1}),
        ([(0, 1, "a"), (0, 1, "b")], [(0, 1, "a"), (0, 1, "a")], {"duplicated": 1, "lost": 1}),
    ],
)
def test_each_difference_counts_under_its_word(connection, expected, seen, differing) -> None:
    found = verdict(connection, expected, seen)
    assert counts(found) == differing
    assert found.correct is (not differing)
    assert (found.expected, found.seen) == (len(expected), len(seen))
    assert bool(found.examples) is bool(differing)


def test_order_is_judged_only_when_asked_and_a_replay_is_no_disorder(connection) -> None:
    right = [(0, i, f"v{i}") for i in range(4)]
    swapped = [right[1], right[0], right[2], right[3]]
    replayed = [*right[:3], *right]
    assert counts(verdict(connection, right, swapped)) == {}
    assert counts(verdict(connection, right, swapped, ordered=True)) == {"out_of_order": 1}
    assert counts(verdict(connection, right, replayed, ordered=True)) == {"duplicated": 3}


def test_order_is_judged_within_an_input_partition(connection) -> None:
    right = [(0, 5, "a"), (1, 1, "b"), (0, 6, "c"), (1, 2, "d")]
    assert verdict(connection, right, right, ordered=True).correct


def test_repeats_are_allowed_after_a_restart_only(connection) -> None:
    expected, seen = [(0, 1, "a")], [(0, 1, "a"), (0, 1, "a")]
    assert not verdict(connection, expected, seen).correct
    assert verdict(connection, expected, seen, restarts=1).correct


def test_an_empty_expected_answer_is_an_error(connection) -> None:
    with pytest.raises(UserError, match=r"nothing to verify\. Publish more events"):
        verdict(connection, [], [])


def test_records_that_could_not_be_read_are_unexpected(connection) -> None:
    found = verdict(connection, [(0, 1, "a")], [(0, 1, "a")], undecodable=2)
    assert counts(found) == {"unexpected": 2}
    assert found.seen == 3


def test_examples_name_the_event_and_are_at_most_five(connection) -> None:
    expected = [(0, i, f"v{i}") for i in range(20)]
    found = verdict(connection, expected, [(0, 3, "other"), (2, 9, "stray")])
    assert len(found.examples) == 5
    assert "lost: text='v0' of the event at partition 0, offset 0 never appeared" in found.examples
    assert "wrong: text='other' of the event at partition 0, offset 3 is not what the event gives" in found.examples
    assert any(text.startswith("unexpected: text='stray'") for text in found.examples)


def test_a_column_missing_from_the_oracle_is_said(connection) -> None:
    expected = Expected(pa.table({"partition": [0], "offset": [1]}))
    with pytest.raises(UserError, match="gives no column 'text'"):
        judge(expected, outputs_of([]), MATCHING, Guarantee(), connection=connection)


def test_whole_numbers_and_doubles_are_not_rounded_into_each_other(connection) -> None:
    expected = Expected(pa.table({"partition": [0], "offset": [1], "text": [6]}))
    seen = outputs_of([(0, 1, "")]).drop_columns(["text"]).append_column("text", pa.array([5.7]))
    assert judge(expected, seen, MATCHING, Guarantee(), connection=connection).wrong == 1


@st.composite
def faults(draw) -> tuple[int, set[int], dict[int, int], set[int], int]:
    count = draw(st.integers(2, 40))
    order = draw(st.permutations(range(count)))
    dropped = draw(st.integers(0, count // 3))
    corrupted = draw(st.integers(0, count // 3))
    copies = draw(st.dictionaries(st.sampled_from(order[2 * (count // 3) :]), st.integers(1, 3)))
    stray = draw(st.integers(0, 5))
    third = count // 3
    return count, set(order[:dropped]), copies, set(order[third : third + corrupted]), stray


@settings(max_examples=60, deadline=None)
@given(faults=faults(), data=st.data())
def test_injected_faults_are_counted_exactly(shared_connection, faults, data) -> None:
    count, dropped, copies, corrupted, stray = faults
    right: list[Row] = [(i % 2, i // 2, f"v{i % 7}") for i in range(count)]
    seen: list[Row] = []
    for index, (partition, offset, text) in enumerate(right):
        if index in dropped:
            continue
        seen.append((partition, offset, "corrupt" if index in corrupted else text))
        seen += [(partition, offset, text)] * copies.get(index, 0)
    seen += [(7, i, "stray") for i in range(stray)]
    shuffled = data.draw(st.permutations(seen))
    found = verdict(shared_connection, right, shuffled)
    wanted = {
        "lost": len(dropped),
        "wrong": len(corrupted),
        "duplicated": sum(copies.values()),
        "unexpected": stray,
    }
    assert counts(found) == {k: v for k, v in wanted.items() if v}
