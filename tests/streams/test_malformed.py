"""Spoiled events: a share chosen by seed and index, each with a defect that makes it malformed."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.model import Delimited, Field, FieldType, Json, Stream, Template, Text
from streamgauge.streams.malformed import KINDS, Spoiling, malformed, spoiled
from streamgauge.streams.wire import encode

FIELDS = (
    Field("user", FieldType.LONG),
    Field("word", FieldType.STRING),
    Field("note", FieldType.STRING, optional=True),
)
REQUIRED = ("user", "word")
BATCH = pa.RecordBatch.from_pydict({"user": [7, 8], "word": ["né", "b"], "note": ["x", None]})


def stream(wire, fields=FIELDS) -> Stream:
    return Stream("test", "a test", fields, wire, synthetic=lambda seed: None)


def made(kind: str, wire, required=REQUIRED) -> list[bytes]:
    """Both events spoiled in one way."""

    class One(Spoiling):
        def kinds(self, start: int, count: int) -> np.ndarray:
            return np.full(count, KINDS.index(kind))

    return spoiled(One(1, 1.0, required), stream(wire), encode(stream(wire), BATCH), 0).to_pylist()


LINE = Template("<{user}> {word} [{note}]")


@pytest.mark.parametrize(
    ("wire", "kind", "first"),
    [
        (Delimited(";"), "truncated", "7;né"),
        (Delimited(";"), "missing field", ";né;x"),
        (Delimited(";"), "wrong type", "oops;né;x"),
        (LINE, "truncated", "<7> né [x"),
        (LINE, "missing field", "<-> né [x]"),
        (LINE, "wrong type", "<oops> né [x]"),
        (Json(), "missing field", '{"word": "né", "note": "x"}'),
        (Json(), "empty", ""),
    ],
)
def test_each_kind_of_defect_in_each_format(wire, kind, first) -> None:
    assert made(kind, wire)[0].decode() == first


def test_truncated_json_is_no_json_but_still_utf8() -> None:
    for payload in made("truncated", Json()):
        with pytest.raises(json.JSONDecodeError):
            json.loads(payload.decode())


@pytest.mark.parametrize("wire", [Delimited(";"), LINE, Json()])
def test_what_is_not_utf8_cannot_be_read_as_text(wire) -> None:
    with pytest.raises(UnicodeDecodeError):
        made("not UTF-8", wire)[0].decode()


def test_a_wrong_type_needs_a_field_that_is_no_text() -> None:
    assert json.loads(made("wrong type", Json(), ("word",))[0]) == {"user": 7, "note": "x"}


def test_plain_text_can_only_be_empty_or_not_utf8() -> None:
    lines = stream(Text("word"), (FIELDS[1],))
    payloads = encode(lines, pa.RecordBatch.from_pydict({"word": [f"w{i}" for i in range(400)]}))
    found = set(spoiled(Spoiling(3, 0.5, ("word",)), lines, payloads, 0).to_pylist())
    changed = found - set(payloads.to_pylist())
    assert b"" in changed
    assert all(p == b"" or p.startswith(b"\xff") for p in changed)


@given(st.integers(0, 2**63), st.integers(0, 2**30), st.lists(st.integers(1, 500), min_size=1, max_size=4))
@settings(deadline=None)
def test_the_choice_does_not_depend_on_how_events_are_cut_into_blocks(seed, start, sizes) -> None:
    spoiling = Spoiling(seed, 0.01)
    whole = spoiling.kinds(start, sum(sizes))
    parts, at = [], start
    for size in sizes:
        parts.append(spoiling.kinds(at, size))
        at += size
    assert np.array_equal(whole, np.concatenate(parts))


def test_the_share_is_kept_and_every_kind_occurs() -> None:
    kinds = Spoiling(1, 0.01).kinds(0, 1_000_000)
    assert 9_500 < (kinds >= 0).sum() < 10_500
    assert set(kinds) == {-1, 0, 1, 2, 3, 4}


def test_whole_events_keep_their_bytes() -> None:
    payloads = pa.array([b"%d;a;b" % i for i in range(2_000)])
    spoiling = Spoiling(5, 0.01, REQUIRED)
    after = spoiled(spoiling, stream(Delimited(";")), payloads, 0).to_pylist()
    same = [a == b for a, b in zip(after, payloads.to_pylist(), strict=True)]
    assert np.array_equal(np.array(same), spoiling.kinds(0, 2_000) < 0)


def test_an_event_that_lacks_a_required_field_is_malformed_by_itself() -> None:
    batch = pa.RecordBatch.from_pydict({"user": [1, None, 3], "word": ["", "b", "-"], "note": [None, None, None]})
    assert malformed(stream(Delimited(";")), REQUIRED, batch, 0, None).tolist() == [True, True, False]
    assert malformed(stream(Json()), REQUIRED, batch, 0, None).tolist() == [False, True, False]
    assert malformed(stream(LINE), REQUIRED, batch, 0, None).tolist() == [False, True, True]


def test_where_no_field_is_required_only_broken_text_is_malformed() -> None:
    spoiling = Spoiling(1, 0.2)
    batch = pa.RecordBatch.from_pydict({"user": list(range(500)), "word": ["a"] * 500, "note": ["b"] * 500})
    found = malformed(stream(Json()), (), batch, 0, spoiling)
    assert np.array_equal(found, spoiling.kinds(0, 500) == KINDS.index("not UTF-8"))
