"""network-flows (LO1): features of network connections in the style of KDD'99, with what each connection really was.

Twenty-three features and the label, commas between them. The label is the name of an attack, or `normal`; it is there
to judge a detector by, and a detector does not read it. The distributions of the kinds overlap: no detector is perfect.

`--data FILE` replays rows of KDD'99 (41 features and a label that ends in a full stop) or of NSL-KDD (a difficulty
after the label) with commas between the fields; the features named here are picked. Those sets have no time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Delimited, Field, FieldType
from streamgauge.streams.randomness import field, lookup_table, random_bits
from streamgauge.streams.recorded import first_line, looped, read_events
from streamgauge.streams.schema import arrow_schema, column

FIELDS = (
    Field("duration", FieldType.LONG, "seconds that the connection lasted"),
    Field("protocol_type", FieldType.STRING, "tcp, udp or icmp"),
    Field("service", FieldType.STRING, "service at the destination"),
    Field("flag", FieldType.STRING, "how the connection ended: SF is well, S0 unanswered, REJ refused"),
    Field("src_bytes", FieldType.LONG, "bytes from the source"),
    Field("dst_bytes", FieldType.LONG, "bytes from the destination"),
    Field("wrong_fragment", FieldType.LONG, "fragments that were wrong"),
    Field("hot", FieldType.LONG, "accesses to system directories and the like"),
    Field("num_failed_logins", FieldType.LONG, "logins that failed"),
    Field("logged_in", FieldType.LONG, "1 if a login succeeded"),
    Field("num_compromised", FieldType.LONG, "conditions of a compromised host"),
    Field("root_shell", FieldType.LONG, "1 if a root shell was had"),
    Field("num_file_creations", FieldType.LONG, "files created"),
    Field("count", FieldType.LONG, "connections to the same host in the past two seconds"),
    Field("srv_count", FieldType.LONG, "connections to the same service in the past two seconds"),
    Field("serror_rate", FieldType.DOUBLE, "of these to the host, the share that went unanswered"),
    Field("rerror_rate", FieldType.DOUBLE, "of these to the host, the share that was refused"),
    Field("same_srv_rate", FieldType.DOUBLE, "of these to the host, the share to the same service"),
    Field("diff_srv_rate", FieldType.DOUBLE, "of these to the host, the share to other services"),
    Field("dst_host_count", FieldType.LONG, "among the last hundred connections, those to the same host"),
    Field("dst_host_srv_count", FieldType.LONG, "among them, those to the same service"),
    Field("dst_host_same_srv_rate", FieldType.DOUBLE, "share of the same service at the host"),
    Field("dst_host_serror_rate", FieldType.DOUBLE, "share of unanswered connections at the host"),
    Field("label", FieldType.STRING, "what the connection really was: an attack's name, or normal"),
)
WIRE = Delimited(",")
NORMAL = "normal"

KDD_COLUMNS = (
    "duration", "protocol_type", "service", "flag", "src_bytes", "dst_bytes", "land", "wrong_fragment", "urgent",
    "hot", "num_failed_logins", "logged_in", "num_compromised", "root_shell", "su_attempted", "num_root",
    "num_file_creations", "num_shells", "num_access_files", "num_outbound_cmds", "is_host_login", "is_guest_login",
    "count", "srv_count", "serror_rate", "srv_serror_rate", "rerror_rate", "srv_rerror_rate", "same_srv_rate",
    "diff_srv_rate", "srv_diff_host_rate", "dst_host_count", "dst_host_srv_count", "dst_host_same_srv_rate",
    "dst_host_diff_srv_rate", "dst_host_same_src_port_rate", "dst_host_srv_diff_host_rate", "dst_host_serror_rate",
    "dst_host_srv_serror_rate", "dst_host_rerror_rate", "dst_host_srv_rerror_rate", "label", "difficulty",
)  # fmt: skip
"""Columns of KDD'99 in their order; NSL-KDD has the last one too."""

