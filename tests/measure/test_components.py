"""Latency components: literal timelines worked by hand, and recorded trials whose components add up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge.measure.answering import Answer, Answered, answering
from streamgauge.measure.batches import batches_of, endless_batch
from streamgauge.measure.components import measure_components
from streamgauge.measure.figures import COMPONENTS
from streamgauge.measure.window import Window, attach_inputs, measured_window
from streamgauge.model import PerEvent
from tests.measure.small_trial import events_of, outputs_of

RECORDED = Path(__file__).parent / "recorded"
MIDNIGHT_MS = 1_767_225_600_000
AT_MIDNIGHT = "2026-01-01T00:00:"


def progress(batch: int, second: str, start: int | None, end: int, **durations: int) -> dict[str, Any]:
    """A batch of query `out` over one partition of topic `in`."""
    took = {"triggerExecution": sum(durations.values()), **durations}
    source = {"startOffset": None if start is None else {"in": {"0": start}}, "endOffset": {"in": {"0": end}}}
    told = {"name": "out", "batchId": batch, "timestamp": f"{AT_MIDNIGHT}{second}Z", "durationMs": took}
    return {**told, "sources": [source], "stateOperators": []}


def components(connection, events, outputs, batches, round_trip_ms=2.0, warmup=0, flowing=False):
    answer = Answer(outputs, PerEvent(("word",)), stage="out")
    window = measured_window(connection, [events], warmup)
    with answering(connection, [events], [answer]) as answered:
        return measure_components(connection, answered, batches, window, round_trip_ms, flowing=flowing)


def at(ms: int) -> int:
    return MIDNIGHT_MS + ms


def test_micro_batches_by_hand(connection) -> None:
    """Two batches; the first left the last of three events behind, as a limit on offsets would."""
    told = [
        progress(0, "01.000", None, 2, latestOffset=10, walCommit=20, getBatch=0, queryPlanning=30, addBatch=100),
        progress(1, "01.200", 2, 3, latestOffset=5, walCommit=20, queryPlanning=25, addBatch=80, commitOffsets=40),
    ]
    events = events_of([(0, 0, at(900), None), (0, 1, at(1000), None), (0, 2, at(1005), None)])
    outputs = outputs_of(
        [(at(1120), at(900), 0, 0, "a"), (at(1140), at(1000), 0, 1, "b"), (at(1310), at(1005), 0, 2, "c")]
    )
    batches = batches_of(told, {"in": 0}, at(950), flowing=False)
    found = components(connection, events, outputs, batches)
    # Cut at 1010 and 1205, computed from 1060 and 1250 on; the job started at 950.
    assert found.outside == pytest.approx((50 + 0 + 5) / 3)
    assert found.batch_wait == pytest.approx((60 + 10 + 195) / 3)
    assert found.scheduling == pytest.approx((50 + 50 + 45) / 3)
    assert found.processing == pytest.approx((70 * 2 + 60) / 3 - 2)
    assert found.transmission == 2
    assert found.latency == pytest.approx((220 + 140 + 305) / 3)
    assert found.adds_up and found.sum == pytest.approx(found.latency)


def test_real_time_waits_only_between_batches_by_hand(connection) -> None:
    """Three events: one in a batch, one while that committed its state, one while the next was planned."""
    told = [
        progress(0, "01.000", None, 1, latestOffset=10, queryPlanning=40, addBatch=5000, commitOffsets=50),
        progress(1, "06.110", 1, 3, latestOffset=10, queryPlanning=40, addBatch=5000, commitOffsets=50),
    ]
    told[0]["stateOperators"] = [{"commitTimeMs": 200, "numShufflePartitions": 2}]
    events = events_of([(0, 0, at(3000), None), (0, 1, at(5980), None), (0, 2, at(6140), None)])
    outputs = outputs_of(
        [(at(3006), at(3000), 0, 0, "a"), (at(6166), at(5980), 0, 1, "b"), (at(6166), at(6140), 0, 2, "c")]
    )
    batches = batches_of(told, {"in": 0}, at(900), flowing=True)
    found = components(connection, events, outputs, batches, flowing=True)
    # The first stopped reading at 1050 + 5000 − 100 = 5950; the second began at 6110 and computed from 6160 on.
    assert (found.outside, found.batch_wait) == (0, pytest.approx(130 / 3))
    assert found.scheduling == pytest.approx((50 + 20) / 3)
    assert found.processing == pytest.approx(6 - 2)
    assert found.sum == pytest.approx(found.latency) == pytest.approx((6 + 186 + 26) / 3)


def test_a_query_that_is_behind_shows_in_its_fastest_output(connection) -> None:
    """In the second second even the fastest event took 405 ms longer than the fastest of all."""
    rows = [(0, i, at(1000 * (i // 4) + 10 * (i % 4)), None) for i in range(8)]
    took = [5, 6, 7, 90, 410, 430, 450, 470]
    outputs = outputs_of([(a + t, a, p, o, "w") for (p, o, a, _), t in zip(rows, took, strict=True)])
    batches = endless_batch("out", [0], at(0))
    found = components(connection, events_of(rows), outputs, batches, flowing=True)
    assert found.outside == pytest.approx((410 - 5 - 5) / 2)
    assert (found.batch_wait, found.scheduling) == (0, 0)
    assert found.processing == pytest.approx(sum(took) / 8 - 200 - 2)


def test_the_round_trip_is_never_more_than_what_there_is(connection) -> None:
    events = events_of([(0, 0, at(1000), None)])
    found = components(
        connection, events, outputs_of([(at(1001), at(1000), 0, 0, "a")]), endless_batch("out", [0], at(0)), 40.0
    )
    assert (found.transmission, found.processing) == (1, 0)


def test_nothing_is_said_where_batches_are_missing(connection) -> None:
    events = events_of([(0, i, at(1000 + i), None) for i in range(10)])
    outputs = outputs_of([(at(1500), at(1000 + i), 0, i, "w") for i in range(10)])
    for known, said in ((8, False), (9, True)):
        told = [progress(0, "01.020", None, known, latestOffset=0, addBatch=400)]
        found = components(connection, events, outputs, batches_of(told, {"in": 0}, at(0), flowing=False))
        assert (found is not None) == said
    empty = batches_of([{"name": "out", "batchId": 0, "durationMs": {"commitOffsets": 3}}], {"in": 0}, 0, flowing=True)
    assert len(empty) == 0


def test_partitions_of_several_inputs_are_numbered_on(connection) -> None:
    source = {"startOffset": None, "endOffset": {"second": {"0": 4, "1": 0}}}
    told = [{**progress(0, "01.000", None, 3, latestOffset=1, addBatch=9)}]
    told[0]["sources"].append(source)
    rows = batches_of(told, {"in": 0, "second": 2}, 0, flowing=False).to_pylist()
    assert [(r["partition"], r["start_offset"], r["end_offset"]) for r in rows] == [(0, 0, 3), (2, 0, 4)]


def recorded(connection, name: str, round_trip_ms: float, flowing: bool):
    """Components of a recorded slice, and the progress that they were taken from."""
    told = [json.loads(line) for line in (RECORDED / name / "progress.jsonl").read_text().splitlines()]
    samples = pq.read_table(RECORDED / name / "samples.parquet").to_pylist()
    events = {(s["partition"], s["offset"]): s["at_ms"] for s in samples}
    placed = sorted(events, key=lambda place: (events[place], place))
    index = {place: number for number, place in enumerate(placed)}
    attach_inputs(connection, [events_of([(p, o, events[p, o], None) for p, o in placed])])
    answered = [
        {
            "index": index[s["partition"], s["offset"]],
            "partition": s["partition"],
            "offset": s["offset"],
            "append_ms": s["at_ms"],
            "answered_ms": s["at_ms"] + s["latency_ms"],
        }
        for s in samples
        if s["kind"] == "event"
    ]
    written = [
        (s["at_ms"] + s["latency_ms"], s["at_ms"], s["partition"], s["offset"], "w")
        for s in samples
        if s["kind"] == "output"
    ]
    connection.register("recorded_events", pa.Table.from_pylist(answered))
    connection.register("recorded_outputs", outputs_of(written))
    (topic,) = told[0]["sources"][0]["endOffset"]
    batches = batches_of(told, {topic: 0}, 0, flowing=flowing)
    window = Window(0, len(placed) - 1, len(placed), 1, min(events.values()), max(events.values()))
    answer = Answered(Answer(None, PerEvent(("word",)), stage="count"), "recorded_outputs", "recorded_events")
    return measure_components(connection, [answer], batches, window, round_trip_ms, flowing=flowing), told


def test_components_of_a_recorded_micro_batch_trial_add_up(connection) -> None:
    found, told = recorded(connection, "microbatch", 2.168, flowing=False)
    assert found.latency == pytest.approx(779.5, abs=0.1)
    assert abs(found.sum - found.latency) <= 0.1 * found.latency
    assert found.outside == pytest.approx(0, abs=0.5)
    # An event comes somewhere in the time that a batch gathers: half of it on the mean.
    gathering = [p["durationMs"]["triggerExecution"] for p in told]
    assert found.batch_wait == pytest.approx(sum(gathering) / len(gathering) / 2, rel=0.2)
    planned = [sum(p["durationMs"][n] for n in ("walCommit", "getBatch", "queryPlanning")) for p in told]
    assert min(planned) <= found.scheduling <= max(planned) + 10
    added = [p["durationMs"]["addBatch"] for p in told]
    assert 0.3 * min(added) < found.processing + found.transmission < max(added)


def test_components_of_a_recorded_real_time_trial_add_up(connection) -> None:
    found, _ = recorded(connection, "realtime", 1.939, flowing=True)
    assert abs(found.sum - found.latency) <= 0.1 * found.latency
    assert found.covered == 1
    # One end of a batch in four seconds: some events wait for it, no event queues.
    assert found.batch_wait > 1 and found.scheduling > 1
    assert found.outside < 2
    assert found.processing + found.transmission < 0.8 * found.latency


@pytest.mark.parametrize(("name", "flowing"), [("microbatch", False), ("realtime", True)])
def test_a_clock_that_is_off_is_found_out(connection, name: str, flowing: bool) -> None:
    """Batches said to begin 900 ms later than they did: waits grow by as much, and the sum no longer is the latency."""
    right, _ = recorded(connection, name, 2.0, flowing)
    assert right.adds_up
    answer = Answered(Answer(None, PerEvent(("word",)), stage="count"), "recorded_outputs", "recorded_events")
    told = [json.loads(line) for line in (RECORDED / name / "progress.jsonl").read_text().splitlines()]
    (topic,) = told[0]["sources"][0]["endOffset"]
    late = batches_of(told, {topic: 0}, 0, flowing=flowing).to_pylist()
    moved = [{**row, "opened_ms": row["opened_ms"] + 900, "adding_ms": row["adding_ms"] + 900} for row in late]
    window = measured_window(connection, [connection.sql("select * from input_event").to_arrow_table()], 0)
    wrong = measure_components(connection, [answer], pa.Table.from_pylist(moved), window, 2.0, flowing=flowing)
    assert not wrong.adds_up


def test_the_words_are_in_the_order_in_which_an_event_meets_them() -> None:
    assert COMPONENTS == ("outside", "batch_wait", "scheduling", "processing", "transmission")
