"""Recorded connections: rows of KDD'99 and NSL-KDD, of which the stream's features are picked."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams import get_stream
from streamgauge.streams.wire import encode

DATA = Path(__file__).parent / "data"
STREAM = get_stream("network-flows")


@pytest.mark.parametrize("name", ["kdd99-sample.csv", "nsl-kdd-sample.csv"])
def test_features_are_picked_by_their_place(name):
    rows = STREAM.recorded(DATA / name).block(0, 8).to_pylist()
    assert [row["label"] for row in rows] == [
        "normal",
        "neptune",
        "smurf",
        "perl",
        "guess_passwd",
        "teardrop",
        "normal",
        "neptune",
    ]
    assert rows[1] == {
        "duration": 0,
        "protocol_type": "tcp",
        "service": "private",
        "flag": "S0",
        "src_bytes": 0,
        "dst_bytes": 0,
        "wrong_fragment": 0,
        "hot": 0,
        "num_failed_logins": 0,
        "logged_in": 0,
        "num_compromised": 0,
        "root_shell": 0,
        "num_file_creations": 0,
        "count": 123,
        "srv_count": 6,
        "serror_rate": 1.0,
        "rerror_rate": 0.0,
        "same_srv_rate": 0.05,
        "diff_srv_rate": 0.07,
        "dst_host_count": 255,
        "dst_host_srv_count": 26,
        "dst_host_same_srv_rate": 0.1,
        "dst_host_serror_rate": 1.0,
        "label": "neptune",
    }
    perl, password, teardrop = rows[3], rows[4], rows[5]
    assert (perl["root_shell"], perl["num_file_creations"], perl["logged_in"]) == (1, 2, 1)
    assert (password["num_failed_logins"], password["hot"], password["rerror_rate"]) == (1, 1, 1.0)
    assert teardrop["wrong_fragment"] == 3


def test_a_file_in_the_streams_own_format_is_read_too(tmp_path):
    block = STREAM.synthetic(3).block(0, 20)
    (tmp_path / "own.csv").write_bytes(b"\n".join(encode(STREAM, block).to_pylist()) + b"\n")
    assert STREAM.recorded(tmp_path / "own.csv").block(0, 20).equals(block)


def test_what_cannot_be_read_is_the_users_error(tmp_path):
    (tmp_path / "short.csv").write_text("1,tcp,http\n")
    with pytest.raises(UserError, match="3 fields in its first line"):
        STREAM.recorded(tmp_path / "short.csv")
    text = (DATA / "kdd99-sample.csv").read_text().replace("123,6", "many,6")
    (tmp_path / "wrong.csv").write_text(text)
    with pytest.raises(UserError, match="line 2"):
        STREAM.recorded(tmp_path / "wrong.csv")
    with pytest.raises(UserError, match="no file"):
        STREAM.recorded(tmp_path / "missing.csv")


def test_kinds_of_connections_differ_and_overlap():
    block = STREAM.synthetic(3).block(0, 40_000)
    label = block["label"]
    assert 0.58 < pc.mean(pc.equal(label, "normal").cast("int8")).as_py() < 0.66
    assert pc.count_distinct(label).as_py() == 9
    rate = {name: block["serror_rate"].filter(pc.equal(label, name)) for name in ("normal", "neptune")}
    assert pc.mean(rate["neptune"]).as_py() > 0.8 > 0.1 > pc.mean(rate["normal"]).as_py()
    assert pc.min(rate["neptune"]).as_py() < 0.1
    fragments = block["wrong_fragment"].filter(pc.not_equal(label, "teardrop"))
    assert pc.max(fragments).as_py() == 0