_Range = tuple[int, int, float]
"""Least and most value, and how steeply values crowd at the least."""

_NUMBERS: dict[str, dict[str, _Range]] = {
    "normal": {
        "duration": (0, 3000, 12.0),
        "src_bytes": (40, 6000, 4.0),
        "dst_bytes": (0, 60000, 5.0),
        "hot": (0, 6, 9.0),
        "logged_in": (0, 2, 0.4),
        "num_file_creations": (0, 3, 12.0),
        "count": (1, 60, 3.0),
        "srv_count": (1, 60, 3.0),
        "serror_rate": (0, 30, 8.0),
        "rerror_rate": (0, 30, 8.0),
        "same_srv_rate": (60, 101, 0.2),
        "diff_srv_rate": (0, 40, 6.0),
        "dst_host_count": (1, 256, 0.8),
        "dst_host_srv_count": (10, 256, 0.4),
        "dst_host_same_srv_rate": (40, 101, 0.3),
        "dst_host_serror_rate": (0, 25, 9.0),
    },
    "neptune": {
        "src_bytes": (0, 1, 1.0),
        "dst_bytes": (0, 1, 1.0),
        "count": (60, 512, 0.9),
        "srv_count": (1, 40, 1.5),
        "serror_rate": (70, 101, 0.15),
        "same_srv_rate": (0, 30, 2.0),
        "diff_srv_rate": (4, 12, 1.0),
        "dst_host_count": (200, 256, 0.1),
        "dst_host_srv_count": (1, 40, 1.5),
        "dst_host_same_srv_rate": (0, 20, 2.0),
        "dst_host_serror_rate": (70, 101, 0.15),
    },
    "smurf": {
        "src_bytes": (500, 1100, 0.2),
        "dst_bytes": (0, 1, 1.0),
        "count": (150, 512, 0.2),
        "srv_count": (150, 512, 0.2),
        "same_srv_rate": (95, 101, 0.2),
        "dst_host_count": (150, 256, 0.1),
        "dst_host_srv_count": (150, 256, 0.1),
        "dst_host_same_srv_rate": (90, 101, 0.2),
    },
    "teardrop": {
        "src_bytes": (20, 40, 1.0),
        "dst_bytes": (0, 1, 1.0),
        "wrong_fragment": (1, 4, 0.3),
        "count": (2, 180, 1.0),
        "srv_count": (2, 180, 1.0),
    },
    "portsweep": {
        "duration": (0, 9000, 5.0),
        "src_bytes": (0, 20, 6.0),
        "dst_bytes": (0, 10, 6.0),
        "count": (1, 12, 3.0),
        "srv_count": (1, 20, 3.0),
        "rerror_rate": (50, 101, 0.3),
        "same_srv_rate": (20, 101, 0.8),
        "diff_srv_rate": (0, 100, 1.0),
        "dst_host_srv_count": (1, 20, 3.0),
        "dst_host_same_srv_rate": (0, 30, 3.0),
    },
    "satan": {
        "src_bytes": (0, 60, 6.0),
        "dst_bytes": (0, 120, 6.0),
        "count": (1, 320, 1.0),
        "srv_count": (1, 20, 3.0),
        "serror_rate": (0, 60, 2.0),
        "rerror_rate": (30, 101, 0.4),
        "same_srv_rate": (0, 40, 2.0),
        "diff_srv_rate": (20, 101, 1.0),
        "dst_host_srv_count": (1, 20, 3.0),
        "dst_host_same_srv_rate": (0, 20, 3.0),
    },
    "guess_passwd": {
        "duration": (0, 30, 2.0),
        "src_bytes": (100, 300, 1.0),
        "dst_bytes": (150, 400, 1.0),
        "hot": (0, 4, 1.0),
        "num_failed_logins": (1, 6, 2.0),
        "logged_in": (0, 1, 1.0),
        "count": (1, 6, 3.0),
        "srv_count": (1, 6, 3.0),
        "dst_host_srv_count": (1, 60, 2.0),
    },
    "warezclient": {
        "duration": (10, 15000, 3.0),
        "src_bytes": (100, 60000, 4.0),
        "hot": (2, 31, 0.6),
        "logged_in": (1, 2, 1.0),
        "num_file_creations": (0, 5, 2.0),
        "count": (1, 8, 3.0),
        "srv_count": (1, 10, 3.0),
    },
    "buffer_overflow": {
        "duration": (20, 400, 2.0),
        "src_bytes": (600, 9000, 1.5),
        "hot": (1, 6, 1.0),
        "logged_in": (1, 2, 1.0),
        "num_compromised": (1, 5, 1.5),
        "root_shell": (0, 2, 0.4),
        "num_file_creations": (0, 6, 1.0),
        "count": (1, 4, 3.0),
        "srv_count": (1, 4, 3.0),
        "dst_host_srv_count": (1, 30, 2.0),
    },
}
"""Kind → feature → its range, shares in percent; a feature not named is 0, or for an attack as in normal traffic."""

