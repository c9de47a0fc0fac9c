"""Digests: alike for the same answer in any order, with repeats and rounding; other for any other answer."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.model import Expected, Guarantee, LatestPerKey, PerEvent
from streamgauge.verify.digest import together
from streamgauge.verify.verdict import judge
from tests.verify.test_verdict_latest_per_key import outputs_of

COUNTS = LatestPerKey(("word",), {"seen": "rises"})
MEANS = LatestPerKey(("word",), {"mean": "any"})
EACH = PerEvent(("word",))


def by_key(connection, rows, expected=(("a", 3), ("b", 1)), matching=COUNTS):
    (value,) = matching.values
    answer = pa.table({"word": [w for w, _ in expected], value: [v for _, v in expected]})
    seen = outputs_of(rows, ("word", value), {n: answer.schema.field(n).type for n in ("word", value)})
    return judge(Expected(answer), seen, matching, Guarantee(), connection=connection)


def per_event(connection, rows, expected=((0, "a"), (1, "b"), (1, "b"), (2, "c"))):
    answer = pa.table(
        {
            "partition": pa.array([0] * len(expected), pa.int32()),
            "offset": pa.array([o for o, _ in expected], pa.int64()),
            "word": [w for _, w in expected],
        }
    )
    seen = outputs_of([(w, o) for o, w in rows], ("word",), {"word": pa.string()})
    return judge(Expected(answer), seen, EACH, Guarantee(), connection=connection)


def test_the_way_to_the_last_value_does_not_matter(connection) -> None:
    one = by_key(connection, [("a", 1, 0), ("b", 1, 1), ("a", 3, 2)])
    other = by_key(connection, [("b", 1, 1), ("a", 2, 1), ("a", 3, 2), ("b", 1, 1)])
    assert one.digest == other.digest == one.expected_digest == other.expected_digest
    assert len(one.digest) == 32


@pytest.mark.parametrize(
    "rows",
    [[("a", 3, 0)], [("a", 3, 0), ("b", 2, 1)], [("a", 3, 0), ("b", 1, 1), ("c", 1, 2)], [("a", 3, 0), ("c", 1, 1)]],
)
def test_another_answer_has_another_digest(connection, rows) -> None:
    found = by_key(connection, rows)
    assert found.digest != found.expected_digest
    assert found.expected_digest == by_key(connection, [("a", 3, 0), ("b", 1, 1)]).digest


def test_two_engines_that_are_wrong_alike_have_one_digest(connection) -> None:
    one, other = (by_key(connection, [("a", 2, 0), *more, ("b", 1, 1)]) for more in ([], [("a", 2, 0)]))
    assert one.digest == other.digest != one.expected_digest


def test_what_is_the_same_within_the_tolerance_is_the_same_answer(connection) -> None:
    third = (("a", 1 / 3), ("b", 0.0))
    one = by_key(connection, [("a", 1 / 3, 0), ("b", -0.0, 1)], third, MEANS)
    other = by_key(connection, [("a", 1 / 3 * (1 + 1e-12), 0), ("b", 0.0, 1)], third, MEANS)
    assert one.digest == other.digest == one.expected_digest
    assert by_key(connection, [("a", 0.34, 0), ("b", 0.0, 1)], third, MEANS).digest != one.digest


def test_an_answer_per_event_is_of_events_and_values(connection) -> None:
    right = per_event(connection, [(0, "a"), (1, "b"), (1, "b"), (2, "c")])
    assert right.digest == right.expected_digest
    assert per_event(connection, [(0, "b"), (1, "a"), (1, "b"), (2, "c")]).digest != right.digest
    assert per_event(connection, [(0, "a"), (1, "b"), (2, "c")]).digest != right.digest


def test_an_oracle_of_other_events_has_another_digest(connection) -> None:
    one = per_event(connection, [(0, "a")], [(0, "a")])
    other = per_event(connection, [(1, "a")], [(1, "a")])
    assert one.expected_digest != other.expected_digest


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_neither_order_nor_repeats_change_it(shared_connection, data) -> None:
    expected = data.draw(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=6))
    again = data.draw(st.lists(st.sampled_from(expected), max_size=4))
    shuffled = data.draw(st.permutations([*expected, *again]))
    found = per_event(shared_connection, shuffled, expected)
    assert found.digest == found.expected_digest
    lacking = [row for row in shuffled if row != expected[0]]
    assert per_event(shared_connection, lacking, expected).digest != found.digest


def test_several_outputs_have_one_digest_in_any_order() -> None:
    assert together({"x": "1"}) == "1"
    assert together({"x": "1", "y": "2"}) == together({"y": "2", "x": "1"}) != together({"x": "2", "y": "1"})
    assert together({}) == ""
