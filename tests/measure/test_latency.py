"""Latencies on literal timelines, and event latency per key against a plain reading of its definition."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.measure.answering import Answer, answering
from streamgauge.measure.latency import MOST_SLOTS, measure_latencies
from streamgauge.measure.window import measured_window
from streamgauge.model import LatestPerKey, PerEvent, UserError
from streamgauge.store.tables import connect
from tests.measure.small_trial import events_of, outputs_of

PER_EVENT = PerEvent(("word",))
PER_KEY = LatestPerKey(("word",), {"seen": "rises"})


def touches_of(rows: list[tuple]) -> pa.Table:
    schema = pa.schema([("partition", pa.int32()), ("offset", pa.int64()), ("word", pa.string())])
    return pa.table([list(column) for column in zip(*rows, strict=True)], schema=schema)


def latencies(connection, events, answers, warmup_events=0, max_rows=1_000, **more):
    window = measured_window(connection, [events], warmup_events)
    with answering(connection, [events], answers, max_rows) as answered:
        return measure_latencies(connection, answered, window, **more)


def samples_of(found, kind: str) -> list[tuple[int, int]]:
    return [(r["at_ms"], r["latency_ms"]) for r in found.samples.to_pylist() if r["kind"] == kind]


def test_three_latencies_of_an_answer_per_event(connection) -> None:
    events = events_of([(0, 0, 1000, 990.4), (1, 0, 1500, 1500.0), (0, 1, 3100, None)])
    outputs = outputs_of([(1010, 1000, 0, 0, "a"), (1030, 1000, 0, 0, "a"), (3105, 3100, 0, 1, "b")])
    found = latencies(connection, events, [Answer(outputs, PER_EVENT)])
    assert samples_of(found, "event") == [(1000, 10), (3100, 5)]
    assert samples_of(found, "output") == [(1000, 10), (1000, 30), (3100, 5)]
    assert samples_of(found, "due") == [(1000, 20)]
    assert [r for r in found.counts.to_pylist() if r["kind"] == "event"] == [
        {"kind": "event", "second": 0, "latency_ms": 10, "count": 1},
        {"kind": "event", "second": 2, "latency_ms": 5, "count": 1},
    ]
    assert (found.event.n, found.output.n, found.due.n) == (2, 3, 1)


def test_what_lay_in_the_log_before_the_job_arrives_with_its_start(connection) -> None:
    events = events_of([(0, 0, 1000, None), (0, 1, 1700, None)])
    outputs = outputs_of([(1510, 1000, 0, 0, "a"), (1730, 1700, 0, 1, "b")])
    found = latencies(connection, events, [Answer(outputs, PER_EVENT)], arrived_ms=1500)
    assert samples_of(found, "event") == samples_of(found, "output") == [(1000, 10), (1700, 30)]


def test_the_warm_up_is_left_out_of_the_figures_but_its_median_is_kept(connection) -> None:
    events = events_of([(0, i, 1000 + i, None) for i in range(9)])
    outputs = outputs_of([(1000 + i + (100 if i < 6 else 7), 1000 + i, 0, i, "w") for i in range(9)])
    found = latencies(connection, events, [Answer(outputs, PER_EVENT)], warmup_events=6)
    assert found.event.as_dict()["max"] == 7
    assert found.event.n == 3
    assert found.warmup_last_half_p50_ms == 100


def test_thirds_are_of_the_measured_events(connection) -> None:
    events = events_of([(0, i, 1000 + i, None) for i in range(12)])
    outputs = outputs_of([(1000 + i + i * 10, 1000 + i, 0, i, "w") for i in range(12)])
    found = latencies(connection, events, [Answer(outputs, PER_EVENT)], warmup_events=2)
    assert (found.first_third_p50_ms, found.last_third_p50_ms) == (30, 100)


def test_a_negative_latency_is_counted_and_kept_in_the_samples(connection) -> None:
    events = events_of([(0, 0, 1000, 1004.0)])
    found = latencies(connection, events, [Answer(outputs_of([(1001, 1000, 0, 0, "a")]), PER_EVENT)])
    assert found.negative == {"event": 0, "output": 0, "due": 1}
    assert samples_of(found, "due") == [(1000, -3)]
    assert found.due.max == 0


def test_beyond_the_limit_only_counts_are_kept(connection) -> None:
    events = events_of([(0, i, 1000 + i, None) for i in range(5)])
    outputs = outputs_of([(1010 + i, 1000 + i, 0, i, "w") for i in range(5)])
    found = latencies(connection, events, [Answer(outputs, PER_EVENT)], max_samples=9)
    assert not found.samples_kept
    assert found.event.n == 5
    assert latencies(connection, events, [Answer(outputs, PER_EVENT)], max_samples=10).samples_kept


def test_a_sample_that_is_too_large_never_becomes_rows_in_memory(connection) -> None:
    """Answered events go into a file, which goes with them, samples become no table, and the figures are the same."""
    (spill,) = connection.execute("select current_setting('temp_directory')").fetchone()
    events = events_of([(0, i, 1000 + i, 1000.0 + i) for i in range(200)])
    outputs = outputs_of([(1010 + 3 * i, 1000 + i, 0, i, "w") for i in range(200)])
    answers = [Answer(outputs, PER_KEY, touches_of([(0, i, "w") for i in range(200)]))]
    window = measured_window(connection, [events], 50)
    with answering(connection, [events], answers, max_rows=199) as answered:
        assert connection.execute("select count(*) from duckdb_tables()").fetchone() == (0,)
        assert [file.name for file in Path(spill).glob("*.parquet")] == ["answered_event_0.parquet"]
        counted = measure_latencies(connection, answered, window, max_samples=10)
        assert connection.execute("select count(*) from duckdb_tables()").fetchone() == (0,)
    assert list(Path(spill).glob("*.parquet")) == []
    with answering(connection, [events], answers, max_rows=200):
        assert connection.execute("select count(*) from duckdb_tables()").fetchone() == (1,)
    kept = latencies(connection, events, answers, warmup_events=50)
    assert counted.samples is None and len(kept.samples) == 450
    assert counted.counts == kept.counts
    assert (counted.event, counted.first_third_p50_ms, counted.last_third_p50_ms) == (
        kept.event,
        kept.first_third_p50_ms,
        kept.last_third_p50_ms,
    )


def test_many_touches_are_answered_in_little_memory(tmp_path: Path) -> None:
    """Six million touches in 64 MB, which distinct, join and asof join of one query would each want for themselves."""
    n, (events, touches, outputs) = (
        2_000_000,
        (tmp_path / f"{name}.parquet" for name in ("events", "touches", "outputs")),
    )
    place, rows = '(i % 2)::int as "partition", i // 2 as "offset"', f"range({n}) r(i)"
    at_rest = {
        events: f'select i as "index", {place}, i // 600 as append_ms, null as due_ms, 20 as bytes from {rows}',
        touches: f"select {place}, ((i + j) % 1009)::varchar as word from {rows}, range(3) s(j)",
        outputs: f"""
            select word, {n} as append_ms, max(append_ms) as origin_append_ms, (arg_max(e, "index")).partition as
                   origin_partition, (arg_max(e, "index")).offset as origin_offset, 0 as "partition", 0 as "offset"
            from '{touches}' join '{events}' e using ("partition", "offset") group by word
        """,
    }
    made = connect(tmp_path / "made", "512MB")
    for file, query in at_rest.items():
        made.execute(f"copy ({query}) to '{file}' (format parquet)")
    made.close()
    connection = connect(tmp_path / "spill", "64MB")
    connection.execute("set threads = 2")
    with answering(connection, [events], [Answer(outputs, PER_KEY, touches)], max_rows=n):
        found = connection.execute(f"select count(*), count(*) filter (answered_ms = {n}) from answered_event_0")
        assert found.fetchone() == (3 * n, 3 * n)
    connection.close()


@pytest.mark.parametrize("apart", [1, 1 << 36])
def test_any_range_of_times_and_offsets_is_in_order(connection, apart: int) -> None:
    """Far apart, places need more than 64 bits; an origin that was never published is at the end of the order."""
    events = events_of([(0, i * apart, 1000 + i * apart, None) for i in range(4)])
    touches = touches_of([(0, i * apart, "w") for i in range(4)])
    answered = [(1 + i * apart + 1010, 1000 + i * apart, 0, i * apart, "w") for i in (0, 2)]
    beyond = (5000 + 4 * apart, 1000 + 9 * apart, 0, 9 * apart, "w")
    found = latencies(connection, events, [Answer(outputs_of([*answered, beyond]), PER_KEY, touches)])
    first, third, last = 1000, 1000 + 2 * apart, 5000 + 4 * apart
    waited = [11, third + 11 - (first + apart), 11, last - (first + 3 * apart)]
    assert samples_of(found, "event") == [(first + i * apart, waited[i]) for i in range(4)]


def test_the_counts_of_a_long_trial_have_no_more_slots_than_is_stated(connection) -> None:
    """Two days at one event a minute: every event in the counts, in slots of 48 s."""
    minutes = 2 * 24 * 60
    events = events_of([(0, i, 60_000 * i, None) for i in range(minutes)])
    outputs = outputs_of([(60_000 * i + 7, 60_000 * i, 0, i, "w") for i in range(minutes)])
    found = latencies(connection, events, [Answer(outputs, PER_EVENT)], max_samples=0)
    mine = [r for r in found.counts.to_pylist() if r["kind"] == "event"]
    assert sum(r["count"] for r in mine) == minutes
    assert {r["second"] % 48 for r in mine} == {0}
    assert max(r["second"] for r in mine) // 48 < MOST_SLOTS
    assert (mine[0]["second"], mine[1]["second"], mine[-1]["second"]) == (0, 48, (minutes - 1) * 60 // 48 * 48)


def test_an_event_is_answered_by_the_first_output_of_its_key_that_includes_it(connection) -> None:
    events = events_of([(0, 0, 1000, None), (1, 0, 1001, None), (0, 1, 1002, None), (1, 1, 1003, None)])
    touches = touches_of([(0, 0, "a"), (1, 0, "a"), (0, 1, "b"), (1, 1, "a")])
    outputs = outputs_of([(1100, 1001, 1, 0, "a"), (1150, 1002, 0, 1, "b"), (1200, 1003, 1, 1, "a")])
    found = latencies(connection, events, [Answer(outputs, PER_KEY, touches)])
    assert samples_of(found, "event") == [(1000, 100), (1001, 99), (1002, 148), (1003, 197)]


def test_events_of_one_millisecond_are_told_apart_by_offset_and_partition(connection) -> None:
    events = events_of([(0, 0, 1000, None), (0, 1, 1000, None), (1, 0, 1000, None)])
    touches = touches_of([(0, 0, "a"), (0, 1, "a"), (1, 0, "a")])
    outputs = outputs_of([(1010, 1000, 0, 0, "a"), (1020, 1000, 1, 0, "a"), (1030, 1000, 0, 1, "a")])
    found = latencies(connection, events, [Answer(outputs, PER_KEY, touches)])
    assert samples_of(found, "event") == [(1000, 10), (1000, 20), (1000, 30)]


def test_an_event_counts_once_for_each_key_that_it_touches(connection) -> None:
    events = events_of([(0, 0, 1000, None)])
    touches = touches_of([(0, 0, "a"), (0, 0, "b"), (0, 0, "a")])
    outputs = outputs_of([(1005, 1000, 0, 0, "a"), (1009, 1000, 0, 0, "b")])
    assert samples_of(latencies(connection, events, [Answer(outputs, PER_KEY, touches)]), "event") == [
        (1000, 5),
        (1000, 9),
    ]


def test_outputs_of_two_leaves_are_measured_together(connection) -> None:
    events = events_of([(0, 0, 1000, None)])
    answers = [Answer(outputs_of([(at, 1000, 0, 0, "a")]), PER_EVENT) for at in (1001, 1007)]
    assert samples_of(latencies(connection, events, answers), "event") == [(1000, 1), (1000, 7)]


def test_a_window_without_events_is_an_error(connection) -> None:
    with pytest.raises(UserError, match="no event is left to measure"):
        measured_window(connection, [events_of([(0, 0, 1000, None)])], 1)


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_latency_per_key_is_what_the_definition_says(shared_connection, data) -> None:
    count = data.draw(st.integers(1, 12))
    at = sorted(data.draw(st.lists(st.integers(1000, 1010), min_size=count, max_size=count)))
    placed = data.draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))
    rows, keys, next_offset = [], [], [0, 0]
    for append_ms, partition in zip(at, placed, strict=True):
        rows.append((partition, next_offset[partition], append_ms, None))
        next_offset[partition] += 1
        keys.append(data.draw(st.sampled_from(["a", "b", None])))
    origins = data.draw(st.lists(st.integers(0, count - 1), max_size=12))
    written = sorted(data.draw(st.lists(st.integers(1011, 1040), min_size=len(origins), max_size=len(origins))))
    outputs = [(w, rows[o][2], rows[o][0], rows[o][1], keys[o]) for w, o in zip(written, origins, strict=True)]
    wanted = []
    for (partition, offset, append_ms, _), key in zip(rows, keys, strict=True):
        including = [w for w, a, p, o, k in outputs if k == key and (a, o, p) >= (append_ms, offset, partition)]
        if including:
            wanted.append((append_ms, min(including) - append_ms))
    touches = touches_of([(row[0], row[1], key) for row, key in zip(rows, keys, strict=True)])
    found = latencies(shared_connection, events_of(rows), [Answer(outputs_of(outputs), PER_KEY, touches)])
    assert samples_of(found, "event") == sorted(wanted)
