"""Recorded visits and rewards, in the stream's own format."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc

from streamgauge.streams.learner_events import STREAM
from streamgauge.streams.wire import encode

SAMPLE = Path(__file__).parent / "data" / "learner-events-sample.csv"


def test_a_file_replays_byte_for_byte():
    lines = SAMPLE.read_bytes().splitlines()[1:]
    block = STREAM.recorded(SAMPLE).block(0, len(lines))
    assert encode(STREAM, block).to_pylist() == lines


def test_rounds_go_on_where_the_last_ended():
    count = len(SAMPLE.read_bytes().splitlines()) - 1
    block = STREAM.recorded(SAMPLE).block(0, 2 * count)
    assert pc.min(block["time"][count:]).as_py() > pc.max(block["time"][:count]).as_py()


def test_a_visit_has_a_round_and_a_reward_has_an_action():
    block = STREAM.synthetic(7).block(0, 20_000)
    is_visit = pc.equal(block["kind"], "visit")
    assert pc.is_valid(block["round"]).equals(is_visit)
    assert pc.is_null(block["action"]).equals(is_visit) and pc.is_null(block["reward"]).equals(is_visit)
    assert 0.45 < pc.mean(is_visit.cast("int8")).as_py() < 0.55


def test_one_action_of_each_learner_earns_most():
    source = STREAM.synthetic(7)
    block = source.block(0, 100_000).to_pandas().dropna(subset=["reward"])
    means = block[block["learner_id"] == "place-003"].groupby("action")["reward"].mean()
    best = source.earnings(pc.cast([3], "int32").to_numpy())[0].argmax()
    assert means.sort_index().argmax() == best
    assert means.max() > 70 and means.min() < 40