_ONLY_OF_ATTACKS = ("wrong_fragment", "num_failed_logins", "num_compromised", "root_shell")

_TEXTS: dict[str, tuple[dict[str, float], dict[str, float], dict[str, float]]] = {
    "normal": (
        {"tcp": 0.8, "udp": 0.18, "icmp": 0.02},
        {"http": 0.55, "smtp": 0.12, "domain_u": 0.13, "ftp_data": 0.07, "ftp": 0.02, "telnet": 0.02, "private": 0.06,
         "ecr_i": 0.03},
        {"SF": 0.94, "REJ": 0.03, "S0": 0.01, "RSTO": 0.02},
    ),
    "neptune": ({"tcp": 1.0}, {"private": 0.7, "http": 0.08, "telnet": 0.1, "ftp": 0.12}, {"S0": 0.84, "REJ": 0.16}),
    "smurf": ({"icmp": 1.0}, {"ecr_i": 1.0}, {"SF": 1.0}),
    "teardrop": ({"udp": 1.0}, {"private": 1.0}, {"SF": 1.0}),
    "portsweep": ({"tcp": 0.9, "icmp": 0.1}, {"private": 0.8, "ecr_i": 0.1, "ftp": 0.1}, {"REJ": 0.5, "RSTR": 0.5}),
    "satan": ({"tcp": 0.9, "udp": 0.1}, {"private": 0.8, "ftp": 0.1, "smtp": 0.1}, {"REJ": 0.7, "S0": 0.2, "SF": 0.1}),
    "guess_passwd": ({"tcp": 1.0}, {"telnet": 0.9, "ftp": 0.1}, {"RSTO": 0.7, "SF": 0.3}),
    "warezclient": ({"tcp": 1.0}, {"ftp_data": 0.7, "ftp": 0.3}, {"SF": 1.0}),
    "buffer_overflow": ({"tcp": 1.0}, {"telnet": 0.7, "ftp_data": 0.3}, {"SF": 1.0}),
}  # fmt: skip
"""Kind → chances of each protocol, service and flag."""

_SHARES = {
    "normal": 0.62, "neptune": 0.13, "smurf": 0.07, "teardrop": 0.02, "portsweep": 0.04, "satan": 0.04,
    "guess_passwd": 0.03, "warezclient": 0.03, "buffer_overflow": 0.02,
}  # fmt: skip
_SLOTS = 256
_LIKE_NORMAL = 24
"""Of the slots of each feature of an attack, those that look like normal traffic."""
_KIND_WIDTH = 12


@dataclass(frozen=True)
class _Tables:
    """What connections are looked up in; the first index is the kind."""

    kinds: npt.NDArray[np.int32]
    names: pa.StringArray
    numbers: dict[str, npt.NDArray[np.int64]]
    texts: dict[str, tuple[pa.StringArray, npt.NDArray[np.int32]]]


