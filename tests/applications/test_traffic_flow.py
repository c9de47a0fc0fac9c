"""Traffic flow: pairs of both topics, their sums per second, and how these change, with both kinds of windows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

from streamgauge.applications import traffic_flow
from streamgauge.applications.stateful import ORIGIN_COLUMNS
from streamgauge.applications.traffic_state import KEPT_SECONDS, running_sums, seconds_changed
from streamgauge.model.errors import UserError


def _minute(number: int) -> datetime:
    return datetime(2017, 3, 15, 14, number, tzinfo=UTC)


COUNTS = [
    (0, 0, 10_100, "A", "lane1", _minute(0), 360),
    (0, 1, 10_200, "A", "lane2", _minute(0), 600),
    (0, 2, 11_050, "A", "lane1", _minute(1), 480),
    (1, 0, 10_150, "B", "lane1", _minute(0), 900),
    (0, 3, 12_000, "A", "lane1", _minute(2), 240),
]
SPEEDS = [
    (2, 0, 10_100, "A", "lane1", _minute(0), 100.0),
    (2, 1, 10_950, "A", "lane2", _minute(0), 80.5),
    (2, 2, 10_990, "A", "lane1", _minute(1), 90.25),
    (3, 0, 10_160, "C", "lane1", _minute(0), 70.0),
    (2, 3, 12_700, "A", "lane1", _minute(2), 45.13),
]
"""B has no speed, C no flow; the first pair is a tie, the third is complete when its flow has come."""

PAIRS = [
    ("A", "lane1", 0, 360, 100.0, (10_100, 2, 0, 0)),
    ("A", "lane1", 1, 480, 90.25, (11_050, 0, 2, 0)),
    ("A", "lane1", 2, 240, 45.13, (12_700, 2, 3, 0)),
    ("A", "lane2", 0, 600, 80.5, (10_950, 2, 1, 0)),
]
SECONDS = [("A", 10, 960, 2, 90.25), ("A", 11, 480, 1, 90.25), ("A", 12, 240, 1, 45.13)]
SLOWER = (45.13 - 90.25) / 90.25
CHANGES = [
    ("A", 10, 960, 90.25, None, None, None, None),
    ("A", 11, 480, 90.25, -0.5, None, 0.0, None),
    ("A", 12, 240, 45.13, -0.5, -0.75, SLOWER, SLOWER),
]
ANSWER = ("measurement_id", "second", "flow", "mean_speed", *traffic_flow.CHANGES)


@pytest.fixture
def frames(spark, origin_type):
    """Both topics as the frames that the first stage is given."""

    def build(rows: list[tuple[Any, ...]], value: str) -> Any:
        made = [(f"raw {r[0]}-{r[1]}", *r[3:], (r[2], r[0], r[1], 0)) for r in rows]
        columns = f"raw string, measurement_id string, lane string, observed_at timestamp, {value}, {origin_type}"
        return spark.createDataFrame(made, columns)

    return build(COUNTS, "flow bigint"), build(SPEEDS, "speed double")


@pytest.fixture
def events(literal_events):
    """Both topics as an oracle sees them."""
    place = "measurement_id varchar, lane varchar, observed_at timestamp"
    for name, rows, value in (("counts", COUNTS, "flow bigint"), ("speeds", SPEEDS, "speed double")):
        made = [(*r[:3], f"raw {r[0]}-{r[1]}", *r[3:5], r[5].replace(tzinfo=None), r[6]) for r in rows]
        literal_events.add(name, f"{place}, {value}", made)
    return literal_events


def _parsed(frames, scale: int = 1):
    return traffic_flow.parse(traffic_flow.ingest(*frames, spatial_scale=scale))


def _sums(frames, variant: str):
    return traffic_flow.tumbling.using_variant(variant)(traffic_flow.join(_parsed(frames)))


@pytest.mark.spark
def test_ingest_hands_on_every_payload(frames, rows_of):
    found = rows_of(traffic_flow.ingest(*frames, spatial_scale=1), "origin.partition", "origin.offset", "payload")
    assert found == sorted((r[0], r[1], f"raw {r[0]}-{r[1]}") for r in COUNTS + SPEEDS)


@pytest.mark.spark
def test_a_scaled_point_has_copies_with_names_and_record_ids_of_their_own(frames, rows_of):
    parsed = _parsed(frames, 3).filter("origin.partition = 1")
    assert rows_of(parsed, "measurement_id", "flow", "origin") == [
        ("1/B", 900, (10_150, 1, 0, 1)),
        ("2/B", 900, (10_150, 1, 0, 2)),
        ("B", 900, (10_150, 1, 0, 0)),
    ]
    joined = traffic_flow.join(_parsed(frames, 2)).filter("lane = 'lane2'")
    assert rows_of(joined, "measurement_id", "origin") == [("1/A", (10_950, 2, 1, 1)), ("A", (10_950, 2, 1, 0))]


@pytest.mark.spark
def test_parse_gives_the_fields_of_both_kinds(frames, rows_of):
    found = rows_of(_parsed(frames).filter("measurement_id in ('B', 'C')"), "measurement_id", "lane", "flow", "speed")
    assert found == [("B", "lane1", 900, None), ("C", "lane1", None, 70.0)]


@pytest.mark.spark
def test_join_gives_each_complete_pair_with_the_later_ones_origin(frames, rows_of):
    joined = traffic_flow.join(_parsed(frames))
    minute = "minute(observed_at) as minute"
    assert (
        rows_of(joined.selectExpr("*", minute), "measurement_id", "lane", "minute", "flow", "speed", "origin") == PAIRS
    )


@pytest.mark.spark
def test_a_pair_is_told_once_whether_its_sides_come_in_one_batch_or_in_two(spark, origin_type, tmp_path):
    columns = f"measurement_id string, lane string, observed_at timestamp, flow bigint, speed double, {origin_type}"
    batches = [
        [("A", "lane1", _minute(0), 1, None, (1, 0, 0, 0)), ("A", "lane1", _minute(0), None, 2.0, (1, 2, 0, 0))],
        [("A", "lane2", _minute(0), 3, None, (2, 0, 1, 0))],
        [("A", "lane2", _minute(0), None, 4.0, (3, 2, 1, 0)), ("B", "lane1", _minute(0), None, 5.0, (3, 3, 0, 0))],
    ]
    seen: list[list[tuple[Any, ...]]] = []
    for number, rows in enumerate(batches):
        spark.createDataFrame(rows, columns).coalesce(1).write.mode("append").parquet(str(tmp_path / "in"))
        parsed = spark.readStream.schema(columns).parquet(str(tmp_path / "in"))
        query = (
            traffic_flow.join(parsed)
            .writeStream.outputMode("update")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .foreachBatch(lambda batch, _: seen.append([(r.lane, r.flow, r.speed) for r in batch.collect()]))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120), number
    assert [row for batch in seen for row in batch] == [("lane1", 1, 2.0), ("lane2", 3, 4.0)]


@pytest.mark.spark
@pytest.mark.parametrize("variant", ["default", "built-in", "customised-aggregate"])
def test_tumbling_adds_up_the_lanes_of_each_second(frames, rows_of, variant):
    found = rows_of(_sums(frames, variant), "measurement_id", "second", "flow", "lanes", "mean_speed", "origin")
    latest = [(10_950, 2, 1, 0), (11_050, 0, 2, 0), (12_700, 2, 3, 0)]
    assert found == [(*second, origin) for second, origin in zip(SECONDS, latest, strict=True)]


@pytest.mark.spark
def test_customised_tumbling_answers_every_pair(frames, rows_of):
    found = rows_of(_sums(frames, "customised"), "measurement_id", "second", "flow", "lanes", "mean_speed", "origin")
    assert found == [
        ("A", 10, 360, 1, 100.0, (10_100, 2, 0, 0)),
        (*SECONDS[0], (10_950, 2, 1, 0)),
        (*SECONDS[1], (11_050, 0, 2, 0)),
        (*SECONDS[2], (12_700, 2, 3, 0)),
    ]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("before", "variant"),
    [
        ("built-in", "default"),
        ("built-in", "built-in"),
        ("customised", "customised"),
        ("customised-aggregate", "customised-aggregate"),
    ],
)
def test_sliding_compares_a_second_with_the_two_before_it(frames, rows_of, before, variant):
    changes = traffic_flow.sliding.using_variant(variant)(_sums(frames, before))
    assert rows_of(changes, *ANSWER) == CHANGES
    assert rows_of(changes, "second", "origin") == [
        (10, (10_950, 2, 1, 0)),
        (11, (11_050, 0, 2, 0)),
        (12, (12_700, 2, 3, 0)),
    ]


@pytest.mark.spark
@pytest.mark.parametrize("variant", ["built-in", "customised", "customised-aggregate"])
def test_there_is_no_change_against_nothing_and_against_zero(spark, origin_type, rows_of, variant):
    columns = f"measurement_id string, second bigint, flow bigint, lanes bigint, speed_sum bigint, {origin_type}"
    rows = [
        ("A", 1, 0, 1, 0, (1000, 0, 0, 0)),
        ("A", 2, 60, 1, 5000, (2000, 0, 1, 0)),
        ("A", 9, 60, 1, 5000, (9000, 0, 2, 0)),
    ]
    changes = traffic_flow.sliding.using_variant(variant)(spark.createDataFrame(rows, columns))
    nothing = (None, None, None, None)
    assert rows_of(changes, *ANSWER) == [
        ("A", 1, 0, 0.0, *nothing),
        ("A", 2, 60, 50.0, *nothing),
        ("A", 9, 60, 50.0, *nothing),
    ]


def _rows(columns: list[str], *rows: tuple[Any, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[*columns, *ORIGIN_COLUMNS])


def test_customised_sums_go_on_from_batch_to_batch_and_old_seconds_are_forgotten():
    columns = ["measurement_id", "flow", "speed"]
    state, made = running_sums(None, _rows(columns, ("A", 60, 50.0, 1000, 0, 0, 0), ("B", 60, 10.0, 1001, 1, 0, 0)))
    assert made[["measurement_id", "flow", "lanes", "mean_speed"]].to_numpy().tolist() == [
        ["A", 60, 1, 50.0],
        ["B", 60, 1, 10.0],
    ]
    state, made = running_sums(state, _rows(columns, ("A", 120, 60.0, 1500, 0, 1, 0), ("A", 1, 0.0, 2000, 0, 2, 0)))
    assert made[["second", "flow", "lanes", "mean_speed"]].to_numpy().tolist() == [[1, 180, 2, 55.0], [2, 1, 1, 0.0]]
    much_later = 1000 * (1 + KEPT_SECONDS)
    state, _ = running_sums(state, _rows(columns, ("A", 5, 0.0, much_later, 0, 3, 0)))
    _, made = running_sums(state, _rows(columns, ("A", 7, 0.0, 1900, 0, 4, 0), ("B", 7, 0.0, 1900, 1, 1, 0)))
    assert made[["measurement_id", "flow"]].to_numpy().tolist() == [["A", 7], ["B", 67]]


def test_customised_changes_are_told_again_when_an_earlier_second_grows():
    columns = ["measurement_id", "second", "flow", "lanes", "speed_sum"]
    first = _rows(columns, ("A", 1, 100, 1, 5000, 1000, 0, 0, 0), ("A", 2, 150, 1, 5000, 2000, 0, 1, 0))
    state, made = seconds_changed(None, first)
    answer = ["second", "flow", "flow_change_2s", "origin_offset"]
    assert made[answer].sort_values("second").fillna(-9).to_numpy().tolist() == [[1, 100, -9, 0], [2, 150, 0.5, 1]]
    grown = _rows(columns, ("A", 1, 200, 2, 9000, 1100, 0, 5, 0))
    state, made = seconds_changed(state, grown)
    assert made[answer].sort_values("second").fillna(-9).to_numpy().tolist() == [[1, 200, -9, 5], [2, 150, -0.25, 1]]
    _, made = seconds_changed(state, first)
    assert made.empty


def test_the_oracles_of_ingest_and_parse_expect_every_event(events, rows_of):
    raw = traffic_flow.payload_of_every_event(events, spatial_scale=1).rows
    assert rows_of(raw, "partition", '"offset"', "payload") == sorted(
        (r[0], r[1], f"raw {r[0]}-{r[1]}") for r in COUNTS + SPEEDS
    )
    fields = traffic_flow.fields_of_every_event(events, spatial_scale=2).rows.filter("partition in (1, 3)")
    assert rows_of(fields, "partition", '"offset"', "measurement_id", "lane", "flow", "speed") == [
        (1, 0, "1/B", "lane1", 900, None),
        (1, 0, "B", "lane1", 900, None),
        (3, 0, "1/C", "lane1", None, 70.0),
        (3, 0, "C", "lane1", None, 70.0),
    ]


def test_the_oracle_of_join_expects_pairs_at_the_later_event(events, rows_of):
    found = traffic_flow.pairs_of_both_topics(events, spatial_scale=1).rows.project("*, minute(observed_at) as minute")
    assert rows_of(found, "measurement_id", "lane", "minute", "flow", "speed", "partition", '"offset"') == [
        (*pair[:5], pair[5][1], pair[5][2]) for pair in PAIRS
    ]


def test_the_oracle_of_tumbling_expects_the_sums_of_each_second(events, rows_of):
    expected = traffic_flow.sums_per_second(events, spatial_scale=1)
    assert rows_of(expected.rows, "measurement_id", "second", "flow", "lanes", "mean_speed") == SECONDS
    assert rows_of(expected.touches, "partition", '"offset"', "measurement_id", "second") == [
        (0, 2, "A", 11),
        (2, 0, "A", 10),
        (2, 1, "A", 10),
        (2, 3, "A", 12),
    ]


def test_the_oracle_of_sliding_expects_the_changes(events, rows_of):
    assert rows_of(traffic_flow.changes_per_second(events, spatial_scale=1).rows, *ANSWER) == CHANGES
    scaled = traffic_flow.changes_per_second(events, spatial_scale=2)
    assert rows_of(scaled.rows, *ANSWER) == [("1/A", *row[1:]) for row in CHANGES] + CHANGES
    assert len(scaled.touches.fetchall()) == 8


def test_it_can_stop_after_any_stage():
    for stage, cuts in {
        "ingest": (),
        "parse": (),
        "join": (),
        "tumbling": ("join",),
        "sliding": ("join", "tumbling"),
    }.items():
        cut = traffic_flow.APPLICATION.stopped_after(stage)
        assert [o.stage for o in cut.leaf_outputs()] == [stage]
        assert cut.cuts == cuts


def test_a_scale_that_makes_no_sense_is_refused():
    assert traffic_flow.APPLICATION.bind({"spatial_scale": "4"})["spatial_scale"] == 4
    for text in ("0", "-1", "many", "10001"):
        with pytest.raises(UserError, match="spatial_scale"):
            traffic_flow.APPLICATION.bind({"spatial_scale": text})
