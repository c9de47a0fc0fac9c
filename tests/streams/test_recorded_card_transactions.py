"""Recorded card transactions: bare lines of card, transaction and state, or whole events."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.card_transactions import STATES, STREAM
from streamgauge.streams.wire import encode

SAMPLE = Path(__file__).parent / "data" / "card-transactions-sample.csv"


def test_bare_lines_get_times_and_no_label():
    lines = SAMPLE.read_text().splitlines()
    block = STREAM.recorded(SAMPLE).block(0, 2 * len(lines))
    told = [",".join(row[name] for name in ("card_id", "transaction_id", "state")) for row in block.to_pylist()]
    assert told == lines * 2
    seconds = block["time"].cast(pa.int64()).to_numpy()
    assert np.all(np.diff(seconds) == 1)
    assert block["fraud"].null_count == len(block)


def test_whole_events_are_read_as_they_were_written(tmp_path):
    block = STREAM.synthetic(3).block(0, 50)
    path = tmp_path / "events.csv"
    path.write_bytes(b"\n".join(encode(STREAM, block).to_pylist()) + b"\n")
    assert STREAM.recorded(path).block(0, 50).equals(block)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(UserError, match="there is no file nowhere"):
        STREAM.recorded(Path("nowhere"))


def test_generated_transactions_are_plausible():
    block = STREAM.synthetic(7).block(0, 60_000)
    assert set(pc.unique(block["state"]).to_pylist()) == set(STATES)
    assert 0.003 < pc.mean(block["fraud"]).as_py() < 0.01
    stolen = block.filter(pc.equal(block["fraud"], 1))["state"]
    assert pc.all(pc.is_in(stolen, pa.array(["HHS", "HNS", "MHS", "HHN"]))).as_py()
    uses = pc.value_counts(block["card_id"]).field("counts")
    assert len(uses) == 2000 and pc.max(uses).as_py() > 20 * pc.mean(uses).as_py()


def test_a_theft_is_ten_to_seventeen_transactions_in_a_row():
    block = STREAM.synthetic(7).block(0, 200_000).select(["card_id", "fraud"]).to_pandas()
    runs = block.groupby("card_id")["fraud"].apply(lambda labels: "".join(map(str, labels)))
    # A run at the end may go on beyond the block.
    lengths = {len(run) for labels in runs for run in labels.rstrip("1").split("0") if run}
    assert lengths == set(range(10, 18))
