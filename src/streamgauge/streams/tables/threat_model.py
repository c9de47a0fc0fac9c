"""The neural network of threat-detection (LO1): one hidden layer, trained before anything runs, kept as whole numbers.

    python -m streamgauge.streams.tables.threat_model --seed 1000 --connections 120000

generates network-flows of a seed that no trial uses by itself (or, with `--data FILE`, reads rows of KDD'99 or
NSL-KDD), trains scikit-learn's multi-layer perceptron on them and writes its weights to `threat_model.json` beside this
file. scikit-learn is needed for this command only.

Features and weights are whole numbers, so that a score is the same in Spark, in NumPy and in DuckDB to the last digit:

- a feature is a level (how many of the powers of four from 1 on are at most the value, times 8), a capped number, a
  share in whole percent, or 100 where a text is the one that is looked for and else 0: a hundred stands for one;
- hidden unit = max(0, bias + Σ weight · feature), output = bias + Σ weight · hidden unit, with trained weights times
  1024 and rounded; the class is the one with the largest output, of equal ones the first.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.streams.network_flows import NORMAL, STREAM

KEPT_FILE = Path(__file__).with_name("threat_model.json")
SEED, CONNECTIONS = 1000, 120_000
"""What the kept file was made with."""
HIDDEN_UNITS = 12
SCALE = 1024
"""One of a trained weight, as a whole number."""
ONE = 100
"""One of a feature, as a whole number."""
LEVEL_STEP = 8
POWERS_OF_FOUR = tuple(4**power for power in range(12))

CLASSES = (NORMAL, "dos", "probe", "r2l", "u2r")
"""What a connection is taken for: normal, denial of service, probing, access from afar, or access to root."""
ATTACKS = {
    "dos": "neptune smurf teardrop back land pod apache2 mailbomb processtable udpstorm",
    "probe": "portsweep satan ipsweep nmap mscan saint",
    "r2l": "guess_passwd warezclient warezmaster ftp_write imap multihop phf spy sendmail named snmpgetattack "
    "snmpguess xlock xsnoop worm httptunnel",
    "u2r": "buffer_overflow loadmodule perl rootkit ps sqlattack xterm",
}
"""Class → the names of its attacks in KDD'99 and NSL-KDD."""


@dataclass(frozen=True)
class Feature:
    """One input of the network: a field of the stream, and how it becomes a whole number."""

    field: str
    kind: Literal["level", "capped", "percent", "is"]
    cap: int = 0
    text: str = ""


FEATURES = (
    *(Feature(name, "level") for name in ("duration", "src_bytes", "dst_bytes")),
    *(
        Feature(name, "capped", cap)
        for name, cap in {
            "wrong_fragment": 100,
            "hot": 100,
            "num_failed_logins": 100,
            "logged_in": 1,
            "num_compromised": 100,
            "root_shell": 1,
            "num_file_creations": 100,
            "count": 511,
            "srv_count": 511,
            "dst_host_count": 255,
            "dst_host_srv_count": 255,
        }.items()
    ),
    *(
        Feature(name, "percent")
        for name in (
            "serror_rate",
            "rerror_rate",
            "same_srv_rate",
            "diff_srv_rate",
            "dst_host_same_srv_rate",
            "dst_host_serror_rate",
        )
    ),
    *(Feature("protocol_type", "is", text=text) for text in ("udp", "icmp")),
    *(Feature("service", "is", text=text) for text in ("http", "private", "telnet", "ftp_data", "ecr_i")),
    *(Feature("flag", "is", text=text) for text in ("SF", "S0", "REJ")),
)
FIELDS_READ = tuple(dict.fromkeys(feature.field for feature in FEATURES))

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Network:
    """Weights as whole numbers: a row per unit, a column per what it reads."""

    hidden: Numbers
    hidden_bias: Numbers
    output: Numbers
    output_bias: Numbers

    def outputs(self, features: Numbers) -> Numbers:
        """The output of every class for each row of features."""
        # Every sum stays below 2^53, so that products of doubles, which NumPy makes far faster, are exact.
        units = np.maximum(0.0, features.astype(np.float64) @ self.hidden.T.astype(np.float64) + self.hidden_bias)
        return (units @ self.output.T.astype(np.float64) + self.output_bias).astype(np.int64)