@cache
def _tables() -> _Tables:
    kinds = list(_SHARES)
    numeric = [f for f in FIELDS if f.type is not FieldType.STRING]
    return _Tables(
        kinds=lookup_table(list(_SHARES.values()), _KIND_WIDTH),
        names=pa.array(kinds, pa.string()),
        numbers={f.name: np.stack([_slots_of(kind, f.name) for kind in kinds]) for f in numeric},
        texts={
            name: _slots_of_texts([_TEXTS[kind][place] for kind in kinds])
            for place, name in enumerate(("protocol_type", "service", "flag"))
        },
    )


def _slots_of(kind: str, feature: str) -> npt.NDArray[np.int64]:
    """The values of a feature of a kind, each as often as it occurs."""
    normal = _NUMBERS[NORMAL].get(feature, (0, 1, 1.0))
    least, most, steepness = _NUMBERS[kind].get(feature, normal)
    quantile = (np.arange(_SLOTS) + 0.5) / _SLOTS
    values = least + ((most - least) * quantile**steepness).astype(np.int64)
    if kind != NORMAL and feature not in _ONLY_OF_ATTACKS:
        values[:: _SLOTS // _LIKE_NORMAL] = _slots_of(NORMAL, feature)[:: _SLOTS // _LIKE_NORMAL]
    return values


def _slots_of_texts(chances: list[dict[str, float]]) -> tuple[pa.StringArray, npt.NDArray[np.int32]]:
    """The texts of a feature, and for each kind their numbers in _SLOTS slots."""
    texts = sorted({text for each in chances for text in each})
    slots = [lookup_table([each.get(text, 0.0) for text in texts], 8) for each in chances]
    return pa.array(texts, pa.string()), np.stack(slots)


@dataclass(frozen=True)
class SyntheticConnections:
    """Generated connections: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        tables = _tables()
        lanes = [random_bits(self.seed, lane, start, count) for lane in range(4)]
        kind = tables.kinds[field(lanes[3], 0, _KIND_WIDTH)]
        places = [(lane, shift) for lane in lanes[:3] for shift in range(0, 64, 8)]
        columns: dict[str, pa.Array] = {"label": tables.names.take(column(kind))}
        for (bits, shift), (name, slots) in zip(places, tables.numbers.items(), strict=False):
            values = slots[kind, field(bits, shift, 8)]
            columns[name] = column(values / 100.0 if name.endswith("_rate") else values)
        for (bits, shift), (name, (texts, numbers)) in zip(
            places[len(tables.numbers) :], tables.texts.items(), strict=False
        ):
            columns[name] = texts.take(column(numbers[kind, field(bits, shift, 8)]))
        return pa.RecordBatch.from_arrays([columns[f.name] for f in FIELDS], schema=arrow_schema(FIELDS))


def _recorded(path: Path) -> Source:
    width = len(first_line(path).split(",")) if path.is_file() else len(KDD_COLUMNS)
    if width == len(FIELDS):
        return looped(read_events(path, FIELDS, WIRE))
    if width not in (len(KDD_COLUMNS) - 1, len(KDD_COLUMNS)):
        raise UserError(
            f"{path} has {width} fields in its first line",
            "KDD'99 has 42 with its label, NSL-KDD 43: give one of these",
        )
    types = {f.name: f.type for f in FIELDS}
    every = [Field(name, types.get(name, FieldType.STRING)) for name in KDD_COLUMNS[:width]]
    table = read_events(path, every, WIRE).select([f.name for f in FIELDS])
    place = table.schema.get_field_index("label")
    return looped(table.set_column(place, "label", pc.utf8_rtrim(table["label"], characters=".")))


STREAM = Stream(
    name="network-flows",
    about="Features of network connections, with what each connection really was",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticConnections,
    recorded=_recorded,
    papers=("LO1",),
)
