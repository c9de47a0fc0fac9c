"""What spark-adaptive can be told, which segments it makes of an application, and which of them may change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge.applications import all_applications, get_application
from streamgauge.engines import get_engine
from streamgauge.engines.spark.adaptive_engine import OWN_PRODUCER, AdaptiveEngine, is_chain
from streamgauge.model import Application, Expected, Output, PerEvent, UserError, stage
from streamgauge.paradigms.calibration import Calibration, SegmentCalibration
from streamgauge.paradigms.equations import assumed_figures
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.streams.aol_search import STREAM


def engine() -> AdaptiveEngine:
    found = get_engine("spark-adaptive")
    assert isinstance(found, AdaptiveEngine)
    return found


def segments(name: str, **given: str) -> dict[str, tuple[tuple[str, ...], Paradigm | None]]:
    settings = {key.replace("__", "."): value for key, value in given.items()}
    return {each.name: (each.stages, each.pinned) for each in engine().plan(get_application(name), settings)[1]}


def test_an_application_without_a_cut_is_one_segment_that_may_change() -> None:
    assert segments("wordcount") == {"count": (("split", "count"), None)}
    assert segments("grep") == {"grep": (("grep",), None)}


def test_a_standby_has_a_producer_of_its_own_whatever_the_user_sets() -> None:
    values = engine().resolve({"sink.kafka.linger.ms": "7000"})
    own, standby = (engine().sink_options_in(Paradigm.OPERATION_STREAM, values, each) for each in (False, True))
    assert own["kafka.linger.ms"] == "7000" and "kafka.client.id" not in own
    assert {**own, **OWN_PRODUCER} == standby
    waits_ms, asks_ms, lingers_ms = (
        int(standby[f"kafka.{name}.ms"]) for name in ("delivery.timeout", "request.timeout", "linger")
    )
    assert waits_ms >= asks_ms + lingers_ms, "Kafka refuses anything else"


def test_a_user_may_cut_and_pin() -> None:
    assert segments("wordcount", cuts="split", pinned__count="operation") == {
        "split": (("split",), None),
        "count": (("count",), Paradigm.OPERATION_STREAM),
    }
    with pytest.raises(UserError, match="run in one segment"):
        segments("wordcount", pinned__split="data", pinned__count="operation")
    with pytest.raises(UserError, match="Did you mean 'split'"):
        segments("wordcount", cuts="splitt")
    with pytest.raises(UserError, match="Did you mean 'operation'"):
        segments("wordcount", pinned__count="operatoin")


def test_cuts_are_chosen_from_a_calibration(tmp_path: Path) -> None:
    file = tmp_path / "calibration.json"
    for factor, cuts in ((8.0, ("split",)), (3.0, ())):
        known = SegmentCalibration("count", {"split": factor, "count": 1.0}, assumed_figures())
        file.write_text(json.dumps(Calibration("wordcount", (known,)).as_dict()))
        assert engine().cut(get_application("wordcount"), {"calibration": str(file)}).cuts == cuts
    assert engine().cut(get_application("wordcount"), {"calibration": str(file), "cuts": "split"}).cuts == ("split",)


@stage(uses=("aggregate", "row-updates"))
def answer(searches: Any) -> Any:
    raise AssertionError("not called")


@answer.variant("stateful", uses=("python-state",))
def _stateful(searches: Any) -> Any:
    raise AssertionError("not called")


@stage(uses=("stream-join",))
def joined(searches: Any) -> Any:
    raise AssertionError("not called")


def small(body: Any) -> Application:
    output = Output(body.name, lambda events: Expected(None), PerEvent(("query",)))
    return Application("small", "?", {"searches": STREAM}, (body,), (output,))


def test_what_real_time_cannot_run_stays_in_micro_batches_with_the_reason() -> None:
    ((only),) = engine().plan(small(joined), {})[1]
    assert only.pinned is Paradigm.OPERATION_STREAM
    assert "stage 'joined' uses stream-join" in only.reason
    assert engine().gap(small(joined)) is None


def test_variants_of_one_paradigm_each_cannot_share_a_checkpoint_so_the_segment_stays() -> None:
    whole, (only,) = engine().plan(small(answer), {})
    assert only.pinned is Paradigm.DATA_STREAM and "row-updates" in only.reason
    assert whole.stage("answer").uses == {"aggregate", "row-updates"}
    whole, (only,) = engine().plan(small(answer), {"pinned.answer": "operation"})
    assert only.pinned is Paradigm.OPERATION_STREAM
    assert whole.stage("answer").uses == {"python-state"}
    assert engine().variants(small(answer), {"pinned.answer": "operation"}) == {"answer": "stateful"}


def test_a_pin_that_no_variant_allows_says_why() -> None:
    with pytest.raises(UserError, match="cannot be pinned to the data stream: stage 'joined' uses stream-join"):
        engine().plan(small(joined), {"pinned.joined": "data"})


def test_every_application_has_segments_and_slots() -> None:
    for application in all_applications().values():
        assert engine().gap(application) is None
        whole, found = engine().plan(application, {})
        assert {name for each in found for name in each.stages} == {s.name for s in whole.stages}, application.name
        assert engine().slots_needed(application, 2 * len(application.inputs), {}) <= 32, application.name


def test_slots_hold_all_data_streams_and_a_standby() -> None:
    wordcount = get_application("wordcount")
    realtime = get_engine("spark-realtime").slots_needed(wordcount, 2, {})
    assert engine().slots_needed(wordcount, 2, {}) == realtime + 2
    assert engine().slots_needed(wordcount, 2, {"cuts": "split"}) > realtime + 2


def test_one_checkpoint_serves_both_paradigms() -> None:
    settings = engine().session_settings({})
    assert settings["spark.sql.streaming.stateStore.checkpointFormatVersion"] == "2"
    assert settings["spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"] == "true"
    assert not engine().knows("state-store")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("delta", "much"),
        ("delta", "2"),
        ("dwell", "soon"),
        ("objective", "p99>1s"),
        ("standby", "perhaps"),
        ("repeats-within", "-"),
        ("max-offsets-per-trigger", "many"),
        ("calibration", "/nowhere.json"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(setting: str, value: str) -> None:
    with pytest.raises(UserError):
        engine().plan(get_application("wordcount"), engine().resolve({setting: value}))


def test_a_graph_with_branches_is_no_chain() -> None:
    own = Path(__file__).parents[1] / "applications" / "two_branches.py"
    assert is_chain(get_application("ad-analytics"))
    assert not is_chain(get_application(str(own)))
