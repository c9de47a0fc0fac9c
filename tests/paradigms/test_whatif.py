"""Predictions against recorded figures, and calibrations on disk."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from streamgauge.load import parse_load
from streamgauge.model.errors import StoreError, UserError
from streamgauge.paradigms.calibration import Calibration, SegmentCalibration, read_calibration
from streamgauge.paradigms.equations import SegmentFigures, assumed_figures
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.range import plan_segments
from streamgauge.paradigms.whatif import crossing_per_s, geometric, held_against_points, predict, simulate_load
from streamgauge.store import RunStore
from tests.paradigms.recorded import OPERATION, word_count


def test_recorded_points_are_predicted_within_a_factor_of_two() -> None:
    for held in held_against_points(word_count()):
        assert 0.5 <= held.predicted_ms / held.point.p50_ms <= 2, held


def test_a_rate_that_is_not_carried_by_hand() -> None:
    segment = SegmentCalibration("only", {"only": 1.0}, SegmentFigures(1000, 5000, 0.1, 0.0, 0.01))
    made = predict(Calibration("mine", (segment,)), 3000, for_s=10)
    # 2,000 of 3,000 a second are left over; the middle event of 10 s waits for 10,000 of them.
    assert made.data_ms == pytest.approx(10 + 10_000)
    assert (made.data_carries, made.operation_carries) == (False, True)
    assert made.better is OPERATION


def test_pauses_take_from_the_speed() -> None:
    figures = SegmentFigures(1000, 5000, 0.1, 0.0, 0.01)
    paused = Calibration("mine", (SegmentCalibration("only", {"only": 1.0}, figures, 1.0, 10.0),))
    assert predict(paused, 890).data_carries
    assert not predict(paused, 910).data_carries
    # At 850/s a pause of 1 s is felt for 6.7 s of 10: by the median too.
    assert predict(paused, 850).data_ms > 200
    assert predict(paused, 500).data_ms == pytest.approx(10)


def test_a_chain_multiplies_rates_and_adds_latencies() -> None:
    figures = SegmentFigures(1000, 5000, 0.1, 0.0, 0.01)
    head = SegmentCalibration("head", {"split": 4.0}, figures)
    tail = SegmentCalibration("tail", {"count": 1.0}, figures)
    both = Calibration("mine", (head, tail))
    assert predict(both, 200).data_ms == pytest.approx(20)
    assert predict(both, 240).data_carries
    assert not predict(both, 260).data_carries, "1,040 words a second"


def test_the_paradigms_cross_where_the_data_stream_is_full() -> None:
    at = crossing_per_s(word_count(), 100, 100_000)
    assert at is not None
    assert 0.9 * 40_000 < at < 1.1 * 40_000
    assert predict(word_count(), at * 0.99).better is Paradigm.DATA_STREAM
    assert predict(word_count(), at * 1.01).better is Paradigm.OPERATION_STREAM
    assert crossing_per_s(word_count(), 100, 10_000) is None


def test_rates_of_a_range() -> None:
    assert geometric(100, 100_000, 4) == pytest.approx([100, 1000, 10_000, 100_000])
    assert geometric(5, 5, 9) == [5]


def test_a_load_is_simulated_with_the_calibrated_figures() -> None:
    rides = simulate_load(word_count(), parse_load("bursts:400/s:38000:10s"), 60)
    assert rides.adaptive.switches == 0
    assert rides.ratio <= 1.1
    large = simulate_load(word_count(), parse_load("bursts:400/s:190000:10s"), 60)
    assert large.ratio <= 0.8
    assert large.as_dict()["switches"] == large.adaptive.switches > 0


def test_a_calibration_survives_json() -> None:
    made = word_count()
    assert Calibration.from_dict(json.loads(json.dumps(made.as_dict()))) == made


@pytest.mark.parametrize(
    "damage",
    [{"schema": 2}, {"segments": None}, {"segments": [{"name": "x"}]}, {"points": [{"paradigm": "batch"}]}],
)
def test_a_damaged_calibration_is_one_line(damage: dict[str, object]) -> None:
    with pytest.raises(StoreError):
        Calibration.from_dict({**word_count().as_dict(), **damage})


def test_what_the_scheduler_knows_follows_from_the_cuts() -> None:
    made = word_count()
    (same,) = made.known(plan_segments(["split", "count"]))
    assert (same.measured, same.figures, same.magnification) == (True, made.segments[0].figures, 3.0)
    head, tail = made.known(plan_segments(["split", "count"], ["split"]))
    assert (head.measured, head.magnification, tail.magnification) == (False, 3.0, 1.0)
    assert head.figures == assumed_figures()
    (other,) = made.known(plan_segments(["other"]))
    assert other.magnification is None


def stored(root: Path, application: str = "wordcount") -> str:
    writer = RunStore(root).create(command="streamgauge …", trials=0)
    writer.add_calibration({**word_count().as_dict(), "application": application})
    writer.finish("complete")
    return writer.id


def test_the_newest_calibration_of_the_application_is_found(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no calibration of 'wordcount'.*--calibration"):
        read_calibration("wordcount", RunStore(tmp_path))
    name = stored(tmp_path)
    stored(tmp_path, "grep")
    found, where = read_calibration("wordcount", RunStore(tmp_path))
    assert (found, where) == (word_count(), f"run {name}")
    assert read_calibration("wordcount", RunStore(tmp_path), name)[0] == word_count()
    with pytest.raises(StoreError, match="there is one of"):
        read_calibration("traffic-flow", RunStore(tmp_path))
    with pytest.raises(UserError, match="of 'wordcount', not of 'grep'"):
        read_calibration("grep", RunStore(tmp_path), name)


def test_a_calibration_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(word_count().as_dict()))
    assert read_calibration("wordcount", RunStore(tmp_path), str(file))[0] == word_count()
    file.write_text("{")
    with pytest.raises(StoreError, match="damaged"):
        read_calibration("wordcount", RunStore(tmp_path), str(file))


def test_a_calibration_without_segments_is_refused(tmp_path: Path) -> None:
    writer = RunStore(tmp_path).create(command="", trials=0)
    with pytest.raises(UserError, match="no segment"):
        writer.add_calibration({**word_count().as_dict(), "segments": []})
    writer.discard()
    assert not writer.folder.exists()
    assert math.isfinite(predict(word_count(), 1).data_ms)
