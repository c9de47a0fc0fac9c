"""Threat detection: a network small enough to work out by hand, and the kept one against labels it has not seen."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from streamgauge.applications import threat_detection
from streamgauge.streams.network_flows import STREAM
from streamgauge.streams.tables import threat_model
from streamgauge.streams.tables.threat_model import CLASSES, FEATURES, FIELDS_READ, Network, features_of

TEXTS = ("protocol_type", "service", "flag")
PLACE = {(feature.field, feature.text): number for number, feature in enumerate(FEATURES)}


def _connection(**given):
    values = dict.fromkeys(FIELDS_READ, 0) | dict.fromkeys(TEXTS, "other") | given
    return {name: float(value) if name.endswith("_rate") else value for name, value in values.items()}


CONNECTIONS = [
    (0, 0, 1000, _connection(count=700, flag="S0"), "neptune"),
    (0, 1, 1001, _connection(count=1, serror_rate=0.29), "normal"),
    (0, 2, 1002, _connection(src_bytes=16, serror_rate=0.28), "normal"),
    (1, 0, 1003, _connection(src_bytes=15, flag="S0"), "guess_passwd"),
    (1, 1, 1004, _connection(flag="S1"), "normal"),
]


@pytest.fixture
def small(monkeypatch):
    """Three hidden units that read one or two features each, and outputs that weigh them.

    unit 0 = max(0, count + flag is S0 − 500); unit 1 = max(0, 2 · serror percent − 57);
    unit 2 = max(0, level of src_bytes − 23).
    dos = unit 0, probe = 3 · unit 1, r2l = 3 · unit 1 + unit 2 − 1, u2r = −1, normal = 5 · unit 2.
    """
    hidden = np.zeros((3, len(FEATURES)), np.int64)
    hidden[0, PLACE["count", ""]], hidden[0, PLACE["flag", "S0"]] = 1, 1
    hidden[1, PLACE["serror_rate", ""]] = 2
    hidden[2, PLACE["src_bytes", ""]] = 1
    output = np.array([[0, 0, 5], [1, 0, 0], [0, 3, 0], [0, 3, 1], [0, 0, 0]])
    network = Network(hidden, np.array([-500, -57, -23]), output, np.array([0, 0, 0, -1, -1]))
    monkeypatch.setattr(threat_detection, "kept_network", lambda: network)
    return network


THREATS = [(0, 0, "dos", 111), (0, 1, "probe", 3)]
"""700 connections are capped at 511, and 511 + 100 − 500 = 111. 2 · 29 − 57 = 1, and probe = 3 beats r2l = 2.

Of 16 bytes the level is 3 (1, 4 and 16), so 24 and normal = 5; 2 · 28 − 57 is below 0. Of 15 bytes it is 16.
In the other two all outputs but the last two are 0: the first of equal ones, normal, wins.
"""


@pytest.mark.spark
@pytest.mark.parametrize("variant", ["default", "expressions"])
def test_connections_of_a_small_network(spark, origin_type, rows_of, small, variant):
    types = ", ".join(
        f"{f.name} {'string' if f.name in TEXTS else f.type.value}" for f in STREAM.fields if f.name != "label"
    )
    rows = [
        (*[c[f.name] for f in STREAM.fields if f.name != "label"], (append_ms, partition, offset, 0))
        for partition, offset, append_ms, c, _ in CONNECTIONS
    ]
    frame = spark.createDataFrame(rows, f"{types.replace('long', 'bigint')}, {origin_type}")
    found = threat_detection.detect.using_variant(variant)(frame)
    assert rows_of(found, "origin.partition", "origin.offset", "class", "margin") == THREATS


def test_the_oracle_of_a_small_network(literal_events, rows_of, small):
    kinds = {"long": "bigint", "double": "double", "string": "varchar"}
    columns = ", ".join(f'"{f.name}" {kinds[f.type.value]}' for f in STREAM.fields)
    rows = [
        (partition, offset, append_ms, "", *[{**c, "label": label}[f.name] for f in STREAM.fields])
        for partition, offset, append_ms, c, label in CONNECTIONS
    ]
    literal_events.add("connections", columns, rows)
    expected = threat_detection.threats_of_the_network(literal_events)
    assert rows_of(expected.rows, "partition", '"offset"', "class", "margin") == THREATS
    assert expected.quality == {"precision": 0.5, "recall": 0.5}


def test_features_are_whole_numbers_of_their_kind():
    values = _connection(
        duration=0, src_bytes=1, dst_bytes=4**11, hot=101, logged_in=1, count=511, serror_rate=0.07, diff_srv_rate=1.0,
        protocol_type="icmp", service="http", flag="REJ",
    )  # fmt: skip
    table = pa.table({name: [value] for name, value in values.items()})
    found = {key: int(value) for key, value in zip(PLACE, features_of(table)[0], strict=True) if value}
    assert found == {
        ("src_bytes", ""): 8,
        ("dst_bytes", ""): 96,
        ("hot", ""): 100,
        ("logged_in", ""): 1,
        ("count", ""): 511,
        ("serror_rate", ""): 7,
        ("diff_srv_rate", ""): 100,
        ("protocol_type", "icmp"): 100,
        ("service", "http"): 100,
        ("flag", "REJ"): 100,
    }


@pytest.mark.parametrize("seed", [1, 2, 77])
def test_the_kept_network_knows_connections_it_has_not_learned_from(seed):
    assert seed != threat_model.SEED
    quality = threat_model.quality_of(threat_model.kept_network(), STREAM.synthetic(seed).block(0, 20_000))
    assert quality["precision"] > 0.98 and quality["recall"] > 0.98 and quality["right_class"] > 0.98


def test_the_kept_network_stays_exact_in_doubles():
    network = threat_model.kept_network()
    most = np.array([f.cap or max(100, 8 * 12) for f in FEATURES])
    units = np.abs(network.hidden) @ most + np.abs(network.hidden_bias)
    assert int(np.max(np.abs(network.output) @ units + np.abs(network.output_bias))) < 2**53
    assert network.hidden.shape == (threat_model.HIDDEN_UNITS, len(FEATURES))
    assert network.output.shape == (len(CLASSES), threat_model.HIDDEN_UNITS)


def test_training_makes_a_network_that_detects(tmp_path, monkeypatch):
    pytest.importorskip("sklearn", reason="scikit-learn is needed to train, not to run")
    to = tmp_path / "small.json"
    monkeypatch.setattr("sys.argv", ["threat_model", "--seed", "9", "--connections", "8000", "--to", str(to)])
    threat_model._main()
    network = Network(**{name: np.array(rows) for name, rows in json.loads(to.read_text()).items()})
    quality = threat_model.quality_of(network, STREAM.synthetic(3).block(0, 10_000))
    assert quality["precision"] > 0.9 and quality["recall"] > 0.9


def test_attacks_have_a_class_and_unknown_ones_count_as_threats():
    labels = pa.array(["normal", "neptune", "satan", "warezclient", "buffer_overflow", "something_new"])
    assert threat_model.classes_of(labels).tolist() == [0, 1, 2, 3, 4, 4]
