"""VoIPSTREAM: what the decaying filters hold, and the scores that follow, worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.applications.decaying_filters import DAY_S, ESTIMATES, Calls, Switches, estimate, weights
from streamgauge.applications.voip_stream import (
    APPLICATION,
    estimates_of_every_call,
    filters,
    score,
    score_of_every_call,
)
from streamgauge.model.errors import UserError

MIDNIGHT = datetime(2012, 1, 1, tzinfo=UTC)
A, B, C = 101, 202, 303
CALLS = [
    # partition, offset, switch, calling, called, hours after midnight, seconds of talk, established, label
    (0, 0, 7, A, B, 0, 100, 1, 1),
    (0, 1, 7, B, A, 0, 50, 1, 0),
    (0, 2, 7, A, B, 6, 100, 1, 1),
    (0, 3, 7, A, C, 1, 0, 0, 1),
    (0, 4, 7, A, C, 24, 10, 1, 1),
    (0, 5, 7, A, B, 24, 10, 1, None),
    (0, 6, 7, A, B, 72, 10, 1, 0),
    (1, 0, 8, A, B, 0, 30, 1, 1),
]
# A call adds 65536 at midnight. At six it adds 131072 to what halves in six hours and 77936 to what halves in a day:
# an older one is then worth half as much, and 65536/77936. At the next midnight counters are shifted by 4 and by 1.
ANSWERS = [
    # partition, offset, switch, calling, ecr, encr, ecr24, ct24_ms, rcr, gacd_ms
    (0, 0, 7, A, 1000, 1000, 1000, 100_000, 0, 100_000),
    (0, 1, 7, B, 1000, 1000, 1000, 50_000, 1000, 75_000),
    # ECR (65536 + 131072) / 131072; ENCR 65536 / 131072; ECR24 (65536 + 77936) / 77936; RCR 65536 / 131072
    (0, 2, 7, A, 1500, 500, 1840, 184_089, 500, 84_322),
    # A called C in vain the day before, so C is not new, and the clock stayed at six. ECR (196608/16 + 65536) / 65536
    (0, 4, 7, A, 1187, 62, 2094, 119_460, 62, 55_677),
    # A called B yesterday
    (0, 5, 7, A, 2187, 62, 3094, 129_460, 62, 42_970),
    # Two days later B is new again, and counters are shifted by 8 and by 2
    (0, 6, 7, A, 1008, 1000, 1773, 42_365, 0, 25_605),
    (1, 0, 8, A, 1000, 1000, 1000, 30_000, 0, 30_000),
]
SCORES = [
    # partition, offset, fofir, url, acd, score, telemarketer: named above 2.97
    (0, 0, 0, 1000, 0, 3000, 1),
    (0, 1, 0, 1000, 0, 3000, 1),
    (0, 2, 0, 0, 0, 0, 0),
    (0, 4, 0, 0, 0, 0, 0),
    (0, 5, 23, 0, 0, 46, 0),
    # ENCR 1000 of ECR 1008 is 992: (992 − 500) / 500
    (0, 6, 0, 984, 0, 2952, 0),
    (1, 0, 0, 1000, 0, 3000, 1),
]


@pytest.fixture
def events(literal_events):
    rows = [
        (partition, offset, 1000, "", *who, (MIDNIGHT + timedelta(hours=hours)).replace(tzinfo=None), *rest)
        for partition, offset, *who, hours, seconds, established, label in CALLS
        for rest in [(seconds, established, label)]
    ]
    columns = "switch bigint, calling bigint, called bigint, answer_time timestamp"
    labels = "duration_s bigint, established bigint, telemarketer bigint"
    literal_events.add("calls", f"{columns}, {labels}", rows)
    return literal_events


@pytest.mark.spark
def test_filters_hold_decayed_counts(spark, origin_type, rows_of):
    rows = [
        (*who, MIDNIGHT + timedelta(hours=hours), seconds, established, (1000, partition, offset, 0))
        for partition, offset, *who, hours, seconds, established, _ in CALLS
    ]
    columns = "switch bigint, calling bigint, called bigint, answer_time timestamp, duration_s bigint"
    calls = spark.createDataFrame(rows, f"{columns}, established bigint, {origin_type}")
    found = rows_of(filters(calls, cells=2048), "origin.partition", "origin.offset", "switch", "calling", *ESTIMATES)
    assert found == sorted(ANSWERS, key=repr)


@pytest.mark.spark
def test_scores_rise_between_their_bounds(spark, origin_type, rows_of):
    rows = [
        # 36 calls made, none received; 35 to new numbers; 15 s each where 120 s are usual
        (7, A, 36_000, 35_000, 100_000, 1_500_000, 0, 120_000, (1, 0, 0, 0)),
        (7, B, 1500, 500, 1840, 184_089, 500, 84_322, (1, 0, 1, 0)),
        # 4 made for one received; 3 of 4 new; a third of the usual duration
        (7, C, 6000, 4500, 6000, 180_000, 1500, 90_000, (1, 0, 2, 0)),
    ]
    columns = ", ".join(f"{name} bigint" for name in ("switch", "calling", *ESTIMATES))
    found = score(spark.createDataFrame(rows, f"{columns}, {origin_type}"), threshold=2.999)
    assert rows_of(found, "switch", "calling", "fofir", "url", "acd", "score", "telemarketer") == [
        (7, A, 1000, 944, 1000, 7832, 1),
        (7, B, 0, 0, 0, 0, 0),
        (7, C, 250, 500, 333, 2999, 0),
    ]


def test_the_oracle_expects_decayed_counts(events):
    expected = estimates_of_every_call(events, cells=2048).rows
    assert [tuple(row.values()) for row in expected.to_pylist()] == ANSWERS


def test_the_oracle_expects_scores(events):
    expected = score_of_every_call(events, cells=2048, threshold=2.97)
    found = expected.rows.drop_columns(["switch", "calling"]).to_pylist()
    assert [tuple(row.values()) for row in found] == SCORES
    # Of the labelled calls A's first and that of switch 8 are named rightly, B's wrongly, and two are missed.
    assert expected.quality == {"precision": 2 / 3, "recall": 2 / 4}


def test_no_established_call_is_no_answer(literal_events):
    columns = "switch bigint, calling bigint, called bigint, answer_time timestamp"
    literal_events.add("calls", f"{columns}, duration_s bigint, established bigint, telemarketer bigint", [])
    assert estimates_of_every_call(literal_events, cells=64).rows.num_rows == 0


call = st.tuples(
    st.integers(1, 2),
    st.integers(0, 30),
    st.integers(0, 30),
    st.integers(0, 5 * DAY_S),
    st.integers(0, 4000),
    st.booleans(),
)


@given(st.lists(call, min_size=1, max_size=120), st.lists(st.integers(0, 120), max_size=4))
@settings(deadline=None, max_examples=60)
def test_any_cut_into_batches_gives_what_a_walk_gives(rows, cuts):
    """Thirty numbers in sixty-four cells, so that they collide; times jump to and fro over five days."""
    rows = [(switch, one, other, at // 3 + (at % 3) * DAY_S, *rest) for switch, one, other, at, *rest in rows]
    columns = [np.array(values) for values in zip(*rows, strict=True)]
    bounds = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    state, found = Switches.none(64).to_bytes(), []
    for begin, end in pairwise(bounds):
        switches = Switches.from_bytes(state)
        found += estimate(switches, Calls(*[values[begin:end] for values in columns])).tolist()
        state = switches.to_bytes()
    expected = estimates_of_every_call(_Events(columns), cells=64).rows.sort_by("offset")
    assert [list(row.values())[4:] for row in expected.to_pylist()] == found


class _Events:
    """Calls in one partition, as an oracle sees them."""

    def __init__(self, columns: list[np.ndarray]) -> None:
        import duckdb

        switch, calling, called, answer_s, seconds, established = columns
        self._calls = duckdb.connect()
        times = pa.array(answer_s).cast(pa.timestamp("s"))
        names = ("partition", "offset", "switch", "calling", "called", "answer_time", "duration_s", "established")
        place = [np.zeros(len(switch), np.int32), np.arange(len(switch))]
        values = [*place, switch, calling, called, times, seconds, established.astype(np.int64)]
        table = pa.table(dict(zip(names, values, strict=True)))
        self._calls.register("calls", table.append_column("telemarketer", pa.nulls(len(switch), pa.int64())))

    def sql(self, query: str):
        return self._calls.sql(query)


def test_weights_double_as_counters_halve():
    short, long = weights(4), weights(1)
    assert short[[0, 21_600, 43_200]].tolist() == [65_536, 131_072, 262_144]
    assert long[[0, 21_600, 43_200]].tolist() == [65_536, 77_936, 92_682]


@pytest.mark.parametrize(
    ("given", "told"),
    [({"cells": "63"}, "not from 64"), ({"cells": "66"}, "four does not divide"), ({"threshold": "0"}, "not above 0")],
)
def test_a_wrong_parameter_is_refused(given, told):
    with pytest.raises(UserError, match=told):
        APPLICATION.bind(given)
