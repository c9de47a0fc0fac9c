"""A calibration from the records of its trials: figures worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.applications import get_application
from streamgauge.lab.calibrate import CalibrateRequest, Ran, calibration_of
from streamgauge.lab.calibrate import _Calibrating as Calibrating
from streamgauge.lab.calibrate import _check as check
from streamgauge.model import EngineError, UserError
from streamgauge.paradigms.paradigm import Paradigm
from tests.lab.listening import Remembering

DATA, OPERATION = Paradigm.DATA_STREAM, Paradigm.OPERATION_STREAM


def record(p50: float = 5, rate: int = 500, drain: float = 40_000, outputs: int = 0) -> dict[str, Any]:
    return {
        "load": f"constant:{rate}/s",
        "latency_ms": {"p50": p50, "p99": 9 * p50, "max": p50 + 300},
        "measured_events": rate * 15,
        "throughput": {"events_per_s": drain},
        "end": {"output_records": outputs},
        "log": {"events": 1_000},
    }


def batches(*sizes: int) -> list[dict[str, Any]]:
    """Progress of batches that take 0.4 s, of which 0.3 scheduling, and 10 µs a record; the first is a cold one."""
    cold = {"batchId": 0, "numInputRows": 10, "durationMs": {"triggerExecution": 9_000, "addBatch": 8_000}}
    return [cold] + [
        {
            "batchId": number,
            "numInputRows": size,
            "durationMs": {"triggerExecution": 400 + size / 100, "addBatch": 100 + size / 100},
        }
        for number, size in enumerate(sizes, 1)
    ]


def found(**more: Any) -> Any:
    paced = [Ran(DATA, record(5)), Ran(OPERATION, record(600), batches(200, 210))]
    drained = {DATA: Ran(DATA, record()), OPERATION: Ran(OPERATION, record(), batches(20_000, 20_000, 25_000, 5_000))}
    stages = {"split": Ran(DATA, record(outputs=3_200)), "count": Ran(DATA, record(outputs=3_200))}
    given = {"paced": paced, "drained": drained, "stages": stages, "conditions": {"batch_duration_s": 10}, **more}
    return calibration_of(get_application("wordcount"), **given)


def test_speeds_and_times_are_those_of_the_trials() -> None:
    (segment,) = found().segments
    figures = segment.figures
    assert figures.data_per_s == 40_000
    assert figures.operation_per_s == pytest.approx(100_000, rel=0.01)
    assert figures.fixed_s == pytest.approx(0.4, rel=0.02)
    assert figures.schedule_s == pytest.approx(0.3, rel=0.02)
    assert figures.data_transfer_s == 0.005
    assert figures.k == pytest.approx(0.4, rel=0.02)
    assert (segment.pause_s, segment.pause_every_s) == (0.3, 10)


def test_a_steady_rate_with_its_noise_does_not_drown_the_drain() -> None:
    steady = batches(*[16_000] * 100)
    for number, each in enumerate(steady):
        each["durationMs"]["triggerExecution"] += (120, -80, 40)[number % 3]
    paced = [
        Ran(DATA, record(5)),
        Ran(OPERATION, record(600), batches(*[200] * 30)),
        Ran(OPERATION, record(600), steady),
    ]
    (segment,) = found(paced=paced).segments
    assert segment.figures.operation_per_s == pytest.approx(100_000, rel=0.1)
    assert segment.figures.fixed_s == pytest.approx(0.4, rel=0.1)


def test_magnifications_are_outputs_of_the_stage_over_those_of_the_one_before() -> None:
    assert found().magnifications() == {"split": 3.2, "count": 1.0}
    hidden = found(stages={"count": Ran(DATA, record(outputs=500))})
    assert hidden.magnifications() == {"split": 1.0, "count": 0.5}


def test_points_are_kept_with_their_rate_and_time() -> None:
    points = found().points
    assert [(p.paradigm, p.rate_per_s, p.for_s, p.p50_ms) for p in points] == [
        (DATA, 500, 15, 5),
        (OPERATION, 500, 15, 600),
    ]


def test_batches_that_tell_nothing_are_no_calibration() -> None:
    drained = {DATA: Ran(DATA, record()), OPERATION: Ran(OPERATION, record())}
    with pytest.raises(EngineError, match="told no times"):
        found(drained=drained, paced=[Ran(DATA, record(5)), Ran(OPERATION, record(600))])


def test_both_paradigms_are_pinned_trials_of_one_engine_and_one_process() -> None:
    from streamgauge.engines import get_engine

    request = CalibrateRequest("wordcount", events=120_000)
    calibrating = Calibrating(request, get_application("wordcount"), Remembering())
    trials = [calibrating.paced(p, 500).trial for p in Paradigm] + [calibrating.drain(p).trial for p in Paradigm]
    trials.append(calibrating.drain(DATA, "split", 5_000).trial)
    engine = get_engine("spark-adaptive")
    assert {tuple(sorted(engine.session_settings(t.settings).items())) for t in trials}.__len__() == 1
    assert [t.settings["pinned.split"] for t in trials] == ["data", "operation", "data", "operation", "data"]
    assert trials[3].settings["max-offsets-per-trigger"] == "10000"
    assert trials[4].stop_after == "split" and "pinned.count" not in trials[4].settings


def test_an_application_that_stays_in_one_paradigm_has_nothing_to_calibrate() -> None:
    with pytest.raises(UserError, match="stays in the"):
        check(get_application("voip-stream"), CalibrateRequest("voip-stream"))