@cache
def kept_network() -> Network:
    """The network of the kept file."""
    return Network(**{name: np.array(rows, np.int64) for name, rows in json.loads(KEPT_FILE.read_text()).items()})


def features_of(connections: pa.RecordBatch | pa.Table) -> Numbers:
    """The network's inputs, a row per connection and a column per feature."""
    columns: list[npt.NDArray[Any]] = []
    for feature in FEATURES:
        values = connections[feature.field]
        if feature.kind == "is":
            columns.append(pc.equal(values, feature.text).to_numpy(zero_copy_only=False) * ONE)
            continue
        numbers = values.to_numpy(zero_copy_only=False)
        match feature.kind:
            case "level":
                columns.append(np.searchsorted(POWERS_OF_FOUR, numbers, side="right") * LEVEL_STEP)
            case "capped":
                columns.append(np.minimum(numbers, feature.cap))
            case "percent":
                columns.append(np.floor(numbers * 100 + 0.5))
    return np.stack(columns, axis=1).astype(np.int64)


def classes_of(labels: pa.Array) -> Numbers:
    """The class of each label as its place in CLASSES; an attack that is not known counts as the last."""
    place = {name: CLASSES.index(each) for each, names in ATTACKS.items() for name in names.split()} | {NORMAL: 0}
    encoded = labels.dictionary_encode()
    places = np.array([place.get(name, len(CLASSES) - 1) for name in encoded.dictionary.to_pylist()], np.int64)
    found: Numbers = places[encoded.indices.to_numpy()]
    return found


def train(connections: pa.RecordBatch, seed: int) -> Network:
    """A network trained on labelled connections, rounded to whole numbers."""
    from sklearn.neural_network import MLPClassifier  # type: ignore[import-untyped]

    inputs, wanted = features_of(connections) / ONE, classes_of(connections["label"])
    learner = MLPClassifier((HIDDEN_UNITS,), max_iter=40, early_stopping=True, random_state=seed)
    with warnings.catch_warnings():
        # Forty rounds are enough here; the learner would rather have more.
        warnings.simplefilter("ignore")
        learner.fit(inputs, wanted)
    to_hidden, to_output = learner.coefs_
    hidden_bias, output_bias = learner.intercepts_
    return Network(
        _whole(to_hidden.T * SCALE),
        _whole(hidden_bias * SCALE * ONE),
        _whole(to_output.T * SCALE),
        _whole(output_bias * SCALE * SCALE * ONE),
    )


def _whole(weights: npt.NDArray[np.float64]) -> Numbers:
    return np.rint(weights).astype(np.int64)


def quality_of(network: Network, connections: pa.RecordBatch) -> dict[str, float]:
    """Precision and recall of threats, and the share of connections whose class is right."""
    found = network.outputs(features_of(connections)).argmax(axis=1)
    wanted = classes_of(connections["label"])
    threats = int(np.sum((found > 0) & (wanted > 0)))
    return {
        "precision": threats / max(int(np.sum(found > 0)), 1),
        "recall": threats / max(int(np.sum(wanted > 0)), 1),
        "right_class": float(np.mean(found == wanted)),
    }


def _main() -> None:
    parser = argparse.ArgumentParser(description="Train the network of threat-detection and keep its weights.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--connections", type=int, default=CONNECTIONS)
    parser.add_argument("--data", type=Path, help="labelled rows of KDD'99 or NSL-KDD instead of generated ones")
    parser.add_argument("--to", type=Path, default=KEPT_FILE, help="where the weights are written")
    given = parser.parse_args()
    assert STREAM.recorded is not None
    source = STREAM.recorded(given.data) if given.data else STREAM.synthetic(given.seed)
    network = train(source.block(0, given.connections), given.seed)
    rows = {name: json.dumps(value.tolist()) for name, value in vars(network).items()}
    given.to.write_text("{\n" + ",\n".join(f'  "{name}": {text}' for name, text in rows.items()) + "\n}\n")
    unseen = source.block(given.connections, 50_000)
    figures = ", ".join(f"{name} {value:.4f}" for name, value in quality_of(network, unseen).items())
    print(f"{given.to}: {figures} on 50,000 connections that were not learned from")


if __name__ == "__main__":
    _main()
