"""Fraud detection: the mean miss over the last transitions of a card, worked out by hand on a chain of two states."""

from __future__ import annotations

import pytest

from streamgauge.applications import fraud_detection
from streamgauge.applications.fraud_detection import APPLICATION, improbable_windows, predict
from streamgauge.model.errors import UserError
from streamgauge.streams.tables import card_model

MODEL = [("A", "A", 900_000), ("A", "B", 100_000), ("B", "A", 500_000), ("B", "B", 500_000)]
TRANSACTIONS = [
    # partition, offset, card, state, label; misses: A→A 0.1, A→B 0.9, B→A 0.5, from or into Z 1
    (0, 0, "one", "A", 0),
    (0, 1, "two", "B", 0),
    (0, 2, "one", "A", 0),
    (0, 3, "one", "B", 1),
    (0, 4, "two", "Z", 1),
    (0, 5, "one", "A", 1),
    (0, 6, "two", "B", 1),
    (1, 0, "three", "B", 0),
    (1, 1, "three", "B", 1),
    (0, 7, "one", "B", 0),
]
GIVEN = {"window": 3, "threshold": 0.6, "measure": "miss-probability"}


@pytest.fixture
def frames(spark, origin_type):
    rows = [(card, state, (1000 + offset, partition, offset, 0)) for partition, offset, card, state, _ in TRANSACTIONS]
    transactions = spark.createDataFrame(rows, f"card_id string, state string, {origin_type}")
    return transactions, spark.createDataFrame(MODEL, "previous string, state string, probability_ppm bigint")


@pytest.fixture
def events(literal_events):
    rows = [(partition, offset, 1000 + offset, "", *rest) for partition, offset, *rest in TRANSACTIONS]
    literal_events.add("transactions", "card_id varchar, state varchar, fraud bigint", rows)
    literal_events._connection.execute("create table model (previous varchar, state varchar, probability_ppm bigint)")
    literal_events._connection.executemany("insert into model values (?, ?, ?)", MODEL)
    return literal_events


@pytest.mark.spark
def test_the_aggregate_scores_the_last_window_of_each_card(frames, rows_of):
    assert rows_of(predict(*frames, **GIVEN), "card_id", "score_ppm", "states", "origin") == [
        ("one", 700_000, "B,A,B", (1007, 0, 7, 0)),
        ("two", 1_000_000, "B,?,B", (1006, 0, 6, 0)),
    ]


@pytest.mark.spark
def test_in_batches_every_transaction_is_scored(frames, rows_of):
    stateful = predict.using_variant("stateful")
    assert rows_of(stateful(*frames, **GIVEN), "card_id", "score_ppm", "states", "origin") == [
        ("one", 700_000, "A,B,A", (1005, 0, 5, 0)),
        ("one", 700_000, "B,A,B", (1007, 0, 7, 0)),
        ("two", 1_000_000, "B,?,B", (1006, 0, 6, 0)),
    ]


def test_the_oracle_expects_every_improbable_window(events, rows_of):
    expected = improbable_windows(events, **GIVEN)
    assert rows_of(expected.rows, "partition", '"offset"', "card_id", "score_ppm", "states") == [
        (0, 5, "one", 700_000, "A,B,A"),
        (0, 6, "two", 1_000_000, "B,?,B"),
        (0, 7, "one", 700_000, "B,A,B"),
    ]


def test_two_of_three_alarms_and_two_of_five_thefts_are_right(events):
    assert improbable_windows(events, **GIVEN).quality == {"precision": 2 / 3, "recall": 2 / 5}


MISS_RATE = {"window": 3, "threshold": 0.4, "measure": "miss-rate"}
"""After A usually A; after B, of two equally probable states, A: a miss are A→B, B→B and what has Z in it."""


@pytest.mark.spark
@pytest.mark.parametrize("variant", ["default", "stateful"])
def test_the_miss_rate_counts_what_is_not_the_most_probable(variant, frames, rows_of):
    rows = rows_of(predict.using_variant(variant)(*frames, **MISS_RATE), "card_id", "score_ppm", "states")
    final = [("one", 500_000, "B,A,B"), ("two", 1_000_000, "B,?,B")]
    earlier = [("one", 500_000, "A,A,B"), ("one", 500_000, "A,B,A")]
    assert rows == (final if variant == "default" else sorted(earlier + final))


def test_the_oracle_counts_the_miss_rate_too(events, rows_of):
    expected = improbable_windows(events, **MISS_RATE)
    assert rows_of(expected.rows, '"offset"', "score_ppm", "states") == [
        (3, 500_000, "A,A,B"),
        (5, 500_000, "A,B,A"),
        (6, 1_000_000, "B,?,B"),
        (7, 500_000, "B,A,B"),
    ]


def test_without_labels_there_is_no_precision_and_no_recall(events):
    events._connection.execute("update transactions set fraud = null")
    assert improbable_windows(events, **GIVEN).quality == {}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"window": "1"}, "not from 2 to 100"),
        ({"threshold": "0"}, "not above 0"),
        ({"measure": "entropy"}, "unknown measure 'entropy'"),
    ],
)
def test_a_wrong_parameter_is_refused(given, told):
    with pytest.raises(UserError, match=told):
        APPLICATION.bind(given)


def test_training_again_gives_the_kept_model():
    text = card_model.written(card_model.train(card_model.SEED, card_model.TRANSACTIONS))
    assert text == card_model.KEPT_FILE.read_text()
    assert card_model.train(card_model.SEED, 1000).sum(axis=1).tolist() == [card_model.PARTS] * 18


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("A,B\n0.5,0.5\n", "1 rows"),
        ("A,A\n0.5,0.5\n0.5,0.5\n", "1 of them different"),
        ("A,B\n0.5,0.5\n0.5,x\n", "line 3: not a row of numbers"),
        ("A,B\n0.5,0.5\n0.5,0.4\n", "line 3: not 2 probabilities"),
        ("", "is empty"),
    ],
)
def test_a_model_file_that_is_no_chain_is_refused(tmp_path, text, told):
    path = tmp_path / "model.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=told):
        card_model.read(path)


def test_a_model_file_in_the_original_format_is_read(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text("A,B\n0.9,0.1\n0.5,0.5\n")
    assert [tuple(row.values()) for row in card_model.read(path).to_pylist()] == MODEL


def test_the_unknown_state_is_not_one_of_the_models():
    assert fraud_detection.UNKNOWN not in card_model.STATES
